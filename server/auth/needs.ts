/** What the auth module needs of others; `app/` hands it over. */
import type { Me } from '../../contract/auth.ts'
import type { Currency, RegionCode } from '../../contract/money.ts'
import type { CountryCode } from '../../contract/phone.ts'
import type { Clock } from '../platform/clock.ts'
import type { Database, Queryable, Tx } from '../platform/db.ts'
import type { Limits } from '../platform/limits.ts'
import type { Log } from '../platform/log.ts'
import type { Secrets } from '../platform/secrets.ts'
import type { OperatorOutbox } from '../realtime/index.ts'
import type { LocationOf } from './billing-details.ts'
import type { RefuseBreached } from './breached-passwords.ts'
import type { EndLive } from './session.ts'

/** Ends what a customer's programs hold, within the transaction; answers how many ended. */
export type EndPrograms = (tx: Tx, customerId: string) => Promise<number>

export interface AuthNeeds {
  readonly db: Database
  readonly log: Log
  readonly clock: Clock
  readonly secrets: Secrets
  readonly limits: Limits
  readonly outbox: OperatorOutbox
  readonly refuseBreached: RefuseBreached
  /** From one network; 0: as many as like. */
  readonly registrationsPerHour: number
  /** To all numbers together. */
  readonly smsADay: number
  /** Countries whose numbers are sent codes. */
  readonly smsCountriesOf: (region: RegionCode) => readonly CountryCode[]
  /** `until`: when it is worth nothing any more and is not sent; `from`: not before. */
  readonly sendSms: (
    tx: Tx,
    to: string,
    text: string,
    when: { readonly from?: Date; readonly until?: Date },
  ) => Promise<void>
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
  readonly closeWallets: (tx: Tx, customerIds: readonly string[]) => Promise<void>
  readonly balanceOf: (
    db: Queryable,
    customerId: string,
  ) => Promise<{ balance: bigint; currency: Currency }>
  readonly locationOf: LocationOf
  /** The place of an id as an address ends in it, while it is in the list. */
  readonly printedPlace: (id: string) => string | undefined
  /** Closes what is open under these sessions, after the commit. */
  readonly endLive: EndLive
  /** Every token, and where events are sent to: it was not the owner who made them. */
  readonly endPrograms: EndPrograms
  /**
   * Who joined an account or got other rights there since then, and every invitation: it was not
   * the owner who gave them.
   */
  readonly endTeamSince: (
    tx: Tx,
    of: { readonly customerId: string; readonly since: Date },
  ) => Promise<void>
  /** SFTP keys that were added since then. */
  readonly endKeysSince: (
    tx: Tx,
    of: { readonly customerId: string; readonly since: Date },
  ) => Promise<void>
  /** Servers and domains that are offered to others, and not taken yet. */
  readonly takeBackOffers: (tx: Tx, customerId: string) => Promise<void>
  /** Closes live logs of these accounts, after the commit; who still may comes back. */
  readonly endLogsOf: (tx: Tx, customerIds: readonly string[]) => Promise<void>
  /** In how many accounts of others a customer may work. */
  readonly countAccounts: (db: Queryable, customerId: string) => Promise<number>
  /** For links in letters, and where passkeys belong to. */
  readonly portalUrl: string
}
