/** What an operator decides about the mail of sites, beside a portal that runs. */
import { languageOfRegion, type Catalog } from '../../catalog/index.ts'
import type { Language } from '../../../contract/errors.ts'
import type { RegionCode } from '../../../contract/money.ts'
import { isUuid, transaction, type Queryable } from '../../platform/db.ts'
import type { MailDeps } from './deps.ts'
import { keyOf, keyRecord } from './keys.ts'
import type { SuspensionCause } from './letters.ts'
import { resumeMail, suspendMail } from './suspension.ts'

type OperatorDeps = Omit<MailDeps, 'driver' | 'relay' | 'returnPaths' | 'owner'>

export interface MailOperator {
  /** By id or name. Undefined: there is no such server. False: it is so already. */
  suspend(
    server: string,
    of: { cause: SuspensionCause; note: string | null },
  ): Promise<boolean | undefined>
  resume(server: string): Promise<boolean | undefined>
  /** The record of the key that letters from names below the sites' domain are signed with. */
  ownKey(): Promise<{ readonly name: string; readonly value: string } | undefined>
}

/** The owner's address, and the language that is written in. */
const ownerBy =
  (catalog: Catalog) =>
  async (db: Queryable, customerId: string): Promise<{ email: string; language: Language }> => {
    const row = await db
      .selectFrom('customer')
      .select(['email', 'language', 'region_code'])
      .where('id', '=', customerId)
      .executeTakeFirstOrThrow()
    const language = row.language ?? languageOfRegion(catalog, row.region_code as RegionCode)
    return { email: row.email, language: language === 'vi' ? 'vi' : 'en' }
  }

export function openMailOperator(given: OperatorDeps): MailOperator {
  const deps = { ...given, owner: ownerBy(given.catalog) }
  const { db } = deps
  const idOf = async (server: string): Promise<string | undefined> =>
    (
      await db
        .selectFrom('site')
        .select('id')
        .where('deleted_at', 'is', null)
        .where(isUuid(server) ? 'id' : 'name', '=', server)
        .executeTakeFirst()
    )?.id
  return {
    async suspend(server, of) {
      const siteId = await idOf(server)
      if (siteId === undefined) return undefined
      return await transaction(db, (tx) => suspendMail(tx, deps, { siteId, ...of }))
    },
    async resume(server) {
      const siteId = await idOf(server)
      return siteId === undefined
        ? undefined
        : await transaction(db, (tx) => resumeMail(tx, deps, siteId))
    },
    async ownKey() {
      const { host } = deps.addressing
      if (!host.includes('.')) return undefined
      const key = await keyOf(deps, '', `any.${host}`)
      return { name: `${key.selector}._domainkey.${key.domain}`, value: keyRecord(key) }
    },
  }
}
