/**
 * A ledger of its own for a benchmark, on an embedded PostgreSQL started as the portal does, with
 * customers whose wallets are open.
 */
import { execFileSync } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { systemClock } from '../server/platform/clock.ts'
import { connect, migrate, transaction, type Pool } from '../server/platform/db.ts'
import { startEmbeddedPostgres } from '../server/platform/postgres/index.ts'
import { createLedger, type Ledger } from '../server/wallet/index.ts'

export interface ScratchLedger {
  readonly db: Pool['db']
  readonly ledger: Ledger
  readonly url: string
  /** The same database, as superuser. */
  readonly adminUrl: string
  readonly folder: string
  readonly customers: readonly string[]
  close(): Promise<void>
}

/**
 * `fund`: minor units in each wallet at the beginning. `copyOf`: the folder of a closed ledger,
 * whose data is copied. `keep`: the folder is not removed on close.
 */
export async function scratchLedger(options: {
  connections: number
  wallets: number
  fund: bigint
  folder?: string
  copyOf?: string
  keep?: boolean
}): Promise<ScratchLedger> {
  const folder = options.folder ?? mkdtempSync(path.join(os.tmpdir(), 'portal-ledger-'))
  mkdirSync(folder, { recursive: true })
  chmodSync(folder, 0o755)
  if (options.copyOf !== undefined)
    execFileSync('cp', ['-a', '--reflink=auto', `${options.copyOf}/.`, folder])
  const cluster = await startEmbeddedPostgres({ folder })
  const { db, close } = connect(cluster.url, options.connections, () => undefined)
  await migrate(cluster.url)
  const ledger = createLedger(systemClock)
  await ledger.prepare(db, { drivers: ['vnpay'], products: ['wordpress'] })
  const customers = Array.from(
    { length: options.wallets },
    (_, index) => `00000000-0000-4000-8000-${String(index).padStart(12, '0')}`,
  )
  await transaction(db, async (tx) => {
    for (const [index, id] of customers.entries()) {
      const row = {
        id,
        email: `c${index}@example.vn`,
        phone: `+84${index}`,
        name: 'c',
        password_hash: 'x',
        region_code: 'VN',
        created_at: new Date(),
      }
      await tx.insertInto('customer').values(row).execute()
      await ledger.openWallet(tx, id, 'VND')
      if (options.fund > 0n)
        await ledger.credit(tx, {
          key: `fill:${id}`,
          customerId: id,
          driver: 'vnpay',
          amount: options.fund,
          currency: 'VND',
          details: {},
        })
    }
  })
  return {
    db,
    ledger,
    url: cluster.url,
    adminUrl: cluster.adminUrl.replace(/\/postgres(?=\?|$)/, new URL(cluster.url).pathname),
    folder,
    customers,
    async close() {
      await close()
      await cluster.stop()
      if (options.keep !== true) rmSync(folder, { recursive: true, force: true })
    },
  }
}
