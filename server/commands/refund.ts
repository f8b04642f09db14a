import type { Config } from '../config.ts'
import { NotRefundable } from '../payments/index.ts'
import { openPaymentTools } from './payment-tools.ts'

/** `refund <transaction code> [minor units] [reason …]`: money goes back to its source. The portal that runs, or the next one, asks the gateway. */
export async function refundCommand(
  config: Config,
  databaseUrl: string,
  [code = '', amount, ...reason]: readonly string[],
): Promise<number> {
  if (code === '' || (amount !== undefined && !/^[1-9]\d{0,14}$/.test(amount))) {
    process.stderr.write('npm run portal -- refund <transaction code> [minor units] [reason]\n')
    return 64
  }
  const tools = await openPaymentTools(config, databaseUrl)
  try {
    const id = await tools.refunds.begin(code, amount === undefined ? undefined : BigInt(amount), reason.join(' ') || 'refund')
    process.stdout.write(`Refund ${id} has begun: the money has left the wallet and the gateway is asked next.\n`)
    return 0
  } catch (error) {
    if (!(error instanceof NotRefundable)) throw error
    process.stderr.write(`${error.message}\n`)
    return 1
  } finally {
    await tools.close()
  }
}

/** `refund:decide <refund's id> done|refused`: what a person found out about a refund that has no answer. Refused, it is in the wallet again. */
export async function refundDecideCommand(
  config: Config,
  databaseUrl: string,
  [id = '', status = '', ...more]: readonly string[],
): Promise<number> {
  if (!/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(id) || (status !== 'done' && status !== 'refused') || more.length > 0) {
    process.stderr.write('npm run portal -- refund:decide <id of the refund> done|refused\n')
    return 64
  }
  const tools = await openPaymentTools(config, databaseUrl)
  try {
    await tools.refunds.decide(id, status)
    process.stdout.write(`The refund ${id} is ${status}.\n`)
    return 0
  } catch (error) {
    if (!(error instanceof NotRefundable)) throw error
    process.stderr.write(`${error.message}\n`)
    return 1
  } finally {
    await tools.close()
  }
}
