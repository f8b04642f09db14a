/** The dependencies of the mail of sites. */
import type { Language } from '../../../contract/errors.ts'
import type { Catalog } from '../../catalog/index.ts'
import type { MailDriver, Outbox } from '../../messages/index.ts'
import type { Clock } from '../../platform/clock.ts'
import type { Database, Queryable, Tx } from '../../platform/db.ts'
import type { Jobs } from '../../platform/jobs.ts'
import type { Log } from '../../platform/log.ts'
import type { Secrets } from '../../platform/secrets.ts'
import type { EventOutbox } from '../../realtime/index.ts'
import type { WordpressDriver } from '../driver.ts'
import type { SiteAddressing } from '../store.ts'
import type { ReturnPaths } from './return-path.ts'

export interface MailDeps {
  readonly db: Database
  readonly clock: Clock
  readonly log: Log
  readonly jobs: Pick<Jobs, 'add' | 'define'>
  readonly secrets: Secrets
  readonly catalog: Catalog
  readonly driver: WordpressDriver
  readonly outbox: EventOutbox
  readonly addressing: SiteAddressing
  readonly portalUrl: string
  /** Sends the letters on. */
  readonly relay: Pick<MailDriver, 'relay'>
  /**
   * Addresses for reports about letters; null: reports go to the sender, and the portal does not
   * see them.
   */
  readonly returnPaths: ReturnPaths | null
  /** Puts a letter of the portal's own in its outbox. */
  readonly mail: (tx: Tx, to: string, subject: string, text: string) => Promise<void>
  /** A letter that asks to be answered. */
  readonly answerable: Outbox['answerable']
  readonly owner: (
    db: Queryable,
    customerId: string,
  ) => Promise<{ readonly email: string; readonly language: Language }>
}
