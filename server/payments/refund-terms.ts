/** What the rooms around payments may ask of refunds, and what refuses them. */
import type { Currency } from '../../contract/money.ts'
import type { Tx } from '../platform/db.ts'
import type { Sentence } from '../platform/errors.ts'

/** Why a refund was not begun, for the operator. */
export class NotRefundable extends Error {
  readonly text: Sentence
  constructor(text: Sentence) {
    super(text.en)
    this.text = text
  }
}

/** `amount` in minor units. */
export interface BegunRefund {
  readonly id: string
  readonly customerId: string
  readonly amount: bigint
  readonly currency: Currency
}

/** Who gives the money back: the gateway, or we by a transfer. */
export type RefundWay = 'gateway' | 'hand'

export interface Refunds {
  /**
   * Begins one; answers its id. `amount` in minor units, all that is left when undefined. Throws
   * NotRefundable.
   */
  begin(transactionCode: string, amount: bigint | undefined, reason: string): Promise<string>
  /** The same in a transaction of the caller's; answers also how much, and whose it is. */
  beginIn(
    tx: Tx,
    transactionCode: string,
    amount: bigint | undefined,
    reason: string,
  ): Promise<BegunRefund>
  /**
   * Records one outside of the portal, of a gateway that makes none or refused it: the wallet is
   * debited, and the customer told. What the wallet lacks is owed. `bankReference`: the bank's
   * number of the transfer, entered once for a payment. Throws NotRefundable.
   */
  recordIn(
    tx: Tx,
    transactionCode: string,
    amount: bigint | undefined,
    bankReference: string,
  ): Promise<BegunRefund>
  /**
   * How much would be given back, minor units. Throws NotRefundable where it may not be begun; the
   * wallet is not looked at.
   */
  amountIn(
    tx: Tx,
    transactionCode: string,
    amount: bigint | undefined,
    way: RefundWay,
  ): Promise<bigint>
  /**
   * Decides a refund after a person looked at the gateway: one that is unclear or was requested
   * over an hour ago. Throws NotRefundable.
   */
  decide(refundId: string, status: 'done' | 'refused'): Promise<void>
  /**
   * The same decision in the caller's transaction; returns whose refund it is and its amount, minor
   * units.
   */
  decideIn(
    tx: Tx,
    refundId: string,
    status: 'done' | 'refused',
  ): Promise<{ customerId: string; amount: bigint; currency: Currency }>
}
