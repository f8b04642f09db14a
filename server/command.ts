/** Commands for the operator. Each opens the database of this configuration (joining the portal that runs, if one does) and nothing else. */
import path from 'node:path'
import { ConfigFault, readConfig } from './config.ts'
import { connect } from './platform/db.ts'
import { startEmbeddedPostgres } from './platform/postgres/index.ts'
import { checkLedger } from './wallet/index.ts'

const commands: Record<string, string> = {
  'ledger:check': 'the invariants of the ledger, on what is new since the last check; --full: on every entry',
}

async function ledgerCheck(url: string, how: 'full' | 'new'): Promise<number> {
  const { db, close } = connect(url, 1, () => undefined)
  try {
    const findings = await checkLedger(db, how)
    for (const { invariant, where } of findings) process.stdout.write(`broken: ${invariant}: ${where}\n`)
    const { n } = await db
      .selectFrom('ledger_account')
      .select((eb) => eb.fn.coalesce(eb.fn.sum<bigint>('version'), eb.lit(0)).as('n'))
      .executeTakeFirstOrThrow()
    process.stdout.write(findings.length === 0 ? `The ledger is whole: ${n} entries.\n` : `${findings.length} findings.\n`)
    return findings.length === 0 ? 0 : 1
  } finally {
    await close()
  }
}

const [command = '', option] = process.argv.slice(2)
if (!(command in commands) || (option !== undefined && option !== '--full')) {
  process.stderr.write(
    `Commands:\n${Object.entries(commands)
      .map(([name, about]) => `  ${name.padEnd(14)} ${about}`)
      .join('\n')}\n`,
  )
  process.exit(64) // EX_USAGE of sysexits.h
}
try {
  const config = readConfig(process.env)
  const postgres =
    config.DATABASE_URL === undefined
      ? await startEmbeddedPostgres({ folder: path.join(config.DATA_DIR, 'postgres'), runAsUser: config.EMBEDDED_PG_USER })
      : undefined
  const code = await ledgerCheck(config.DATABASE_URL ?? postgres?.url ?? '', option === '--full' ? 'full' : 'new')
  // Only the server that we started ourselves is stopped; a running portal keeps its own.
  await postgres?.stop()
  process.exit(code)
} catch (error) {
  process.stderr.write(`${error instanceof ConfigFault ? error.faults.join('\n') : (error as Error).message}\n`)
  process.exit(78)
}
