/** Postings, and the ledger's interface for the other modules. */
import type { Currency } from '../../contract/money.ts'
import type { Queryable, Tx } from '../platform/db.ts'
import type { CreditLine } from './credit-lines.ts'

/** Signed minor units: positive raises the account. */
export interface Line {
  readonly account: string
  readonly amount: bigint
}
export interface Posting {
  /** Idempotency key: the same key and content posts once; other content under it is a bug. */
  readonly key: string
  readonly kind: PostingKind | HousePostingKind
  /** Data for the transaction log's text, in any language: names and numbers only. */
  readonly details: Details
  readonly lines: readonly Line[]
  readonly reverses?: bigint
}
export type PostingKind =
  | 'topup'
  | 'charge'
  | 'refund'
  | 'suspense'
  /** Released from suspense: the gateway has named the payment, and the wallet is credited. */
  | 'unpark'
  /** To the source: out of the wallet, and back into it when the gateway refuses. */
  | 'withdrawal'
  | 'withdrawal_undone'
  | 'paid_out'
  /** A chargeback by the gateway or the bank, and its reversal. */
  | 'chargeback'
  | 'chargeback_won'
  /** From the wallet, against a debt that a chargeback, or a refund by hand, left. */
  | 'set_off'
  /** By the operator, into a wallet or out of it. */
  | 'adjustment'
  /** Into a wallet that was opened just now: what the customer had in another panel. */
  | 'opening'
  /** `lent`: into the wallet, on the customer's credit line. `repaid`: out of it, for a loan. */
  | 'lent'
  | 'repaid'
/**
 * Kinds that touch no wallet: a gateway paid out to the bank, the bank sent that back, a pay-out
 * was matched with suspense, or money in suspense was sent back to its payer.
 */
export type HousePostingKind = 'payout' | 'payout_undone' | 'payout_matched' | 'suspense_returned'
export interface Details {
  /** A gateway's or bank's name. */
  readonly provider?: string
  /** Our transaction code of a top-up. */
  readonly code?: string
  /** An automatic top-up (decision 136). */
  readonly automatic?: true
  /** An invoice's number. */
  readonly invoice?: string
  /** The thing sold, such as a server's name. */
  readonly subject?: string
  readonly reason?: string
  /** What a debt that is settled comes from; absent: a chargeback. */
  readonly debt?: 'refund'
}

/** `short`: a wallet would go below zero; nothing was written. */
export type Outcome =
  | { readonly outcome: 'posted' | 'replayed'; readonly transferId: bigint }
  | { readonly outcome: 'short' }

/** `setOff`: minor units that were used for debts. */
export type Credited = Outcome & { readonly setOff: bigint }

/** `lent`: minor units of it that the wallet did not hold and the credit line lent. */
export type Charged = Outcome & { readonly lent: bigint }

/** Throws when the lines do not balance. */
export function assertBalanced(lines: readonly Line[]): void {
  if (lines.length < 2) throw new Error('a posting needs at least two lines')
  if (lines.some((line) => line.amount === 0n)) throw new Error('a line of a posting is zero')
  if (new Set(lines.map((line) => line.account)).size !== lines.length)
    throw new Error('an account stands twice in a posting')
  if (lines.reduce((sum, line) => sum + line.amount, 0n) !== 0n)
    throw new Error('a posting does not balance')
}

/**
 * One amount, minor units, that moves between a gateway's account and a customer's wallet, suspense
 * or debts.
 */
export interface Movement {
  readonly key: string
  readonly customerId: string
  readonly driver: string
  /** Minor units, above zero. */
  readonly amount: bigint
  readonly currency: Currency
  readonly details: Details
}

/** A customer's payment for something sold. */
export interface Sale {
  readonly key: string
  readonly customerId: string
  readonly product: string
  /** Minor units, above zero. */
  readonly amount: bigint
  readonly currency: Currency
  readonly details: Details
  /**
   * The part that the wallet does not hold may be lent on the customer's credit line. It answers
   * when a loan of now falls due for a term of `termDays` days. Absent: nothing is lent.
   */
  readonly lendUntil?: (termDays: number) => Date
}

/** A gateway's pay-out to our bank account. */
export interface Payout {
  readonly key: string
  readonly driver: string
  readonly currency: Currency
  readonly amount: bigint
  readonly fees: bigint
  readonly details: Details
}

/** A wallet's balance. */
export interface Balance {
  /** Minor units. */
  readonly balance: bigint
  readonly currency: Currency
}

export interface Ledger {
  /**
   * Opens the operator's accounts for these gateways and products, in every currency. Called once,
   * at the start.
   */
  prepare(
    db: Queryable,
    of: { drivers: readonly string[]; products: readonly string[] },
  ): Promise<void>
  openWallet(tx: Tx, customerId: string, currency: Currency): Promise<void>
  /** Takes away the wallets in which nothing was ever entered; returns whose these were. */
  closeWallets(tx: Tx, customerIds: readonly string[]): Promise<readonly string[]>
  /**
   * Credits money that arrived through a gateway for a customer. Debts are settled from it at once,
   * by separate entries.
   */
  credit(tx: Tx, topup: Movement): Promise<Credited>
  /** A customer used a voucher; debts are set off as by a top-up. */
  creditVoucher(tx: Tx, voucher: Omit<Movement, 'driver'>): Promise<Credited>
  /**
   * A customer pays for something. `short` when the wallet does not hold enough, and no credit line
   * lends the rest.
   */
  charge(tx: Tx, sale: Sale): Promise<Charged>
  /**
   * Charges many customers in one round trip; a wallet that is short does not stop the others.
   * Answers one outcome per sale, in the same order.
   */
  chargeAll(
    tx: Tx,
    sales: readonly Sale[],
  ): Promise<readonly { readonly outcome: Outcome['outcome']; readonly lent: bigint }[]>
  /**
   * Gives a charge back to the wallet, as a new entry; the first one stays. (Money goes back to its
   * source by `withhold`.) With `paidAt`, as far as money that had come until then has been taken
   * back since and is owed to us, or something was lent, the refund settles that: entries of their
   * own take it out of the wallet again.
   */
  refund(
    tx: Tx,
    refund: Sale & { readonly reverses?: bigint; readonly paidAt?: Date },
  ): Promise<Outcome>
  /** Puts money that matches no payment into the gateway's suspense account. */
  holdInSuspense(tx: Tx, parked: Omit<Movement, 'customerId'>): Promise<Outcome>
  /**
   * Moves money from suspense back to the gateway's account; the caller credits the wallet next.
   */
  releaseFromSuspense(tx: Tx, parked: Movement): Promise<Outcome>
  /** Money in suspense was sent back to its payer: the gateway no longer holds it. */
  returnFromSuspense(tx: Tx, returned: Omit<Movement, 'customerId'>): Promise<Outcome>
  /** Moves money from suspense to a customer's wallet; debts are set off as by a top-up. */
  assign(tx: Tx, parked: Movement): Promise<Credited>
  /** The posting under a key: minor units, and its transaction code. Undefined: there is none. */
  posted(
    tx: Tx,
    key: string,
  ): Promise<{ readonly amount: bigint; readonly code: string | undefined } | undefined>
  /** Every top-up that names a transaction code: the key it was posted under, and minor units. */
  toppedUpFor(
    tx: Tx,
    code: string,
  ): Promise<readonly { readonly key: string; readonly amount: bigint }[]>
  /**
   * Takes money out of a wallet that is to go back to its source. `short` when the wallet does not
   * hold it.
   */
  withhold(tx: Tx, withdrawal: Movement): Promise<Outcome>
  /**
   * The gateway refused: the withheld money returns to the wallet. It settles debts of chargebacks
   * since the withholding, because those took less while the money was not in the wallet.
   */
  release(tx: Tx, withdrawal: Movement & { readonly withheldAt: Date }): Promise<Outcome>
  /** The gateway gave the withheld money back to its source. */
  payOut(tx: Tx, withdrawal: Movement): Promise<Outcome>
  /**
   * The gateway took money back by itself: from the wallet as far as it holds any, and at most
   * `atMost` (minor units, not below zero). The rest becomes a debt, answered as `owed`.
   */
  chargeback(
    tx: Tx,
    chargeback: Movement & { readonly atMost: bigint },
  ): Promise<Outcome & { readonly owed: bigint }>
  /**
   * Money that we gave back outside of the gateway: from the wallet as far as it holds any. The
   * rest becomes a debt, answered as `owed`. All accounts are locked at once, in one order.
   */
  sendBack(tx: Tx, refund: Movement): Promise<Outcome & { readonly owed: bigint }>
  /**
   * A chargeback was decided for us, or a refund of ours came back: what was taken from the wallet
   * is there again, and what is still owed because of it is owed no more. `undoes` is the key of
   * the posting that took it. `withheldAt`: when a refund of ours left the wallet; what chargebacks
   * have left owed since is settled from it, as `release` does. `isClosed`: nobody reaches that
   * wallet any more, and what would be there goes to suspense. `parked`: how much that is, in minor
   * units.
   */
  reverseChargeback(
    tx: Tx,
    chargeback: Movement & {
      readonly undoes: string
      readonly isClosed: boolean
      readonly withheldAt?: Date | undefined
    },
  ): Promise<Outcome & { readonly parked: bigint }>
  /**
   * The operator puts money into a wallet (above zero) or takes it out (below zero), against an
   * account of the house. Money put in settles debts as a top-up does. `short` if the wallet does
   * not hold the amount.
   */
  adjust(
    tx: Tx,
    adjustment: Omit<Movement, 'driver' | 'amount'> & { readonly amount: bigint },
  ): Promise<Credited>
  /**
   * A customer's balance of another panel, into a new wallet: against an account of the house, and
   * neither a payment nor a sale.
   */
  bringOver(tx: Tx, opening: Omit<Movement, 'driver' | 'details'>): Promise<Outcome>
  /**
   * A gateway paid `amount` out to our bank and kept `fees`: both leave its balance with us. Minor
   * units, either of any sign.
   */
  settlePayout(tx: Tx, payout: Payout): Promise<Outcome>
  /** The bank sent a pay-out back: the gateway holds it again, and keeps its fees. */
  undoPayout(tx: Tx, payout: Omit<Payout, 'fees'>): Promise<Outcome>
  /**
   * Money that the bank's own feed put into suspense is a pay-out that is already posted: removes
   * it from suspense, so that it is on the bank's account once.
   */
  matchPayout(tx: Tx, payout: Omit<Payout, 'fees'>): Promise<Outcome>
  /**
   * Gives a customer a credit line, changes it, or ends it with a limit of 0; existing debts stay.
   * Limit in minor units of the wallet's currency.
   */
  setCreditLine(
    tx: Tx,
    of: {
      readonly customerId: string
      readonly currency: Currency
      readonly limit: bigint
      readonly termDays: number
    },
  ): Promise<void>
  /** Undefined: there is no line, and no debt of a former one. */
  creditLineOf(db: Queryable, customerId: string): Promise<CreditLine | undefined>
  /** Minor units. */
  balanceOf(db: Queryable, customerId: string): Promise<Balance>
  /** The balances of many customers in one query; customers without a wallet are missing. */
  balancesOf(db: Queryable, customerIds: readonly string[]): Promise<ReadonlyMap<string, Balance>>
}
