/** What an act is, who does it, and what acts need of the modules. */
import type { Currency } from '../../contract/money.ts'
import type { ActInput, ActName } from '../../contract/operator-acts.ts'
import type { StaffRole } from '../../contract/staff-roles.ts'
import type { AccountActs } from '../auth/index.ts'
import type { ChangeCreditLine, DeskCancel } from '../billing/index.ts'
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
/** How long ago the actor said what the act goes by: it may have waited for approval, ms. */
export const saidMsAgo = (clock: Clock, { proposedAt }: Actor): number =>
  proposedAt === undefined ? 0 : clock.now().getTime() - proposedAt.getTime()
/** Who has the machine. */
export const commandActor: Actor = {
  staffId: null,
  name: 'command',
  role: null,
  address: 'shell',
}

export interface ActNeeds {
  readonly clock: Clock
  readonly log: Log
  /** Of the portal that runs; of the shell's machine its file. */
  readonly catalog: Pick<Catalog, 'dataCentres'>
  readonly ledger: Ledger
  readonly letters: Letters
  readonly jobs: Pick<Jobs, 'add'>
  /** Gives a customer a credit line, changes it or ends it, and tells them. */
  readonly changeCreditLine: ChangeCreditLine
  /** Cancels what a customer has, and gives back what is unused. */
  readonly subscriptions: DeskCancel
  readonly refunds: Pick<Refunds, 'beginIn' | 'decideIn'>
  readonly disputeAnswers: DisputeAnswers
  readonly drivers: ReadonlyMap<string, PaymentDriver>
  readonly accounts: AccountActs
  /** The keys that a node is started with; told in the shell only. */
  readonly nodeKeys: {
    /** Of its line. */
    line(node: string): string
    /** Another one to join with; one that it had before works no longer. */
    join(tx: Tx, node: string): Promise<string>
  }
  readonly invitations: Pick<Invitations, 'invite'>
  /** In the language that the customer is written to in. */
  readonly customerMail: (
    tx: Tx,
    customerId: string,
  ) => Promise<{ readonly email: string; readonly language: 'en' | 'vi' }>
  readonly tickets: TicketDeps
  readonly mail: (tx: Tx, to: string, subject: string, text: string) => Promise<void>
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

/** What an act has done. */
export interface Done {
  readonly subject: { readonly kind: string; readonly id: string }
  readonly customerId?: string | null
  readonly before: Facts | null
  readonly after: Facts | null
  /** Told once to who does it by a command, and written nowhere: a link. */
  readonly told?: Readonly<Record<string, string>>
  /** Told once to the member who does it at the desk, and written nowhere. */
  readonly link?: string
  /** Told once to who does it, and written nowhere. */
  readonly secret?: string
}

export interface Act<I> {
  /** Whom it is about, for a proposal; undefined: nobody. */
  customer?(tx: Tx, input: I, needs: ActNeeds): Promise<string | null>
  /** Whether somebody else must approve it. */
  needsSecond?(tx: Tx, needs: ActNeeds, input: I, actor: Actor): Promise<boolean>
  /** What the trail keeps of the input, where that is not all of it. */
  kept?(input: I): object
  /** Throws a Refusal when it cannot be done; nothing has changed then. */
  run(tx: Tx, needs: ActNeeds, actor: Actor, input: I, reason: string | null): Promise<Done>
}
export type Registry = { readonly [N in ActName]: Act<ActInput<N>> }
export type RegistryOf<P extends string> = {
  readonly [N in Extract<ActName, `${P}.${string}`>]: Act<ActInput<N>>
}
