/** The dependencies of the auth module; `app/` provides them. */
import type { Me } from '../../contract/auth.ts'
import type { Currency, RegionCode } from '../../contract/money.ts'
import type { CountryCode } from '../../contract/phone.ts'
import type { Outbox } from '../messages/index.ts'
import type { Clock } from '../platform/clock.ts'
import type { Database, Queryable, Tx } from '../platform/db.ts'
import type { Limits } from '../platform/limits.ts'
import type { Log } from '../platform/log.ts'
import type { Secrets } from '../platform/secrets.ts'
import type { OperatorOutbox } from '../realtime/index.ts'
import type { LocationOf } from './billing-details.ts'
import type { RefuseBreached } from './breached-passwords.ts'
import type { EndLive } from './session.ts'

/** Ends a customer's tokens and webhooks in the transaction; answers how many ended. */
export type EndPrograms = (tx: Tx, customerId: string) => Promise<number>

export interface AuthNeeds {
  readonly db: Database
  readonly log: Log
  readonly clock: Clock
  readonly secrets: Secrets
  readonly limits: Limits
  readonly outbox: OperatorOutbox
  readonly refuseBreached: RefuseBreached
  /** Per network; 0: no limit. */
  readonly registrationsPerHour: number
  /** Daily limit for all numbers together. */
  readonly smsADay: number
  /** Countries to whose numbers codes are sent. */
  readonly smsCountriesOf: (region: RegionCode) => readonly CountryCode[]
  /** `until`: the SMS is useless after it and not sent; `from`: not sent before it. */
  readonly sendSms: (
    tx: Tx,
    to: string,
    text: string,
    when: { readonly from?: Date; readonly until?: Date },
  ) => Promise<void>
  /** A letter that asks to be answered. */
  readonly sendAnswerable: Outbox['answerable']
  readonly sendMail: (
    tx: Tx,
    to: string,
    subject: string,
    text: string,
    until?: Date,
  ) => Promise<void>
  /** The operator's name, for messages. */
  readonly brandName: string
  readonly currencyOf: (region: RegionCode) => Currency
  readonly languageOf: (region: RegionCode) => Me['language']
  readonly openWallet: (tx: Tx, customerId: string, currency: Currency) => Promise<void>
  readonly closeWallets: (tx: Tx, customerIds: readonly string[]) => Promise<readonly string[]>
  readonly balanceOf: (
    db: Queryable,
    customerId: string,
  ) => Promise<{ balance: bigint; currency: Currency }>
  readonly locationOf: LocationOf
  /** The end of an address for the id of its place; undefined: it is not in the list. */
  readonly printedPlace: (id: string) => string | undefined
  /** Closes live connections of these sessions after the commit. */
  readonly endLive: EndLive
  /** Ends every token and outgoing webhook: the owner may not have made them. */
  readonly endPrograms: EndPrograms
  /**
   * Removes members who joined or got other rights since then, and every invitation: the owner may
   * not have given them.
   */
  readonly endTeamSince: (
    tx: Tx,
    of: { readonly customerId: string; readonly since: Date },
  ) => Promise<void>
  /** Ends SFTP keys that were added since then. */
  readonly endKeysSince: (
    tx: Tx,
    of: { readonly customerId: string; readonly since: Date },
  ) => Promise<void>
  /** The reader of the mailbox has set a password: of an imported account, the first one. */
  readonly notePassword: (tx: Tx, customerId: string) => Promise<void>
  /** Withdraws open offers of servers and domains. */
  readonly takeBackOffers: (tx: Tx, customerId: string) => Promise<void>
  /**
   * Closes live logs of these accounts after the commit; readers who still have access reconnect.
   */
  readonly endLogsOf: (tx: Tx, customerIds: readonly string[]) => Promise<void>
  /** The number of other accounts that a customer may work in. */
  readonly countAccounts: (db: Queryable, customerId: string) => Promise<number>
  /** For links in letters, and as the origin of passkeys. */
  readonly portalUrl: string
}
