import { parseArgs } from 'node:util'
import type { Config } from '../config.ts'
import { connect } from '../platform/db.ts'
import { checkLedger } from '../wallet/index.ts'
import type { Output } from './output.ts'

/**
 * `ledger:check [--full]`: prints broken invariants of the ledger. Exit code 1 if there are any.
 */
export async function ledgerCheckCommand(
  _config: Config,
  databaseUrl: string,
  options: readonly string[],
  out: Output,
): Promise<number> {
  let given
  try {
    given = parseArgs({ args: [...options], options: { full: { type: 'boolean' } } })
  } catch {
    out.refuse('npm run portal -- ledger:check [--full] [--json]')
    return 64
  }
  const { db, close } = connect(databaseUrl, 1, () => undefined)
  try {
    const findings = await checkLedger(db, given.values.full === true ? 'full' : 'new')
    for (const { invariant, where } of findings) out.line(`broken: ${invariant}: ${where}`)
    const { n } = await db
      .selectFrom('ledger_account')
      .select((eb) => eb.fn.coalesce(eb.fn.sum<bigint>('version'), eb.lit(0)).as('n'))
      .executeTakeFirstOrThrow()
    out.line(
      findings.length === 0 ? `The ledger is whole: ${n} entries.` : `${findings.length} findings.`,
    )
    out.fields({ whole: findings.length === 0, entries: n, findings })
    return findings.length === 0 ? 0 : 1
  } finally {
    await close()
  }
}
