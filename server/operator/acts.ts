/** The interface of acts, their actors, and their dependencies. */
import type { Currency, RegionCode } from '../../contract/money.ts'
import type { ActInput, ActName } from '../../contract/operator-acts.ts'
import type { StaffRole } from '../../contract/staff-roles.ts'
import type { AccountActs } from '../auth/index.ts'
import type { ChangeCreditLine, DeskSubscriptions } from '../billing/index.ts'
import type { Outbox } from '../messages/index.ts'
import type { DisputeAnswers, Letters, Refunds } from '../payments/index.ts'
import type { PaymentDriver } from '../payments/index.ts'
import type { Catalog } from '../catalog/index.ts'
import type { Clock } from '../platform/clock.ts'
import type { Tx } from '../platform/db.ts'
import type { Jobs } from '../platform/jobs.ts'
import type { Log } from '../platform/log.ts'
import type { EventOutbox, OperatorOutbox } from '../realtime/index.ts'
import type { Invitations } from '../staff/index.ts'
import type { TicketDeps } from '../tickets/index.ts'
import type { Ledger } from '../wallet/index.ts'
import type { OutgoingWebhooks } from '../webhooks/index.ts'
import type { Facts } from './canonical.ts'

export interface Actor {
  /** Null: a command of the shell. */
  readonly staffId: string | null
  readonly name: string
  readonly role: StaffRole | null
  /** Network address; `shell` of a command. */
  readonly address: string
  /** The session at the desk; a command has none. */
  readonly session?: { readonly id: string; readonly expiresAt: Date }
  readonly approvedBy?: { readonly staffId: string; readonly name: string }
  /** When an act that is approved now was proposed. */
  readonly proposedAt?: Date
}
/** For how long the act's input has been waiting for approval, ms; 0 without a proposal. */
export const saidMsAgo = (clock: Clock, { proposedAt }: Actor): number =>
  proposedAt === undefined ? 0 : clock.now().getTime() - proposedAt.getTime()
/** The actor of commands: whoever has access to the machine. */
export const commandActor: Actor = {
  staffId: null,
  name: 'command',
  role: null,
  address: 'shell',
}

export interface ActNeeds {
  readonly clock: Clock
  readonly log: Log
  /** The running portal's catalogue; for a command, the machine's file. */
  readonly catalog: Pick<Catalog, 'dataCentres'>
  readonly currencyOf: (region: RegionCode) => Currency
  readonly ledger: Ledger
  readonly letters: Letters
  readonly jobs: Pick<Jobs, 'add'>
  /** Gives a customer a credit line, changes it or ends it, and tells them. */
  readonly changeCreditLine: ChangeCreditLine
  /** Cancels a customer's subscriptions and refunds the unused part. */
  readonly subscriptions: DeskSubscriptions
  readonly refunds: Pick<Refunds, 'beginIn' | 'decideIn' | 'recordIn' | 'amountIn'>
  readonly disputeAnswers: DisputeAnswers
  readonly drivers: ReadonlyMap<string, PaymentDriver>
  readonly accounts: AccountActs
  /** A node's keys; shown in the shell only. */
  readonly nodeKeys: {
    /** The key of the node's line. */
    line(node: string): string
    /** Makes a new key to join with; the node's earlier one becomes invalid. */
    join(tx: Tx, node: string): Promise<string>
  }
  readonly invitations: Pick<Invitations, 'invite'>
  /** The customer's email address, and the language of letters. */
  readonly customerMail: (
    tx: Tx,
    customerId: string,
  ) => Promise<{ readonly email: string; readonly language: 'en' | 'vi' }>
  readonly tickets: TicketDeps
  readonly mail: (tx: Tx, to: string, subject: string, text: string) => Promise<void>
  /** A letter that asks to be answered. */
  readonly answerable: Outbox['answerable']
  /** Sends a letter again. */
  readonly again: Outbox['again']
  readonly outbox: OperatorOutbox & Pick<EventOutbox, 'publishEvent'>
  readonly outgoing: OutgoingWebhooks
  /** Looks for a newer version of the catalogue, after one was published. */
  readonly followCatalog: () => void
  readonly portalUrl: string
  readonly brandName: string
  /** Minor units: more than this, moved at once, needs a second member. */
  readonly secondPersonAbove: Readonly<Record<Currency, bigint>>
}

/** An act's result. */
export interface Done {
  readonly subject: { readonly kind: string; readonly id: string }
  readonly customerId?: string | null
  readonly before: Facts | null
  readonly after: Facts | null
  /** Shown once to the user of a command, and stored nowhere: a link. */
  readonly told?: Readonly<Record<string, string>>
  /** Shown once to the member at the desk, and stored nowhere. */
  readonly link?: string
  /** Shown once to the actor, and stored nowhere. */
  readonly secret?: string
}

export interface Act<I> {
  /** The customer that a proposal is about; null: none. */
  customer?(tx: Tx, input: I, needs: ActNeeds): Promise<string | null>
  /** Whether a second member must approve it. */
  needsSecond?(tx: Tx, needs: ActNeeds, input: I, actor: Actor): Promise<boolean>
  /**
   * Doing it twice moves money twice, and nothing in it tells a repeat from a second act. A command
   * without a key is refused an equal one within a day.
   */
  readonly repeatNeedsKey?: true
  /** The input that is proposed: with what was left out and may change until it is approved. */
  fixed?(tx: Tx, needs: ActNeeds, input: I): Promise<I>
  /** The part of the input that the trail keeps; absent: all of it. */
  kept?(input: I): object
  /** Throws a Refusal when it cannot be done; nothing has changed then. */
  run(tx: Tx, needs: ActNeeds, actor: Actor, input: I, reason: string | null): Promise<Done>
}
export type Registry = { readonly [N in ActName]: Act<ActInput<N>> }
export type RegistryOf<P extends string> = {
  readonly [N in Extract<ActName, `${P}.${string}`>]: Act<ActInput<N>>
}
