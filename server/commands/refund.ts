import type { Config } from '../config.ts'
import { actFor, keyOfAnother } from './act.ts'
import type { Output } from './output.ts'

/**
 * `refund <transaction code> [minor units] [reason …] [--again]`: the act `money.refund`. The
 * running portal, or the next one, calls the gateway. `--again`: an equal refund of the same day is
 * no mistake.
 */
export async function refundCommand(
  config: Config,
  databaseUrl: string,
  words: readonly string[],
  out: Output,
): Promise<number> {
  const [code = '', amount, ...reason] = words.filter((word) => word !== '--again')
  if (code === '' || (amount !== undefined && !/^[1-9]\d{0,14}$/.test(amount))) {
    out.refuse('npm run portal -- refund <transaction code> [minor units] [reason] [--again]')
    return 64
  }
  const input = {
    payment: code,
    ...(amount !== undefined && { amount: Number(amount) }),
    reason: reason.join(' ') || 'refund by command',
    ...(words.includes('--again') && { key: keyOfAnother() }),
  }
  return await actFor(config, databaseUrl, 'money.refund', input, out)
}

/**
 * `refund:decide <refund's id> done|refused`: the act `refund.decide` for a refund without an
 * answer. `refused` returns the money to the wallet.
 */
export async function refundDecideCommand(
  config: Config,
  databaseUrl: string,
  [id = '', outcome = '', ...more]: readonly string[],
  out: Output,
): Promise<number> {
  if (
    !/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(id) ||
    (outcome !== 'done' && outcome !== 'refused') ||
    more.length > 0
  ) {
    out.refuse('npm run portal -- refund:decide <id of the refund> done|refused')
    return 64
  }
  const input = { refund: id, outcome, reason: 'decided by command' }
  return await actFor(config, databaseUrl, 'refund.decide', input, out)
}
