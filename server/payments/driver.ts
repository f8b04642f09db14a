/**
 * The interface between the payments module and the gateways. Every driver reads its gateway's
 * webhook into a PaymentUpdate, looks a payment up and refunds it; how a payment begins differs: on
 * the gateway's page (HostedDriver), with a linked card (CardDriver), or with a token that the
 * gateway's own form made (TokenDriver). A driver never sees the wallet, the database or an HTTP
 * framework. Failures are DriverFailure; a webhook that is not provably the gateway's own is a
 * ForgedWebhook.
 */
import type { DeclineReason } from '../../contract/payments.ts'
import type { Currency } from '../../contract/money.ts'
import { DriverFailure } from '../platform/errors.ts'

/** The channel of a payment that a card driver makes while its customer is away (decision 136). */
export const automaticChannel = 'automatic'

/** Our side of one payment, as far as a driver needs it. */
export interface PaymentOrder {
  /** The customer's transaction code: [0-9A-Z], unguessable, 26 characters. */
  readonly code: string
  /** The name the payment has at the gateway: the code, or what `referenceOf` makes of it. */
  readonly reference: string
  /** Minor units. */
  readonly amount: bigint
  readonly currency: Currency
  /**
   * The gateway's channel (for VNPay: '' lets the customer choose, VNBANK, INTCARD, VNPAYQR), or
   * `automaticChannel`.
   */
  readonly channel: string
  readonly language: 'en' | 'vi'
  /** The customer's address as the gateway wants to know it. */
  readonly ip: string
  /** The address that the browser returns to. */
  readonly returnUrl: string
  /** Our own page for a transfer, for the driver whose payments are made at the customer's bank. */
  readonly transferUrl: string
  readonly createdAt: Date
  readonly expiresAt: Date
  /** The gateway's own id, once known. */
  readonly providerRef: string | null
  /** When the gateway asks for the buyer. */
  readonly buyer: {
    readonly id: string
    readonly name: string
    readonly email: string
    readonly phone: string
  }
}

/**
 * `pending`: not decided yet, or held for review. `refunded`: the money (or the part `amount` of
 * it) went back after it had come. `reversed`: the bank took it back against our will (chargeback);
 * `restored`: a chargeback was decided for us.
 */
export type ProviderStatus =
  | 'pending'
  | 'succeeded'
  | 'failed'
  | 'refunded'
  | 'reversed'
  | 'restored'

/** One status update from the gateway about one payment. */
export interface PaymentUpdate {
  /** The same update, delivered twice, has the same id. */
  readonly eventId: string
  /** Our reference, or null when it cannot be read. */
  readonly reference: string | null
  /**
   * The gateway's id of the money movement that the update reports (a payment, a refund, a
   * dispute); null while there is none.
   */
  readonly providerTransactionId: string | null
  readonly status: ProviderStatus
  /** Minor units. */
  readonly amount: bigint
  readonly currency: Currency
  readonly occurredAt: Date | null
  /** The gateway's own code, for the log and the customer's support. */
  readonly detail: string
  /** The id of our refund that caused the update, where the gateway repeats it. */
  readonly refundId?: string | null
  /**
   * The gateway's id of the payment, where an update about a refund or a dispute does not repeat
   * our reference.
   */
  readonly paymentRef?: string
  /** The gateway's id of the dispute that moved the money. */
  readonly disputeId?: string
}

/** A webhook about a dispute that moves no money itself: we query the dispute's state. */
export interface DisputeNotice {
  readonly dispute: string
  readonly eventId: string
}

/** An untrusted webhook names a payment: query the gateway. */
export interface RecheckRequest {
  readonly ask: true
  readonly eventId: string
  readonly reference: string
  /**
   * What to query, where the reference alone does not say it: the gateway's own id of a payment or
   * of one movement.
   */
  readonly about?: string
}
/** What a webhook contains. `null`: it is genuine and concerns no payment. */
export type WebhookEvent = PaymentUpdate | RecheckRequest | DisputeNotice | null

/** What the settlement did with an update; the driver encodes it for the gateway. */
export const updateOutcomes = [
  'recorded',
  'already',
  'unknown_order',
  'wrong_amount',
  'forged',
  'error',
] as const
export type UpdateOutcome = (typeof updateOutcomes)[number]

export interface WebhookRequest {
  readonly method: string
  readonly headers: Readonly<Record<string, string | undefined>>
  readonly query: URLSearchParams
  readonly rawBody: Buffer
}
export interface WebhookResponse {
  readonly status: number
  readonly contentType: string
  readonly body: string
}

/** The signature does not verify: the webhook is not the gateway's. */
export class ForgedWebhook extends Error {
  constructor(reason: string) {
    super(reason)
    this.name = 'ForgedWebhook'
  }
}

/** The card is not linked, or is another customer's. */
export class UnknownCard extends DriverFailure {
  constructor(reason: string) {
    super('rejected', reason)
  }
}

/**
 * The provider no longer has this customer: it was deleted there, or created under keys that were
 * replaced.
 */
export class UnknownCustomer extends DriverFailure {
  constructor(reason: string) {
    super('rejected', reason)
  }
}

export interface Refund {
  /** The idempotency key: [0-9A-Za-z], at most 32 characters. */
  readonly refundId: string
  /** Minor units. */
  readonly amount: bigint
  readonly reason: string
  readonly providerTransactionId: string | null
  /**
   * When an earlier attempt that may have refunded was begun, by the wall clock. A driver that can
   * no longer find out its result throws `rejected`, and a person decides. Absent: this is the
   * first attempt.
   */
  readonly firstAskedAt?: Date
}

export const disputeStates = ['needs_evidence', 'under_review', 'won', 'lost', 'closed'] as const
/** A dispute by the payer's bank, in the gateway's state. */
export interface GatewayDispute {
  readonly id: string
  /** The gateway's id of the payment. */
  readonly paymentRef: string
  /** `closed`: it ended without a decision, which happens to inquiries. */
  readonly state: (typeof disputeStates)[number]
  /** The bank only asks so far. */
  readonly isInquiry: boolean
  /** Minor units. */
  readonly amount: bigint
  readonly currency: Currency
  readonly reason: string
  readonly openedAt: Date
  readonly evidenceDueAt: Date | null
  /** The gateway's fee for the dispute, minor units; null: the gateway does not report it. */
  readonly fee: bigint | null
  /** What the gateway has done with the money so far. */
  readonly money: 'kept' | 'taken' | 'returned'
}
/** Disputes at a gateway that lets them be answered by calls. */
export interface DisputeCalls {
  /** Characters of evidence that the gateway takes. */
  readonly longestText: number
  /** Null: the gateway knows no such dispute. */
  get(id: string): Promise<GatewayDispute | null>
  /** Disputes opened since then. */
  list(since: Date): Promise<readonly GatewayDispute[]>
  /** Sends evidence to the bank, once: `answerId` is the idempotency key. */
  submit(
    id: string,
    evidence: { readonly answerId: string; readonly text: string },
  ): Promise<GatewayDispute>
  /** Accepts that the money is gone. */
  accept(id: string, answerId: string): Promise<GatewayDispute>
}

/** One line of a pay-out report. */
export interface PayoutLine {
  /** The gateway's own; the same line has the same id however often it is read. */
  readonly id: string
  readonly kind: 'payment' | 'refund' | 'dispute' | 'dispute_won' | 'fee' | 'other'
  /** Minor units, signed: the line's share of the pay-out before its fee. */
  readonly amount: bigint
  /** Minor units that the gateway takes; below zero where it gives a fee back. */
  readonly fee: bigint
  /** The gateway's id of the movement that the line is about. */
  readonly movement: string | null
  /** The movement itself, signed as `amount`, where the gateway has changed its currency. */
  readonly converted?: { readonly amount: bigint; readonly currency: Currency | null }
}
/** A payment from the gateway to our bank account. */
export interface GatewayPayout {
  readonly id: string
  readonly currency: Currency
  /** Minor units that reach the bank; below zero where the gateway takes some from there. */
  readonly amount: bigint
  readonly status: 'on_its_way' | 'paid' | 'failed'
  readonly arrivesAt: Date
  /** Null: the gateway did not give them this time. */
  readonly lines: readonly PayoutLine[] | null
}

/** The part of the interface that all drivers share. */
interface Gateway {
  readonly name: string
  /** The gateway's name for customers, such as VNPay. */
  readonly displayName: string
  readonly currencies: readonly Currency[]
  /**
   * `exact`: an update with another amount than the order's credits nothing and goes into suspense.
   * `received`: whatever arrives is credited, each movement once, because the customer types the
   * amount (bank transfers).
   */
  readonly credits: 'exact' | 'received'
  /**
   * The name a payment has at a gateway that does not take our code; always the same for one code.
   * Absent: the code itself.
   */
  referenceOf?(code: string): string
  /** Verifies in constant time, over the raw bytes. Throws ForgedWebhook. */
  readWebhook(request: WebhookRequest): WebhookEvent
  answerTo(outcome: UpdateOutcome): WebhookResponse
  /** Queries the gateway; `about` comes from a RecheckRequest. `null`: it knows no such payment. */
  lookUp(order: PaymentOrder, about?: string): Promise<PaymentUpdate | null>
  /**
   * Why a payment failed, from the `detail` of the failing update. Absent, or undefined: unknown.
   */
  declineReason?(detail: string): DeclineReason | undefined
  /**
   * Refunds money to its source. Absent: the gateway cannot refund (a transfer is sent back by
   * hand).
   */
  refund?(order: PaymentOrder, refund: Refund): Promise<PaymentUpdate>
  /**
   * Whether the gateway has refused a refund that it had accepted. `some`: it refused one of the
   * payment's refunds and does not say which. Absent: the gateway reports such refusals by itself.
   */
  refusedSince?(order: PaymentOrder, refund: Refund): Promise<boolean | 'some'>
  /**
   * Extra money for a payment that is already paid: separate movements, each with the `eventId` of
   * the webhook about it. Absent where a paid payment accepts no more money.
   */
  extras?(order: PaymentOrder): Promise<readonly PaymentUpdate[]>
  /**
   * All movements of the gateway in a span of time, each with the `eventId` of the webhook about
   * it; the settle-movements jobs settle them, and `portal reconcile` compares them. Absent where
   * the gateway offers no list.
   */
  movements?(span: { readonly from: Date; readonly to: Date }): Promise<readonly PaymentUpdate[]>
  /**
   * Converts the movement's id that the payer reads to our `providerTransactionId`. Absent: they
   * are the same.
   */
  movementOf?(reference: string): string
  /**
   * Whether two different `providerTransactionId`s may name one movement: two feeds may report it,
   * and one of them uses its own number. Absent: one movement has one number.
   */
  mayBeOne?(movement: string, other: string): boolean
  /** Absent: the gateway knows no disputes, or none that a program can answer. */
  readonly disputes?: DisputeCalls
  /** Pay-outs made since then, with their lines. Absent: its reports are files. */
  payouts?(since: Date): Promise<readonly GatewayPayout[]>
}

/** How a transfer is made at the customer's own bank. */
export interface TransferInstructions {
  readonly bankName: string
  /** NAPAS BIN, six digits. */
  readonly bankBin: string
  readonly accountNumber: string
  readonly accountName: string
  /** The text that the transfer must contain. */
  readonly content: string
  /** EMVCo merchant-presented payload, the text of the QR code. */
  readonly qr: string
  /** A page that opens the transfer in a banking app; null where there is none. */
  readonly appUrl: string | null
}

/** The customer pays on another page: the gateway's, or ours with transfer instructions. */
export interface HostedDriver extends Gateway {
  readonly kind: 'hosted'
  readonly channels: readonly string[]
  /**
   * Begins a payment; the browser goes on to checkoutUrl. Asked twice with the same code it begins
   * no second payment.
   */
  begin(
    order: PaymentOrder,
  ): Promise<{ readonly checkoutUrl: string; readonly providerRef: string | null }>
  /** The account details for a transfer by hand. */
  instructions?(order: PaymentOrder): TransferInstructions
}

export interface Card {
  readonly id: string
  /** Unix seconds. */
  readonly created: number
  readonly card: {
    readonly brand: string
    readonly last4: string
    readonly exp_month: number
    readonly exp_year: number
  }
}
/** The customer pays with a card that the provider keeps; its number never comes near us. */
export interface CardDriver extends Gateway {
  readonly kind: 'card'
  /** Sent to the browser, for the provider's form. */
  readonly publishableKey: string
  /** The address of the provider's browser script. */
  readonly scriptUrl: string
  /** The origins that the script needs in the browser, for the pages' content policy. */
  readonly origins: {
    readonly scripts: readonly string[]
    readonly frames: readonly string[]
    readonly calls: readonly string[]
  }
  /**
   * Creates the provider's customer for our buyer; made once per `buyer.id`. Methods that take a
   * `customerRef` throw UnknownCustomer if it no longer exists.
   */
  openCustomer(buyer: PaymentOrder['buyer']): Promise<string>
  /** A secret with which the browser links one card. */
  setUp(customerRef: string): Promise<{ readonly clientSecret: string }>
  cards(
    customerRef: string,
  ): Promise<{ readonly cards: readonly Card[]; readonly defaultId: string | null }>
  /** Links a card (if it is not linked yet) and makes it the default. Throws UnknownCard. */
  attach(customerRef: string, cardId: string): Promise<void>
  /** Throws UnknownCard. */
  detach(customerRef: string, cardId: string): Promise<void>
  /**
   * Begins a payment that the browser confirms. Asked twice with the same code it begins no second
   * payment; another card takes the first one's place. Throws UnknownCard.
   */
  beginCard(
    order: PaymentOrder,
    with_: { readonly customerRef: string; readonly cardId: string },
  ): Promise<{ readonly clientSecret: string; readonly providerRef: string }>
  /**
   * Charges a linked card while its owner is away; the order's channel is `automaticChannel`. Asked
   * twice with the same code it charges once. A decline, also one that asks for the owner, is an
   * update that says failed; `lookUp` says the same of it later. Throws UnknownCard.
   */
  chargeOffSession(
    order: PaymentOrder,
    with_: { readonly customerRef: string; readonly cardId: string },
  ): Promise<PaymentUpdate>
}

/** The customer pays with a token that the provider's form made in the browser. */
export interface TokenDriver extends Gateway {
  readonly kind: 'token'
  readonly applicationId: string
  readonly locationId: string
  /**
   * Charges at once. Asked twice with the same code it charges once. A decline is an update that
   * says failed.
   */
  charge(
    order: PaymentOrder,
    source: { readonly sourceId: string; readonly verificationToken: string | null },
  ): Promise<PaymentUpdate>
}

export type PaymentDriver = HostedDriver | CardDriver | TokenDriver
/** The part of a driver that the settlement uses. */
export type Source = Pick<
  PaymentDriver,
  'name' | 'displayName' | 'credits' | 'declineReason' | 'mayBeOne'
>
