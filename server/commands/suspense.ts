import type { Config } from '../config.ts'
import { assignSuspense, NotAssignable } from '../payments/index.ts'
import { systemClock } from '../platform/clock.ts'
import { createAnnouncer } from '../realtime/index.ts'
import { openPaymentTools } from './payment-tools.ts'

/** `suspense`: what waits; `suspense assign <number> <transaction code or e-mail>`: it is this customer's. The portal that runs tells the customer. */
export async function suspenseCommand(config: Config, databaseUrl: string, options: readonly string[]): Promise<number> {
  const [what, number = '', who = '', ...more] = options
  if (what !== undefined && (what !== 'assign' || !/^[1-9]\d{0,17}$/.test(number) || who === '' || more.length > 0)) {
    process.stderr.write('npm run portal -- suspense [assign <number> <transaction code or e-mail>]\n')
    return 64
  }
  const tools = await openPaymentTools(config, databaseUrl)
  try {
    if (what === undefined) {
      const rows = await tools.db.selectFrom('payment_suspense').selectAll().where('resolved_at', 'is', null).orderBy('id').execute()
      for (const { id, created_at: at, driver, amount, currency, reason, code, provider_transaction_id: movement } of rows)
        process.stdout.write(`${id}  ${at.toISOString()}  ${driver}  ${amount} ${currency}  ${reason}  ${code ?? '-'}  ${movement}\n`)
      process.stdout.write(`${rows.length} wait in suspense.\n`)
      return 0
    }
    const announcer = createAnnouncer(systemClock, () => undefined)
    const { amount, currency } = await assignSuspense({ ...tools, clock: systemClock, announcer }, BigInt(number), who)
    process.stdout.write(`${amount} ${currency} (minor units) are in the wallet of ${who}.\n`)
    return 0
  } catch (error) {
    if (!(error instanceof NotAssignable)) throw error
    process.stderr.write(`${error.message}\n`)
    return 1
  } finally {
    await tools.close()
  }
}
