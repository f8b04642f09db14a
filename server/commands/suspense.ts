import type { Config } from '../config.ts'
import { connect } from '../platform/db.ts'
import { actFor } from './act.ts'
import type { Output } from './output.ts'

const usage =
  'npm run portal -- suspense [assign <number> <transaction code or e-mail> | return <number>] ' +
  '[--json]'

/**
 * `suspense`: lists money in suspense. `suspense assign <number> <transaction code or e-mail>` is
 * the act `money.assign`, `suspense return <number>` the act `money.return`.
 */
export async function suspenseCommand(
  config: Config,
  databaseUrl: string,
  options: readonly string[],
  out: Output,
): Promise<number> {
  const [what, number = '', to = '', ...more] = options
  if (what === undefined) return await list(databaseUrl, out)
  const isSound =
    /^[1-9]\d{0,14}$/.test(number) &&
    more.length === 0 &&
    (what === 'assign' ? to !== '' : what === 'return' && to === '')
  if (!isSound) {
    out.refuse(usage)
    return 64
  }
  const suspense = Number(number)
  return what === 'assign'
    ? await actFor(
        config,
        databaseUrl,
        'money.assign',
        { suspense, to, reason: 'assigned by command' },
        out,
      )
    : await actFor(config, databaseUrl, 'money.return', { suspense, reason: 'sent back' }, out)
}

async function list(databaseUrl: string, out: Output): Promise<number> {
  const { db, close } = connect(databaseUrl, 1, () => undefined)
  try {
    const rows = await db
      .selectFrom('payment_suspense')
      .selectAll()
      .where('resolved_at', 'is', null)
      .orderBy('id')
      .execute()
    for (const row of rows)
      out.line(
        `${row.id}  ${row.created_at.toISOString()}  ${row.driver}  ${row.amount} ` +
          `${row.currency}  ${row.reason}  ${row.code ?? '-'}  ${row.provider_transaction_id}`,
      )
    out.line(`${rows.length} wait in suspense.`)
    out.fields({ waiting: rows })
    return 0
  } finally {
    await close()
  }
}
