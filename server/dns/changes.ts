/** The change log: who changed what and when; and undoing a change. */
import { sql } from 'kysely'
import { shownStates, type Change } from '../../contract/dns-changes.ts'
import { recordRuleText } from '../../contract/dns-records.ts'
import type { Language } from '../../contract/errors.ts'
import { newestFirst, type KeysetPage, type PageRequest } from '../platform/cursor.ts'
import type { Queryable, Tx } from '../platform/db.ts'
import { Refusal } from '../platform/errors.ts'
import { edit, type EditDeps } from './edit.ts'
import { lockZone, recordsById, stateOf, type KeptRecord } from './store.ts'

interface ChangeRow {
  readonly id: bigint
  readonly at: Date
  readonly action: string
  readonly before: unknown
  readonly after: unknown
  readonly undone_at: Date | null
  readonly by_former_owner: boolean
  readonly person_id: string | null
  readonly token_name: string | null
  /** Set if only the first records of each side were read. */
  readonly before_count?: number
  readonly after_count?: number
}

const kept = (json: unknown): readonly KeptRecord[] => json as KeptRecord[]

export const presentChange = (row: ChangeRow, { who, by }: Pick<Change, 'who' | 'by'>): Change => ({
  id: String(row.id),
  at: row.at.toISOString(),
  who,
  by,
  action: row.action as Change['action'],
  before: kept(row.before).slice(0, shownStates).map(stateOf),
  after: kept(row.after).slice(0, shownStates).map(stateOf),
  beforeCount: row.before_count ?? kept(row.before).length,
  afterCount: row.after_count ?? kept(row.after).length,
  undoneAt: row.undone_at?.toISOString() ?? null,
})

const firstStates = `$[0 to ${shownStates - 1}]`
const whose = ['by_former_owner', 'person_id', 'token_name'] as const
const columns = ['id', 'at', 'action', 'before', 'after', 'undone_at', ...whose] as const

/** Newest first. */
export async function changePage(
  db: Queryable,
  of: PageRequest & { zoneId: string },
): Promise<KeysetPage<ChangeRow>> {
  // An import may have ten thousand records; a list shows the first ones.
  const query = db
    .selectFrom('dns_change')
    .select([
      'id',
      'at',
      'action',
      'undone_at',
      ...whose,
      sql<unknown>`jsonb_path_query_array(before, ${firstStates}::jsonpath)`.as('before'),
      sql<unknown>`jsonb_path_query_array(after, ${firstStates}::jsonpath)`.as('after'),
      sql<number>`jsonb_array_length(before)`.as('before_count'),
      sql<number>`jsonb_array_length(after)`.as('after_count'),
    ])
    .where('zone_id', '=', of.zoneId)
  return await newestFirst(query, 'id', of)
}

/**
 * Undoes a change: restores the removed records and removes the added ones. That is a change of its
 * own, which can be undone in turn. Refuses with conflict (409) if the records were changed since,
 * and with 422 if the present records do not allow the old ones.
 */
export async function undo(
  tx: Tx,
  deps: EditDeps,
  of: { customerId: string; zoneId: string; changeId: string; language: Language },
): Promise<ChangeRow> {
  const zone = await lockZone(tx, of.customerId, of.zoneId)
  const change = /^\d{1,18}$/.test(of.changeId)
    ? await tx
        .selectFrom('dns_change')
        .select(columns)
        .where('id', '=', BigInt(of.changeId))
        .where('zone_id', '=', zone.id)
        .executeTakeFirst()
    : undefined
  if (!change) throw new Refusal('not_found')
  const conflict = (rule: 'change_undone' | 'change_overtaken'): Refusal =>
    new Refusal('conflict', { fields: { change: recordRuleText(rule, of.language) } })
  if (change.undone_at !== null) throw conflict('change_undone')

  const was = kept(change.before)
  const became = kept(change.after)
  const present = await recordsById(
    tx,
    zone.id,
    [...was, ...became].map(({ id }) => id),
  )
  const asLeft =
    present.length === became.length &&
    became.every(({ id, version }) =>
      present.some((now) => now.id === id && now.version === version),
    )
  if (!asLeft) throw conflict('change_overtaken')
  const versionOf = (record: KeptRecord): number =>
    (became.find(({ id }) => id === record.id)?.version ?? record.version) + 1
  const { changeId: id } = await edit(tx, deps, zone, {
    ...of,
    action: 'undo',
    before: present,
    after: was.map((record) => ({ ...record, version: versionOf(record) })),
  })
  await tx
    .updateTable('dns_change')
    .set({ undone_at: deps.clock.now() })
    .where('id', '=', change.id)
    .execute()
  return await tx
    .selectFrom('dns_change')
    .select(columns)
    .where('id', '=', id)
    .executeTakeFirstOrThrow()
}
