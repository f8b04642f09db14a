/** What the operator's desk reads of servers, and does to them. */
import { domainToASCII } from 'node:url'
import type { ServerAtDesk } from '../../contract/operator-customer-lists.ts'
import type { SuspensionCause } from '../../contract/wordpress-mail.ts'
import type { Clock } from '../platform/clock.ts'
import { newestFirst, type KeysetPage, type PageRequest } from '../platform/cursor.ts'
import { isUuid, type Queryable, type Tx } from '../platform/db.ts'
import { Refusal } from '../platform/errors.ts'
import type { Jobs } from '../platform/jobs.ts'
import { beginsLike } from '../platform/typed-search.ts'
import { alignJobs } from './product.ts'
import { firstNode, lockSite, type SiteAddressing, type SiteRow } from './store.ts'

/**
 * Finds host names that begin with the text, both ours and the customers' own; or a server by its
 * id.
 */
export async function findHosts(
  db: Queryable,
  addressing: Pick<SiteAddressing, 'host'>,
  text: string,
  limit: number,
): Promise<{ readonly customerId: string; readonly text: string }[]> {
  const ofOurs = `.${addressing.host}`
  const query = db
    .selectFrom('host as h')
    .innerJoin('site as s', 's.id', 'h.site_id')
    .select(['s.customer_id', 'h.name', 'h.kind'])
    .limit(limit)
  const lower = text.toLowerCase()
  const name = domainToASCII(
    lower.endsWith(ofOurs) ? lower.slice(0, lower.length - ofOurs.length) : lower,
  )
  if (!isUuid(text) && name === '') return []
  const rows = await (
    isUuid(text)
      ? query.where('s.id', '=', text).where('h.kind', '=', 'own')
      : query.where('h.name', 'like', beginsLike(name))
  ).execute()
  return rows.map((row) => ({
    customerId: row.customer_id,
    text: row.kind === 'custom' ? row.name : `${row.name}${ofOurs}`,
  }))
}

/** The server before an act on it, locked until the transaction ends. Refuses with not_found. */
async function heldServer(tx: Tx, id: string): Promise<SiteRow> {
  const site = isUuid(id) ? await lockSite(tx, id) : undefined
  if (!site || site.deleted_at !== null) throw new Refusal('not_found')
  return site
}

/**
 * Holds a server for the operator, whether or not it is paid for: the job of `align.ts` stops it.
 * `told`: the reason that its owner reads. Answers its customer and name. Refuses with not_found,
 * and with conflict if it is held already or does not run.
 */
export async function holdServer(
  tx: Tx,
  { clock, jobs }: { clock: Clock; jobs: Pick<Jobs, 'add'> },
  id: string,
  told: string,
): Promise<{ customerId: string; name: string }> {
  const site = await heldServer(tx, id)
  if (site.held_at !== null)
    throw new Refusal('conflict', {
      fields: {
        server: { en: 'This server is held already.', vi: 'Máy chủ này đã bị tạm ngưng.' },
      },
    })
  if (site.status !== 'running' && site.status !== 'suspended')
    throw new Refusal('conflict', {
      fields: { server: { en: 'This server does not run yet.', vi: 'Máy chủ này chưa chạy.' } },
    })
  await tx
    .updateTable('site')
    .set({ held_at: clock.now(), held_told: told })
    .where('id', '=', site.id)
    .execute()
  await jobs.add(tx, alignJobs.suspend, { subscriptionId: site.subscription_id })
  return { customerId: site.customer_id, name: site.name }
}

/**
 * Ends the hold: the server runs again, if it is paid for. Refuses with not_found, and with
 * conflict if it is not held.
 */
export async function releaseServer(
  tx: Tx,
  { jobs }: { jobs: Pick<Jobs, 'add'> },
  id: string,
): Promise<{ customerId: string; name: string }> {
  const site = await heldServer(tx, id)
  if (site.held_at === null)
    throw new Refusal('conflict', {
      fields: {
        server: { en: 'Nobody holds this server.', vi: 'Máy chủ này không bị ai tạm ngưng.' },
      },
    })
  await tx
    .updateTable('site')
    .set({ held_at: null, held_told: null })
    .where('id', '=', site.id)
    .execute()
  await jobs.add(tx, alignJobs.resume, { subscriptionId: site.subscription_id })
  return { customerId: site.customer_id, name: site.name }
}

function movesTo(move: {
  readonly state: string | null
  readonly to_node: string | null
  readonly from_node: string | null
}): string | null {
  if (move.state === 'copying' || move.state === 'switching') return move.to_node
  return move.state === 'undoing' ? move.from_node : null
}

/** One page of the customer's servers, newest first, deleted ones included. */
export async function serversOfCustomer(
  db: Queryable,
  customerId: string,
  page: PageRequest,
): Promise<KeysetPage<ServerAtDesk>> {
  const query = db
    .selectFrom('site as s')
    .leftJoinLateral(
      (eb) =>
        eb
          .selectFrom('site_move as m')
          .select(['m.state', 'm.to_node', 'm.from_node', 'm.reason', 'm.leftover_node'])
          .select(['m.expires_at', 'm.backup_id', 'm.leftover_stopped'])
          .whereRef('m.site_id', '=', 's.id')
          .orderBy('m.seq', 'desc')
          .limit(1)
          .as('m'),
      (join) => join.onTrue(),
    )
    .leftJoin('site_mail_setting as w', 'w.site_id', 's.id')
    .leftJoin('subscription as u', 'u.id', 's.subscription_id')
    .select(['s.id', 's.seq', 's.name', 's.status', 's.created_at', 's.down_reason', 's.giving_up'])
    .select(['s.held_at', 's.node_id', 'm.state', 'm.to_node', 'm.from_node', 'm.reason'])
    .select(['m.leftover_node', 'm.expires_at', 'm.backup_id', 'm.leftover_stopped'])
    .select(['s.mail_suspended', 'w.suspended_at', 'w.suspended_for', 'w.suspended_note'])
    .select('u.status as paid')
    .where('s.customer_id', '=', customerId)
  const { rows, next } = await newestFirst(query, 's.seq', page)
  const shown = rows.map((row) => ({
    id: row.id,
    name: row.name,
    status: row.status,
    createdAt: row.created_at.toISOString(),
    why: row.down_reason ?? row.giving_up,
    held: row.held_at !== null,
    overdue: row.paid === 'past_due' || row.paid === 'suspended',
    mailSuspended: row.mail_suspended
      ? {
          at: (row.suspended_at ?? row.created_at).toISOString(),
          cause: (row.suspended_for ?? 'operator') as SuspensionCause,
          note: row.suspended_note,
        }
      : null,
    node: row.node_id ?? firstNode,
    movesTo: movesTo(row),
    moveFailed: row.state === 'failed' ? row.reason : null,
    undoUntil:
      row.state === 'moved' &&
      row.leftover_node === row.from_node &&
      // After a rescue the original exists again once its lost node is back.
      (row.backup_id === null || row.leftover_stopped === true)
        ? (row.expires_at?.toISOString() ?? null)
        : null,
  }))
  return { rows: shown, next }
}

/**
 * How many servers each customer has, those being set up or deleted included; a customer without
 * any is left out.
 */
export async function ownedServersOf(
  db: Queryable,
  customerIds: readonly string[],
): Promise<ReadonlyMap<string, number>> {
  if (customerIds.length === 0) return new Map()
  const rows = await db
    .selectFrom('site')
    .select((eb) => ['customer_id', eb.fn.countAll<bigint>().as('n')])
    .where('customer_id', 'in', [...customerIds])
    .where('deleted_at', 'is', null)
    .where('status', '<>', 'failed')
    .groupBy('customer_id')
    .execute()
  return new Map(rows.map(({ customer_id: id, n }) => [id, Number(n)]))
}
/** As `ownedServersOf`, for one customer. */
export const ownedServers = async (db: Queryable, customerId: string): Promise<number> =>
  (await ownedServersOf(db, [customerId])).get(customerId) ?? 0

/** The name of a customer's server; undefined: there is no such server. */
export async function serverName(
  db: Queryable,
  customerId: string,
  id: string,
): Promise<string | undefined> {
  const row = isUuid(id)
    ? await db
        .selectFrom('site')
        .select('name')
        .where('id', '=', id)
        .where('customer_id', '=', customerId)
        .executeTakeFirst()
    : undefined
  return row?.name
}
