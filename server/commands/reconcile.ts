import type { Config } from '../config.ts'
import { reconcile } from '../payments/index.ts'
import { days } from '../platform/clock.ts'
import type { Output } from './output.ts'
import { openPaymentTools } from './payment-tools.ts'

/**
 * `reconcile [days]`: prints the differences between gateways, payments and ledger. Exit code 1 if
 * there are any.
 */
export async function reconcileCommand(
  config: Config,
  databaseUrl: string,
  [span = '7']: readonly string[],
  out: Output,
): Promise<number> {
  if (!/^\d{1,4}$/.test(span)) {
    out.refuse('How many days back? A whole number: npm run portal -- reconcile 30')
    return 64
  }
  const tools = await openPaymentTools(config, databaseUrl)
  try {
    const to = tools.clock.now()
    const from = new Date(to.getTime() - days(Number(span)))
    const found = await reconcile(tools.db, tools.orders, tools.drivers, { from, to })
    for (const { driver, about, what } of found.differences)
      out.line(`${driver}  ${about}  ${what}`)
    out.line(
      `${span} days: ${found.payments} payments, ${found.postings} postings, ${found.queried} ` +
        `asked about: ${found.differences.length} differences.`,
    )
    out.fields({ days: Number(span), from, to, ...found })
    return found.differences.length === 0 ? 0 : 1
  } finally {
    await tools.close()
  }
}
