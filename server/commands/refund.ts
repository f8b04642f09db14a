import type { Config } from '../config.ts'
import { NotRefundable } from '../payments/index.ts'
import type { Output } from './output.ts'
import { openPaymentTools } from './payment-tools.ts'

/**
 * `refund <transaction code> [minor units] [reason …]`: money goes back to its source. The portal
 * that runs, or the next one, asks the gateway.
 */
export async function refundCommand(
  config: Config,
  databaseUrl: string,
  [code = '', amount, ...reason]: readonly string[],
  out: Output,
): Promise<number> {
  if (code === '' || (amount !== undefined && !/^[1-9]\d{0,14}$/.test(amount))) {
    out.refuse('npm run portal -- refund <transaction code> [minor units] [reason]')
    return 64
  }
  const tools = await openPaymentTools(config, databaseUrl)
  try {
    const id = await tools.refunds.begin(
      code,
      amount === undefined ? undefined : BigInt(amount),
      reason.join(' ') || 'refund',
    )
    out.line(`Refund ${id} has begun: the money has left the wallet and the gateway is asked next.`)
    out.fields({ id })
    return 0
  } catch (error) {
    if (!(error instanceof NotRefundable)) throw error
    out.refuse(error.message)
    return 1
  } finally {
    await tools.close()
  }
}

/**
 * `refund:decide <refund's id> done|refused`: what a person found out about a refund that has no
 * answer. Refused, it is in the wallet again.
 */
export async function refundDecideCommand(
  config: Config,
  databaseUrl: string,
  [id = '', status = '', ...more]: readonly string[],
  out: Output,
): Promise<number> {
  if (
    !/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(id) ||
    (status !== 'done' && status !== 'refused') ||
    more.length > 0
  ) {
    out.refuse('npm run portal -- refund:decide <id of the refund> done|refused')
    return 64
  }
  const tools = await openPaymentTools(config, databaseUrl)
  try {
    await tools.refunds.decide(id, status)
    out.line(`The refund ${id} is ${status}.`)
    out.fields({ id, status })
    return 0
  } catch (error) {
    if (!(error instanceof NotRefundable)) throw error
    out.refuse(error.message)
    return 1
  } finally {
    await tools.close()
  }
}
