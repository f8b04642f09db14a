/**
 * The lease until which a node may take writes, the servers for which it answers no visitor
 * (decision 123), and what may be done while it is away.
 */
import { sql } from 'kysely'
import type { NodeLoss } from '../../contract/operator-nodes.ts'
import { hours, minutes } from '../platform/clock.ts'
import { transaction, type Database, type Queryable, type Tx } from '../platform/db.ts'
import { Refusal, type Sentence } from '../platform/errors.ts'
import { inVietnam } from '../platform/vietnam-time.ts'
import { isAwaySql } from './nodes.ts'
import { firstNode } from './store.ts'

/** Waited beyond the lease: requests under way end, and two clocks may differ. */
export const leaseMarginMs = minutes(5)

/** If a node's clock lags behind by more, ms, it was restarted: another process answers there. */
const restartedMs = 1_000

/** What a node is told about those of its servers that need special treatment. */
export interface LeaseDetails {
  /** Grows with every promise to the node: a later promise replaces an earlier one. */
  readonly order: number
  /**
   * Servers that are elsewhere by now, while edges may still send visitors here: the node takes no
   * writes for them.
   */
  readonly readOnly: readonly string[]
  /** Servers with a mirror, for which it takes writes for `ms`; null: as long as for its others. */
  readonly mirrored: { readonly ms: number; readonly sites: readonly string[] } | null
}

/** How long a node that hears from no portal may take writes, ms; null: without an end. */
export interface Leases {
  readonly wholeMs: number | null
  /** The same for servers with a mirror; null: as for the others (decision 135). */
  readonly mirroredMs: number | null
}

/** What a node is told together with a promise. */
export interface LeasePromise extends LeaseDetails {
  /** How long it may take writes, ms; null: without an end. */
  readonly leaseMs: number | null
  /** It may take writes without an end until it has answered; `noteEnd` is called then. */
  readonly hadNoEnd: boolean
  /** Servers that are elsewhere: the node answers no visitor for them. */
  readonly withheld: readonly string[]
}

/** A server that is elsewhere; `told`: the edges know it. */
interface Moved {
  readonly id: string
  readonly told: boolean
}

/**
 * Stores, before it is promised, that a node may take writes for so long; null: without an end.
 * What the node is told of its servers is read in the same transaction. Where no other node could
 * take its servers the lease has no end either: it would only make them read-only, without any
 * gain.
 */
export const promiseLease = (
  db: Database,
  node: string,
  mark: number | null,
  { wholeMs, mirroredMs }: Leases,
): Promise<LeasePromise> =>
  transaction(db, async (tx) => {
    // A switch of a move locks this row, too: whichever comes later sees the other.
    await sql`select from node where id = ${node} for no key update`.execute(tx)
    const { rows: known } = await sql<{ endless: boolean; others: boolean; goesOn: boolean }>`
      select n.lease_until is null as endless,
        coalesce(n.mirrors_told_at = n.lease_at, false)
          -- Its clock has gone on with ours: the process that was promised something runs still.
          and coalesce(${mark}::float8 - n.lease_mark > ${-restartedMs}::float8 + 1000 *
            extract(epoch from clock_timestamp() - n.lease_at), false) as "goesOn", exists (
        select from node o where o.id <> n.id and o.state = 'active'
          and o.sites_address is not null
          and (o.regions is null or n.regions is null or o.regions && n.regions)) as others
      from node n where n.id = ${node}`.execute(tx)
    const leaseMs = known[0]?.others === true ? wholeMs : null
    const hadNoEnd = known[0]?.endless ?? true
    const { rows: promised } = await sql<{ order: number; moved: Moved[] | null }>`
      with moved as (
        select m.site_id::text as id,
          bool_or(m.arrived or (m.backup_id is not null and m.state = 'moved')) as told
        from site_move m join site s on s.id = m.site_id
        where m.leftover_node = ${node} and m.state in ('moved', 'undoing', 'undone')
          and coalesce(s.node_id, ${firstNode}::text) <> ${node}
        group by m.site_id)
      update node
      set lease_mark = ${mark}::float8,
        lease_at = greatest(clock_timestamp(), lease_at + interval '1 microsecond'),
        lease_until = case
          -- An end counts once the node has heard of it.
          when ${leaseMs}::float8 is null or lease_until is null then null
          else greatest(lease_until,
            clock_timestamp() + ${leaseMs}::float8 * interval '1 millisecond') end
      where id = ${node}
      returning (extract(epoch from lease_at) * 1000000)::float8 as order,
        (select jsonb_agg(moved) from moved) as moved`.execute(tx)
    const moved = promised[0]?.moved ?? []
    const goesOn = known[0]?.goesOn ?? false
    const sites =
      mirroredMs === null ? [] : await promiseMirrored(tx, node, { ms: mirroredMs, goesOn })
    return {
      leaseMs,
      hadNoEnd,
      order: promised[0]?.order ?? 0,
      withheld: moved.filter(({ told }) => told).map(({ id }) => id),
      readOnly: moved.filter(({ told }) => !told).map(({ id }) => id),
      mirrored: mirroredMs === null ? null : { ms: mirroredMs, sites },
    }
  })

/**
 * Servers of the node that can come up from a mirror. Where the node has confirmed that it keeps to
 * the short time, its servers may take writes for longer from now on; otherwise once it has
 * answered (`noteMirrored`).
 * @param goesOn whether the promise before named such servers, too
 */
async function promiseMirrored(
  tx: Tx,
  node: string,
  { ms, goesOn }: { readonly ms: number; readonly goesOn: boolean },
): Promise<string[]> {
  await sql`update node set mirrors_told_at = lease_at where id = ${node}`.execute(tx)
  // The node is not told of these: it takes writes for them as for its other servers.
  await sql`update site_mirror set writes_until = null
    where from_node = ${node} and not (state = 'following' and content_at is not null)`.execute(tx)
  const { rows } = await sql<{ site_id: string }>`
    update site_mirror set writes_until = case when ${goesOn} and writes_until is not null then
      greatest(writes_until, clock_timestamp() + ${ms}::float8 * interval '1 millisecond') end
    where from_node = ${node} and state = 'following' and content_at is not null
    returning site_id`.execute(tx)
  return rows.map(({ site_id: id }) => id)
}

/** The node now has an older release or no lease, so it keeps to no short time. */
export async function forgetMirrored(db: Queryable, node: string): Promise<void> {
  await sql`update site_mirror set writes_until = null
    where from_node = ${node} and writes_until is not null`.execute(db)
}

/** Records that the node keeps to the short time, if no portal has promised it anything since. */
export async function noteMirrored(
  db: Queryable,
  node: string,
  { order, mirrored }: Pick<LeaseDetails, 'order' | 'mirrored'>,
): Promise<void> {
  if (!mirrored || mirrored.sites.length === 0) return
  await sql`
    update site_mirror m
    set writes_until = clock_timestamp() + ${mirrored.ms}::float8 * interval '1 millisecond'
    from node n
    where n.id = ${node} and m.from_node = n.id and m.site_id = any(${mirrored.sites}::uuid[])
      and m.state = 'following' and m.writes_until is null
      and (extract(epoch from n.lease_at) * 1000000)::float8 = ${order}::float8`.execute(db)
}

/**
 * Nodes to which one of these sites (null: any) has come back, which were told to answer no visitor
 * for it and may not have been told otherwise yet.
 */
export async function returnedTo(
  db: Queryable,
  sites: readonly string[] | null,
): Promise<string[]> {
  const { rows } = await sql<{ node: string }>`
    select distinct m.leftover_node as node from site_move m join site s on s.id = m.site_id
    where m.leftover_node is not null and coalesce(s.node_id, ${firstNode}::text) = m.leftover_node
      and (${sites}::uuid[] is null or s.id = any(${sites}::uuid[]))`.execute(db)
  return rows.map(({ node }) => node)
}

/** Records that the node knows of the lease's end, if no portal has promised it anything since. */
export async function noteEnd(
  db: Queryable,
  node: string,
  { order, leaseMs }: { readonly order: number; readonly leaseMs: number },
): Promise<void> {
  await sql`
    update node
    set lease_until = clock_timestamp() + ${leaseMs}::float8 * interval '1 millisecond'
    where id = ${node} and lease_until is null
      and (extract(epoch from lease_at) * 1000000)::float8 = ${order}::float8`.execute(db)
}

/** How long the original is held where the lease has no end. */
const holdWithoutEndMs = hours(24)
/** Least hold, for requests and rounds under way. */
const leastHoldMs = minutes(10)

/** How long the original of a server that is elsewhere must hold writes, ms: past its lease. */
export async function fenceMsOf(db: Queryable, node: string): Promise<number> {
  const { rows } = await sql<{ ms: number | null }>`
    select (extract(epoch from lease_until - clock_timestamp()) * 1000)::float8 as ms
    from node where id = ${node}`.execute(db)
  const ms = rows[0]?.ms ?? null
  if (ms === null) return holdWithoutEndMs
  return Math.max(leastHoldMs, Math.ceil(ms) + leaseMarginMs)
}

/** Whether a portal was in touch with the node after `since`; the node's row stays locked. */
export async function isBackSince(tx: Tx, node: string, since: Date): Promise<boolean> {
  const { rows } = await sql<{ back: boolean }>`
    select coalesce(lease_at > ${since}, false) as back from node
    where id = ${node} for no key update`.execute(tx)
  return rows[0]?.back ?? false
}

/** What is known about whether a node runs. */
export interface Known {
  /** It was not heard of for a minute. */
  readonly isAway: boolean
  /** When it was last heard of; null: never. */
  readonly heardAt: Date | null
  /** Until when it may take writes, margin included; null: it keeps to no lease. */
  readonly writesUntil: Date | null
  readonly isFenced: boolean
}
export async function knownOf(db: Queryable, node: string): Promise<Known> {
  const margin = sql`${leaseMarginMs}::float8 * interval '1 millisecond'`
  const { rows } = await sql<{
    heard: Date | null
    until: Date | null
    over: boolean | null
    away: boolean
  }>`
    select greatest(last_seen, lease_at) as heard, lease_until + ${margin} as until,
      clock_timestamp() > lease_until + ${margin} as over, ${isAwaySql} as away
    from node where id = ${node}`.execute(db)
  const [row] = rows
  return {
    isAway: row?.away ?? true,
    heardAt: row?.heard ?? null,
    writesUntil: row?.until ?? null,
    isFenced: row?.over ?? false,
  }
}

const untilText = (at: Date): string => inVietnam(at).slice(0, 16).replace('T', ' ')

/**
 * Why the node cannot be given up now; undefined: it can. `word`: the option that says at the shell
 * that it is off.
 */
export function hindranceOfLoss(
  { isAway, writesUntil, isFenced }: Pick<NodeLoss, 'isAway' | 'writesUntil' | 'isFenced'>,
  isOff: boolean,
  word = '--powered-off',
): Sentence | undefined {
  if (!isAway)
    return {
      en: 'The node was heard of within the last minute: it is not lost.',
      vi: 'Node vẫn liên lạc được trong một phút qua: node chưa mất.',
    }
  if (isFenced || isOff) return undefined
  if (writesUntil === null)
    return {
      en:
        'The machine keeps to no lease and may still take writes. Say that it is off only when ' +
        `you know it (at the shell: ${word}).`,
      vi:
        'Máy này không có thời hạn ghi nên có thể vẫn đang ghi dữ liệu. Chỉ xác nhận máy đã tắt ' +
        `khi bạn biết chắc (ở dòng lệnh: ${word}).`,
    }
  const until = untilText(new Date(writesUntil))
  return {
    en:
      `The machine may still take writes until ${until} (Vietnam time). Say that it is off only ` +
      `when you know it (at the shell: ${word}).`,
    vi:
      `Máy có thể vẫn ghi dữ liệu đến ${until} (giờ Việt Nam). Chỉ xác nhận máy đã tắt ` +
      `khi bạn biết chắc (ở dòng lệnh: ${word}).`,
  }
}

/** The operator's statement in an act that was proposed and is approved later on. */
export interface SaidToBeOff {
  /** Whether the operator says that the machine is off. */
  readonly isOff: boolean
  /** How long ago that was said, ms. */
  readonly saidMsAgo: number
}

/** Refuses with conflict, at this field, where a node said to be off was heard of since. */
export async function refuseHeardSince(
  db: Queryable,
  node: string,
  { isOff, saidMsAgo }: SaidToBeOff,
  field: string,
): Promise<void> {
  if (!isOff) return
  const { rows } = await sql<{ heard: boolean | null }>`
    select greatest(last_seen, lease_at) >
      clock_timestamp() - ${saidMsAgo}::float8 * interval '1 millisecond' as heard
    from node where id = ${node}`.execute(db)
  if (rows[0]?.heard !== true) return
  throw new Refusal('conflict', {
    fields: {
      [field]: {
        en: 'The machine was heard of after this was proposed: it was not off. Propose it again.',
        vi: 'Máy vẫn liên lạc được sau khi đề xuất, nên máy chưa tắt. Hãy đề xuất lại.',
      },
    },
  })
}
