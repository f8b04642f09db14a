/**
 * The agreement between the payments room and a gateway. A driver has three duties: begin a payment, read the gateway's word into one
 * neutral notice, look a payment up. It never sees the wallet, the database or an HTTP framework.
 * Failures are DriverFailure; a notice that is not provably the gateway's own is a ForgedNotice.
 */
import type { Currency } from '../../contract/money.ts'

/** What a driver needs to know of one payment of ours. */
export interface PaymentOrder {
  /** Our reference at the gateway and the customer's transaction code: [A-Za-z0-9], unguessable, at most 32 characters. */
  readonly code: string
  /** Minor units. */
  readonly amount: bigint
  readonly currency: Currency
  /** The gateway's channel (for VNPay: '' lets the customer choose, VNBANK, INTCARD, VNPAYQR). */
  readonly channel: string
  readonly language: 'en' | 'vi'
  /** The customer's address as the gateway wants to know it. */
  readonly ip: string
  /** Where the browser comes back to. */
  readonly returnUrl: string
  readonly createdAt: Date
  readonly expiresAt: Date
  /** The gateway's own id, once known. */
  readonly providerRef: string | null
  /** When the gateway asks for the buyer. */
  readonly buyer: { readonly id: string; readonly name: string; readonly email: string; readonly phone: string }
}

/** `pending`: not decided yet, or held for review. `refunded`: the money went back after it had come. */
export type ProviderStatus = 'pending' | 'succeeded' | 'failed' | 'refunded'

/** One word of a gateway about one payment. */
export interface Notice {
  /** Unique per word: the same word twice has the same id. */
  readonly eventId: string
  /** Our code, or null when it cannot be read. */
  readonly code: string | null
  /** The gateway's id of the money movement; null while there is none. */
  readonly providerTransactionId: string | null
  readonly status: ProviderStatus
  /** Minor units. */
  readonly amount: bigint
  readonly currency: Currency
  readonly occurredAt: Date | null
  /** The gateway's own code, for the log and the customer's support. */
  readonly detail: string
}

/** What became of a notice; the driver words it for the gateway. */
export type NoticeOutcome = 'recorded' | 'already' | 'unknown_order' | 'wrong_amount' | 'forged' | 'error'

export interface NoticeRequest {
  readonly method: string
  readonly headers: Readonly<Record<string, string | undefined>>
  readonly query: URLSearchParams
  readonly rawBody: Buffer
}
export interface NoticeAnswer {
  readonly status: number
  readonly contentType: string
  readonly body: string
}

/** The signature does not hold: the word is not the gateway's. */
export class ForgedNotice extends Error {
  constructor(reason: string) {
    super(reason)
    this.name = 'ForgedNotice'
  }
}

export interface PaymentDriver {
  readonly name: string
  readonly currencies: readonly Currency[]
  readonly channels: readonly string[]
  /** Begins a payment; the browser goes on to checkoutUrl. Asked twice with the same code it begins no second payment. */
  begin(order: PaymentOrder): Promise<{ readonly checkoutUrl: string; readonly providerRef: string | null }>
  /** Verifies in constant time, over the raw bytes. Throws ForgedNotice. */
  readNotice(request: NoticeRequest): Notice
  answerTo(outcome: NoticeOutcome): NoticeAnswer
  /** Asks the gateway. `null`: it knows no such payment. */
  lookUp(order: PaymentOrder): Promise<Notice | null>
  /** Gives money back to its source. `refundId` is the idempotency key. */
  refund(
    order: PaymentOrder,
    refund: { readonly refundId: string; readonly amount: bigint; readonly reason: string; readonly providerTransactionId: string | null },
  ): Promise<Notice>
}
