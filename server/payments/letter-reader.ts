/** The dependencies of letters to a customer, and their reader. */
import type { Language } from '../../contract/errors.ts'
import type { RegionCode } from '../../contract/money.ts'
import { languageOfRegion, zoneOfReader, type Catalog } from '../catalog/index.ts'
import type { Outbox } from '../messages/index.ts'
import type { Clock } from '../platform/clock.ts'
import type { Tx } from '../platform/db.ts'
import type { EventOutbox } from '../realtime/index.ts'
import type { Ledger } from '../wallet/index.ts'

export interface LetterDeps {
  readonly clock: Clock
  readonly catalog: Catalog
  readonly ledger: Ledger
  readonly outbox: EventOutbox
  readonly mail: (tx: Tx, to: string, subject: string, text: string) => Promise<void>
  /** A letter that asks to be answered. */
  readonly answerable: Outbox['answerable']
  readonly portalUrl: string
}

/** The address for letters to a customer, and their language and time zone. */
export async function readerOf(
  { catalog }: Pick<LetterDeps, 'catalog'>,
  tx: Tx,
  customerId: string,
): Promise<{
  readonly email: string
  readonly language: Language
  readonly timeZone: string
}> {
  const customer = await tx
    .selectFrom('customer')
    .select(['email', 'language', 'region_code', 'time_zone'])
    .where('id', '=', customerId)
    .executeTakeFirstOrThrow()
  const region = customer.region_code as RegionCode
  const preferred = customer.language ?? languageOfRegion(catalog, region)
  return {
    email: customer.email,
    language: preferred === 'vi' ? 'vi' : 'en',
    timeZone: zoneOfReader(catalog, { timeZone: customer.time_zone, regionCode: region }),
  }
}
