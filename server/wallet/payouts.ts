/** Postings between a gateway's account, our bank and the gateway's fees. No wallet is touched. */
import { bankOf, feeOf, gatewayOf, suspenseOf } from './accounts.ts'
import type { Payout, Posting } from './posting.ts'

/** Null: nothing moves. */
const balanced = (posting: Posting): Posting | null => {
  const lines = posting.lines.filter(({ amount }) => amount !== 0n)
  return lines.length === 0 ? null : { ...posting, lines }
}

export const payoutPosting = ({ key, driver, currency, amount, fees, details }: Payout) =>
  balanced({
    key,
    kind: 'payout',
    details,
    lines: [
      { account: gatewayOf(driver, currency), amount: amount + fees },
      { account: bankOf(currency), amount: -amount },
      { account: feeOf(driver, currency), amount: -fees },
    ],
  })
export const undonePosting = ({ key, driver, currency, amount, details }: Omit<Payout, 'fees'>) =>
  balanced({
    key,
    kind: 'payout_undone',
    details,
    lines: [
      { account: bankOf(currency), amount },
      { account: gatewayOf(driver, currency), amount: -amount },
    ],
  })
/** `driver`: the bank's feed, in whose suspense the money is. */
export const matchedPosting = ({ key, driver, currency, amount, details }: Omit<Payout, 'fees'>) =>
  balanced({
    key,
    kind: 'payout_matched',
    details,
    lines: [
      { account: suspenseOf(driver, currency), amount: -amount },
      { account: bankOf(currency), amount },
    ],
  })
