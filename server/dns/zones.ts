/** Domains: claim, show, delete. */
import { randomUUID } from 'node:crypto'
import { recordRuleText } from '../../contract/dns-records.ts'
import type { RecordRule } from '../../contract/dns-sentences.ts'
import type { Language } from '../../contract/errors.ts'
import { later, seconds, type Clock } from '../platform/clock.ts'
import type { Tx } from '../platform/db.ts'
import { Refusal } from '../platform/errors.ts'
import type { Jobs } from '../platform/jobs.ts'
import { sql } from 'kysely'
import { assignPair, readDomain } from './names.ts'
import type { Publisher } from './publish.ts'
import { lockClaims, nameOfZone, type ZoneRow } from './store.ts'

export const checkJob = 'check-domain'

/** The limit of one account's pending domains. */
const pendingLimit = 1000
/** When the parent is first queried automatically; the customer may ask for a check at any time. */
const firstCheckMs = seconds(60)

export interface ZoneDeps {
  readonly clock: Clock
  readonly jobs: Jobs
  readonly publisher: Publisher
  /** Names of name servers from which pairs are chosen. */
  readonly pool: readonly string[]
  /** The portal's own names, which nobody may claim. */
  readonly reserved: readonly string[]
}

/**
 * Creates a claim, which becomes active when the parent zone names its pair. Refuses with 409 a
 * name that another account has active, there or above, and one that is in the customer's list
 * already; with 422 a name that nobody can own.
 */
export async function createZone(
  tx: Tx,
  deps: ZoneDeps,
  of: {
    customerId: string
    typed: string
    language: Language
    /** The name servers that the parent zone names now; undefined: no answer. */
    atParent: readonly string[] | undefined
  },
): Promise<ZoneRow> {
  const { clock, publisher } = deps
  const no = (code: 'conflict' | 'invalid_input', rule: RecordRule): Refusal =>
    new Refusal(code, { fields: { name: recordRuleText(rule, of.language) } })
  const read = readDomain(of.typed, deps.reserved)
  if ('fault' in read) throw no('invalid_input', read.fault)
  const { ascii, shown } = read
  // Chosen before the lists are read, because this serializes claims.
  const nameServers = await assignPair(tx, {
    customerId: of.customerId,
    name: ascii,
    pool: deps.pool,
    atParent: of.atParent,
  })
  const around = await tx
    .selectFrom('dns_zone')
    .select(['customer_id', 'name', 'active_at'])
    .where('deleted_at', 'is', null)
    .where((eb) =>
      eb.or([
        eb('name', '=', ascii),
        eb('name', '=', sql<string>`any (dns_above(${ascii}::text))`),
      ]),
    )
    .execute()
  if (around.some((zone) => zone.name === ascii && zone.customer_id === of.customerId))
    throw no('conflict', 'domain_yours')
  const held = around.filter(
    (zone) => zone.active_at !== null && zone.customer_id !== of.customerId,
  )
  if (held.length > 0)
    throw no(
      'conflict',
      held.some((zone) => zone.name === ascii) ? 'domain_held' : 'domain_parent_held',
    )
  const { n } = await tx
    .selectFrom('dns_zone')
    .select((eb) => eb.fn.countAll<bigint>().as('n'))
    .where('customer_id', '=', of.customerId)
    .where('deleted_at', 'is', null)
    .where('active_at', 'is', null)
    .executeTakeFirstOrThrow()
  if (Number(n) >= pendingLimit) throw no('invalid_input', 'domain_limit')
  if (!nameServers) throw no('conflict', 'domain_pairs_used')
  const now = clock.now()
  const zone = await tx
    .insertInto('dns_zone')
    .values({
      id: randomUUID(),
      customer_id: of.customerId,
      name: ascii,
      shown_name: shown,
      name_servers: [...nameServers],
      serial: BigInt(Math.floor(now.getTime() / 1000)),
      created_at: now,
      next_check_at: later(now, firstCheckMs),
    })
    .returningAll()
    .executeTakeFirstOrThrow()
  await publisher.reconsider(tx, ascii)
  // Check at once too: if the name is delegated to our name servers for another account, it must
  // not be served for this one.
  await deps.jobs.add(tx, checkJob, { zoneId: zone.id })
  return zone
}

/** Deletes the records; the name's row records which accounts had it, and with which pair. */
export async function deleteZone(
  tx: Tx,
  deps: ZoneDeps,
  of: { customerId: string; zoneId: string },
): Promise<{ id: string }> {
  const name = await nameOfZone(tx, of.customerId, of.zoneId)
  // Another account may delete its claim of the same name at this moment.
  const zone = (await lockClaims(tx, name)).find(({ id }) => id === of.zoneId)
  if (!zone) throw new Refusal('not_found')
  await tx.deleteFrom('dns_record').where('zone_id', '=', zone.id).execute()
  await tx
    .updateTable('dns_zone')
    .set({ deleted_at: deps.clock.now(), active_at: null })
    .where('id', '=', zone.id)
    .execute()
  await deps.publisher.reconsider(tx, zone.name)
  return { id: zone.id }
}
