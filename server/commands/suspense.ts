import type { Config } from '../config.ts'
import { assignSuspense, NotAssignable } from '../payments/index.ts'
import type { Output } from './output.ts'
import { openPaymentTools } from './payment-tools.ts'

/**
 * `suspense`: lists money in suspense; `suspense assign <number> <transaction code or e-mail>`
 * credits it to a customer. The running portal notifies the customer.
 */
export async function suspenseCommand(
  config: Config,
  databaseUrl: string,
  options: readonly string[],
  out: Output,
): Promise<number> {
  const [what, number = '', who = '', ...more] = options
  if (
    what !== undefined &&
    (what !== 'assign' || !/^[1-9]\d{0,17}$/.test(number) || who === '' || more.length > 0)
  ) {
    out.refuse('npm run portal -- suspense [assign <number> <transaction code or e-mail>] [--json]')
    return 64
  }
  const tools = await openPaymentTools(config, databaseUrl)
  try {
    if (what === undefined) {
      const rows = await tools.db
        .selectFrom('payment_suspense')
        .selectAll()
        .where('resolved_at', 'is', null)
        .orderBy('id')
        .execute()
      for (const {
        id,
        created_at: at,
        driver,
        amount,
        currency,
        reason,
        code,
        provider_transaction_id: movement,
      } of rows)
        out.line(
          `${id}  ${at.toISOString()}  ${driver}  ${amount} ${currency}  ${reason}  ` +
            `${code ?? '-'}  ${movement}`,
        )
      out.line(`${rows.length} wait in suspense.`)
      out.fields({ waiting: rows })
      return 0
    }
    const { amount, currency } = await assignSuspense(tools, BigInt(number), who)
    out.line(`${amount} ${currency} (minor units) are in the wallet of ${who}.`)
    out.fields({ amount, currency, customer: who })
    return 0
  } catch (error) {
    if (!(error instanceof NotAssignable)) throw error
    out.refuse(error.message)
    return 1
  } finally {
    await tools.close()
  }
}
