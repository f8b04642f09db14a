/** Members' acts in an account, as its owner reads them. */
import { memberActs } from '../../contract/member-acts.ts'
import type { Endpoint } from '../../contract/endpoint.ts'
import type { Language } from '../../contract/errors.ts'
import type { MemberAct } from '../../contract/team.ts'
import { subjectOf } from '../../contract/token-scopes.ts'
import { dropOld } from '../platform/batches.ts'
import type { Clock } from '../platform/clock.ts'
import { newestFirst, type KeysetPage, type PageRequest } from '../platform/cursor.ts'
import { isUuid, type Queryable } from '../platform/db.ts'
import type { MemberActed } from '../platform/http-members.ts'

/** The name of a server or domain; undefined: it no longer exists. */
type NameOf = (db: Queryable, customerId: string, id: string) => Promise<string | undefined>
export interface SubjectNames {
  readonly server: NameOf
  readonly domain: NameOf
}

/** Writes down what a member has done. */
export const createNoteAct =
  (clock: Clock) =>
  async (db: Queryable, { endpoint, ownerId, member, params, ip }: MemberActed): Promise<void> => {
    const id = (params as { readonly id?: string } | undefined)?.id
    const isNamed = subjectOf(endpoint) !== undefined && id !== undefined && isUuid(id)
    await db
      .insertInto('team_act')
      .values({
        owner_id: ownerId,
        person_id: member.personId,
        person_name: member.name,
        at: clock.now(),
        call: `${endpoint.method} ${endpoint.path}`,
        subject_id: isNamed ? id : null,
        ip,
      })
      .execute()
  }

/** The newest first. */
export async function listActs(
  db: Queryable,
  names: SubjectNames,
  of: { readonly ownerId: string; readonly page: PageRequest; readonly language: Language },
): Promise<KeysetPage<MemberAct>> {
  const { ownerId, language } = of
  const query = db
    .selectFrom('team_act')
    .select(['id', 'at', 'person_name', 'call', 'subject_id', 'ip'])
    .where('owner_id', '=', ownerId)
  const { rows, next } = await newestFirst(query, 'id', of.page)
  const known = new Map<string, Promise<string | undefined>>()
  const shown = rows.map(async (row): Promise<MemberAct> => {
    const [method = 'GET', path = ''] = row.call.split(' ')
    const kind = subjectOf({ path } satisfies Pick<Endpoint, 'path'>)
    const id = row.subject_id
    if (kind && id !== null && !known.has(id)) known.set(id, names[kind](db, ownerId, id))
    return {
      id: String(row.id),
      at: row.at.toISOString(),
      name: row.person_name,
      what: memberActs[`${method} ${path}`]?.[language] ?? row.call,
      subject: kind && id !== null ? { kind, id, name: (await known.get(id)) ?? null } : null,
      ip: row.ip,
    }
  })
  return { rows: await Promise.all(shown), next }
}

export const dropOldActs = (db: Queryable, clock: Clock): Promise<void> =>
  dropOld(db, clock, 'team_act')
