import { dns as api, dnsChanges } from '../../contract/index.ts'
import type { Check } from '../../contract/dns.ts'
import { recordRuleText } from '../../contract/dns-records.ts'
import { namesThatMatter, warningsOf } from '../../contract/dns-warnings.ts'
import type { Language } from '../../contract/errors.ts'
import { encodeCursor, pageRequest } from '../platform/cursor.ts'
import { transaction, type Database, type Queryable, type Tx } from '../platform/db.ts'
import { Refusal } from '../platform/errors.ts'
import { Page, type Caller, type Http } from '../platform/http.ts'
import type { Limit } from '../platform/limits.ts'
import { changedSince } from './change-log.ts'
import { changePage, presentChange, undo } from './changes.ts'
import { readDomain } from './names.ts'
import { pointAt, type SiteTarget } from './point.ts'
import {
  addRecord,
  changeRecord,
  deleteRecord,
  deleteRecords,
  type RecordDeps,
  type Written,
} from './records.ts'
import { recordPage, zonePage } from './search.ts'
import {
  presentDomain,
  presentRecord,
  presentWritten,
  recordsAt,
  recordsById,
  stateOf,
  zoneById,
  zoneOf,
  zoneNamed,
} from './store.ts'
import type { Verifier } from './verify.ts'
import { changedBy, namesOf, type NameNeeds } from './who.ts'
import { exportZone, importZone } from './zone-text.ts'
import { createZone, deleteZone, type ZoneDeps } from './zones.ts'

export interface DnsRouteDeps extends RecordDeps, ZoneDeps, NameNeeds {
  readonly db: Database
  readonly verifier: Verifier
  /** Limit on queries of parent zones, which are other people's servers. */
  readonly checks: Limit
  readonly claims: Limit
  /**
   * Limit on claims of one name by one account: repeated adding and deleting would cycle through
   * the pairs of name servers.
   */
  readonly claimsOfName: Limit
  /** Limits on one account's changes: of single records, and of many records at once. */
  readonly recordWrites: Limit
  readonly manyWrites: Limit
  /** The SOA's mailbox in the notation of a name. */
  readonly contact: string
  /**
   * Makes a site answer on names of a domain that is active in the same account. Refuses a site
   * that takes no names any more, even without names.
   */
  readonly adopt: (
    tx: Tx,
    customerId: string,
    siteId: string,
    names: readonly string[],
  ) => Promise<void>
  /**
   * The address of the customer's WordPress server; undefined: not the customer's. Refuses a server
   * that takes no names.
   */
  readonly siteOf: (customerId: string, id: string) => Promise<SiteTarget | undefined>
}

export function routes(http: Http, deps: DnsRouteDeps): void {
  const { db, capabilities } = deps

  /** What records are written with, and for whom: whoever calls is in the change log. */
  const as = async (from: Queryable, caller: Caller | undefined): Promise<RecordDeps> => ({
    ...deps,
    by: await changedBy(from, deps, caller),
  })
  const countWrite = ({ customerId }: { readonly customerId: string }) =>
    deps.recordWrites.take(customerId)
  const countMany = ({ customerId }: { readonly customerId: string }) =>
    deps.manyWrites.take(customerId)

  const presentWithWarnings = async (
    tx: Tx,
    zoneId: string,
    written: Written,
    language: Language,
  ) => {
    const { name } = await zoneById(tx, zoneId)
    const beside = await recordsAt(tx, zoneId, namesThatMatter(written.record, name))
    return presentWritten(written, warningsOf(beside, name)(written.record), language)
  }

  http.read(api.listDomains, async ({ customerId, caller, query, language }) => {
    const { rows, next } = await zonePage(db, {
      customerId,
      only: caller?.limits?.domains ?? null,
      search: query.search ?? '',
      ...pageRequest(query, language),
    })
    return new Page(
      { data: rows.map((zone) => presentDomain(zone, capabilities)) },
      encodeCursor(next),
    )
  })
  http.write(
    api.createDomain,
    async ({ customerId, body }) => {
      await deps.claims.take(customerId)
      const read = readDomain(body.name, deps.reserved)
      if ('fault' in read) return undefined
      await deps.claimsOfName.take(`${customerId} ${read.ascii}`)
      return await deps.verifier.atParent(read.ascii)
    },
    async ({ tx, customerId, body, language, prepared: atParent }) =>
      presentDomain(
        await createZone(tx, deps, { customerId, typed: body.name, language, atParent }),
        capabilities,
      ),
  )
  http.read(api.checkDomain, async ({ customerId, caller, query, language }): Promise<Check> => {
    const read = readDomain(query.domain, [])
    if ('fault' in read && read.fault === 'domain_public_suffix') {
      const advice = recordRuleText('domain_public_suffix', language)
      return {
        isValid: false,
        expected: [],
        found: [],
        reason: 'public_suffix',
        advice,
        warnings: [],
      }
    }
    const zone = 'fault' in read ? undefined : await zoneNamed(db, customerId, read.ascii)
    const only = caller?.limits?.domains ?? null
    // What a token or member is not limited to does not exist for them, as in lists.
    if (!zone || (only !== null && !only.includes(zone.id))) throw new Refusal('not_found')
    await deps.checks.take(customerId)
    return await deps.verifier.check(zone, language)
  })
  http.read(api.getDomain, async ({ customerId, params }) =>
    presentDomain(await zoneOf(db, customerId, params.id), capabilities),
  )
  http.write(api.deleteDomain, ({ tx, customerId, params }) =>
    deleteZone(tx, deps, { customerId, zoneId: params.id }),
  )

  http.read(api.listRecords, async ({ customerId, params, query, language }) => {
    const zone = await zoneOf(db, customerId, params.id)
    const wanted = { type: query.type || undefined, name: query.name, search: query.search ?? '' }
    const { records, next } = await recordPage(db, {
      zone,
      ...wanted,
      ...pageRequest(query, language),
    })
    return new Page(
      { data: records.map(presentRecord), serial: Number(zone.serial) },
      encodeCursor(next),
    )
  })
  http.read(api.changedRecords, async ({ customerId, params, query }) => {
    const zone = await zoneOf(db, customerId, params.id)
    const { records, gone } = await changedSince(db, zone, query.since)
    return { serial: Number(zone.serial), data: records?.map(presentRecord) ?? null, gone }
  })
  http.write(
    api.addRecord,
    countWrite,
    async ({ tx, customerId, caller, params, body, language }) =>
      presentWithWarnings(
        tx,
        params.id,
        await addRecord(tx, await as(tx, caller), {
          customerId,
          zoneId: params.id,
          body,
          language,
        }),
        language,
      ),
  )
  http.read(api.getRecord, async ({ customerId, params }) => {
    const zone = await zoneOf(db, customerId, params.id)
    const [record] = await recordsById(db, zone.id, [params.recordId])
    if (!record) throw new Refusal('not_found')
    return presentRecord(record)
  })
  http.write(
    api.updateRecord,
    countWrite,
    async ({ tx, customerId, caller, params, body: { version, ...body }, language }) =>
      presentWithWarnings(
        tx,
        params.id,
        await changeRecord(tx, await as(tx, caller), {
          customerId,
          zoneId: params.id,
          recordId: params.recordId,
          body,
          version,
          language,
        }),
        language,
      ),
  )
  http.write(
    api.deleteRecord,
    countWrite,
    async ({ tx, customerId, caller, params, query, language }) => {
      const input = {
        customerId,
        zoneId: params.id,
        recordId: params.recordId,
        version: query.version,
        language,
      }
      const { id, changeId } = await deleteRecord(tx, await as(tx, caller), input)
      return { id, changeId: String(changeId) }
    },
  )
  http.write(
    api.deleteRecords,
    countMany,
    async ({ tx, customerId, caller, params, body, language }) => {
      const { deleted, changeId } = await deleteRecords(tx, await as(tx, caller), {
        customerId,
        zoneId: params.id,
        ids: body.ids,
        language,
      })
      return { deleted, changeId: String(changeId) }
    },
  )

  http.file(dnsChanges.exportZone, async ({ customerId, params }) => {
    const zone = await zoneOf(db, customerId, params.id)
    const text = await exportZone(db, zone, deps.contact)
    const chunks = (async function* () {
      yield text
    })()
    return { name: `${zone.name}.zone`, type: 'text/plain; charset=utf-8', chunks }
  })
  http.write(
    dnsChanges.importZone,
    // A preview writes nothing.
    async (call) => {
      if (!call.body.preview) await countMany(call)
    },
    async ({ tx, customerId, caller, params, body, language }) =>
      importZone(tx, await as(tx, caller), { ...body, customerId, zoneId: params.id, language }),
  )

  http.read(dnsChanges.listChanges, async ({ customerId, params, query, language }) => {
    const zone = await zoneOf(db, customerId, params.id)
    const { rows, next } = await changePage(db, {
      zoneId: zone.id,
      ...pageRequest(query, language),
    })
    const nameOf = namesOf(db, deps, { ownerId: customerId, language })
    const data = await Promise.all(rows.map(async (row) => presentChange(row, await nameOf(row))))
    return new Page({ data }, encodeCursor(next))
  })
  http.write(
    dnsChanges.undoChange,
    countMany,
    async ({ tx, customerId, caller, params, language }) => {
      const change = await undo(tx, await as(tx, caller), {
        customerId,
        zoneId: params.id,
        changeId: params.changeId,
        language,
      })
      const nameOf = namesOf(tx, deps, { ownerId: customerId, language })
      return presentChange(change, await nameOf(change))
    },
  )
  http.act(dnsChanges.pointAtServer, async ({ customerId, caller, params, body, language }) => {
    const zone = await zoneOf(db, customerId, params.id)
    const target = await deps.siteOf(customerId, body.wp)
    if (!target) throw new Refusal('not_found')
    if (target.addresses.length === 0) throw new Refusal('provider_unavailable')
    if (!body.preview) await deps.manyWrites.take(customerId)
    const { changeId, added, removed, records, domains } = await transaction(db, async (tx) => {
      const pointed = await pointAt(tx, await as(tx, caller), {
        customerId,
        zoneId: zone.id,
        language,
        target,
        preview: body.preview,
      })
      if (!body.preview) await deps.adopt(tx, customerId, body.wp, pointed.domains)
      return pointed
    })
    return {
      changeId: changeId === null ? null : String(changeId),
      added: added.map(stateOf),
      removed: removed.map(stateOf),
      data: records.map(presentRecord),
      domains,
    }
  })
}
