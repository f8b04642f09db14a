/** The dependencies of tickets on the other modules. */
import type { Language } from '../../contract/errors.ts'
import type { TicketObjectKind } from '../../contract/tickets.ts'
import type { Clock } from '../platform/clock.ts'
import type { Queryable, Tx } from '../platform/db.ts'
import type { EventOutbox, OperatorOutbox } from '../realtime/index.ts'
import type { ReplyAddresses } from './mail/reply-address.ts'

/** The name of what a customer has, as lists show it; undefined: the customer has no such thing. */
export type ObjectNames = Readonly<
  Record<
    TicketObjectKind,
    (db: Queryable, customerId: string, id: string) => Promise<string | undefined>
  >
>

export interface TicketDeps {
  readonly clock: Clock
  readonly outbox: Pick<EventOutbox, 'publishEvent'> & OperatorOutbox
  readonly letter: (
    tx: Tx,
    letter: {
      readonly to: string
      readonly subject: string
      readonly text: string
      readonly replyTo: string | undefined
    },
  ) => Promise<void>
  readonly customer: (
    db: Queryable,
    id: string,
  ) => Promise<{ readonly email: string; readonly name: string; readonly language: Language }>
  readonly objects: ObjectNames
  readonly portalUrl: string
  readonly brandName: string
  /** Null: letters are not accepted. */
  readonly addresses: ReplyAddresses | null
}
