/**
 * A proxy between a client and PostgreSQL that cuts the connection at a chosen statement: before
 * the server receives it, or after, when only the response is lost.
 */
import net from 'node:net'
import { sql } from 'kysely'
import pg from 'pg'
import type { Database } from '../server/platform/db.ts'
import { eventually } from './portal.ts'

export interface CutWire {
  /** The database's URL through the proxy. */
  readonly url: string
  /** Cuts every connection at the n-th statement from now. */
  cutAt(statement: number, moment: 'before' | 'after'): void
  /** Number of statements since `cutAt`. */
  heard(): number
  close(): Promise<void>
}

/**
 * The server notices later than the client that a connection is gone. Until then its transaction
 * holds its locks, and others skip those rows. This waits for the end of such transactions.
 */
export async function forgotten(db: Database): Promise<void> {
  await eventually('the end of transactions that were cut off', async () => {
    const { rows } = await sql`
      select 1 from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()
      and xact_start is not null and backend_type = 'client backend'
    `.execute(db)
    return rows.length === 0
  })
}

/**
 * A statement ends with Sync ('S', no content) or is a simple query ('Q'): PostgreSQL 18's
 * protocol, 54.7 "Message Formats".
 */
function statementsIn(chunk: Buffer): number {
  let count = 0
  for (let at = 0; at + 5 <= chunk.length; at += 1 + chunk.readUInt32BE(at + 1)) {
    const kind = chunk[at]
    if (kind === 0x53 || kind === 0x51) count += 1
  }
  return count
}

export async function openCutWire(databaseUrl: string): Promise<CutWire> {
  const { host, port } = new pg.Client({ connectionString: databaseUrl })
  const target = host.startsWith('/') ? { path: `${host}/.s.PGSQL.${port}` } : { host, port }
  const open = new Set<net.Socket>()
  let heard = 0
  let cut: { statement: number; moment: 'before' | 'after' } | undefined
  const breakAll = (): void => {
    for (const socket of open) socket.destroy()
  }
  const server = net.createServer((near) => {
    const far = net.connect(target)
    let started = false
    for (const [one, other] of [
      [near, far],
      [far, near],
    ] as const) {
      open.add(one)
      one.on('error', () => one.destroy())
      one.on('close', () => {
        open.delete(one)
        other.destroy()
      })
    }
    near.on('data', (chunk) => {
      // The first message of a connection has no type byte.
      if (started) heard += statementsIn(chunk)
      started = true
      const now = cut !== undefined && heard >= cut.statement
      if (!now) return void far.write(chunk)
      const { moment } = cut ?? { moment: 'before' }
      cut = undefined
      if (moment === 'before') return breakAll()
      far.write(chunk, () => far.once('data', breakAll))
    })
    far.on('data', (chunk) => {
      if (!near.destroyed) near.write(chunk)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const through = new URL(databaseUrl.replace(/^postgres(ql)?:/, 'http:'))
  const name = through.pathname
  const { user, password } = new pg.Client({ connectionString: databaseUrl })
  const credentials =
    `${encodeURIComponent(user ?? 'postgres')}:` +
    `${encodeURIComponent(typeof password === 'string' ? password : '')}`
  return {
    url: `postgres://${credentials}@127.0.0.1:${(server.address() as net.AddressInfo).port}${name}`,
    cutAt(statement, moment) {
      heard = 0
      cut = { statement, moment }
    },
    heard: () => heard,
    async close() {
      cut = undefined
      breakAll()
      await new Promise<void>((resolve) => server.close(() => resolve()))
    },
  }
}
