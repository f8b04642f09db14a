/**
 * SQL for lost nodes (decision 123): what is known of one, and which of its servers can come up
 * where, from which backup.
 */
import { randomUUID } from 'node:crypto'
import { sql } from 'kysely'
import type { NodeLoss } from '../../contract/operator-nodes.ts'
import { days, type Clock } from '../platform/clock.ts'
import type { Queryable, Tx } from '../platform/db.ts'
import { Refusal, type Sentence } from '../platform/errors.ts'
import type { Jobs } from '../platform/jobs.ts'
import { hindranceOfLoss, knownOf, refuseHeardSince, type SaidToBeOff } from './lease-store.ts'
import { takeOver, usableMirrors, withoutMirrorOf, type UsableMirror } from './mirror-store.ts'
import { sentenceOf, type Hindrance } from './move-store.ts'
import { allNodes, nodeStates, setNodeState } from './nodes.ts'
import { place, type NodeState } from './placement.ts'
import { firstNode, lockSite } from './store.ts'

/** Brings one server of a lost node up on another. Payload { moveId }. */
export const rescueJob = 'rescue-site'

export interface Candidate {
  readonly id: string
  readonly name: string
  readonly customer_id: string
  readonly status: string
  readonly region_id: number
  readonly containers: number
  readonly ram_mb: number
  readonly cpu: number
  readonly backup_id: string | null
  readonly content_at: Date | null
  readonly move_state: string | null
  readonly move_to: string | null
  readonly move_reason: string | null
  readonly is_rescue: boolean
  /** The server's mirror, if it is newer than the backup; undefined: there is none. */
  readonly mirror?: UsableMirror
}

/** Servers of a node, each with its newest proven backup and its newest move. */
export async function candidatesOn(db: Queryable, node: string): Promise<Candidate[]> {
  const { rows } = await sql<Candidate>`
    select s.id, s.name, s.customer_id, s.status, s.region_id, s.containers, s.ram_mb, s.cpu,
      b.id as backup_id, b.created_at as content_at, m.state as move_state, m.to_node as move_to,
      m.reason as move_reason, coalesce(m.backup_id is not null, false) as is_rescue
    from site s
    left join node n on n.id = coalesce(s.node_id, ${firstNode}::text)
    left join lateral (select id, created_at from site_backup
      where site_id = s.id and state = 'proven'
        and (database is null or n.database is null or database = n.database)
      order by seq desc limit 1) b on true
    left join lateral (select state, to_node, reason, backup_id, from_node from site_move
      where site_id = s.id order by seq desc limit 1) m on m.from_node = ${node}
    where coalesce(s.node_id, ${firstNode}::text) = ${node} and s.deleted_at is null
      and s.status in ('running', 'suspended', 'provisioning', 'deleting')
    order by s.seq`.execute(db)
  const mirrors = await usableMirrors(db, node)
  return rows.map((row) => {
    const mirror = mirrors.get(row.id)
    const isNewest = mirror && (row.content_at === null || mirror.contentAt >= row.content_at)
    return isNewest ? { ...row, content_at: mirror.contentAt, mirror } : row
  })
}

const noBackup: Sentence = {
  en: 'It has no backup that was verified.',
  vi: 'Máy chủ chưa có bản sao lưu nào đã được kiểm tra.',
}

export const isUnderWay = ({ move_state: state }: Candidate): boolean =>
  state === 'copying' || state === 'switching'

/** Why a server cannot come up elsewhere now, apart from room; undefined: nothing hinders it. */
export async function busyWith(db: Queryable, site: Candidate): Promise<Sentence | undefined> {
  if (site.status !== 'running' && site.status !== 'suspended') return sentenceOf('state')
  if (site.backup_id === null && !site.mirror) return noBackup
  // Work of the lost node on the server is not waited for: nobody can end it.
  const { rows } = await sql`
    select from site_import where site_id = ${site.id} and state = 'switching'
    union all
    select from site_move where site_id = ${site.id}
      and state in ('copying', 'switching', 'undoing')`.execute(db)
  return rows.length > 0 ? sentenceOf('copy') : undefined
}

/** The node that takes a server; its room is reduced for the next one. */
function placeFor(
  nodes: readonly NodeState[],
  from: string,
  site: Candidate,
): NodeState | Hindrance {
  const database = nodes.find(({ id }) => id === from)?.database ?? 'sqlite'
  const others = nodes.filter(({ id }) => id !== from)
  const alike = others.filter((node) => node.database === database)
  if (others.length > 0 && alike.length === 0) return 'runtime'
  // Visitors who come by another edge would not reach a node without an address.
  const reached = alike.filter((node) => (node.sitesAddress ?? null) !== null)
  if (alike.length > 0 && reached.length === 0) return 'address'
  const placed = place(reached, {
    regionId: site.region_id,
    containers: site.containers,
    ramMb: site.ram_mb,
    cpu: site.cpu,
  })
  if ('none' in placed) return placed.none
  return nodes.find(({ id }) => id === placed.node) ?? 'region'
}

interface Planned {
  readonly site: Candidate
  readonly to: string | null
  readonly why: Sentence | null
}

/** Where each server of the node would come up now, or why it cannot. */
async function plan(
  db: Queryable,
  node: string,
  only: string | null,
  candidates: readonly Candidate[],
): Promise<Planned[]> {
  const nodes = await nodeStates(db)
  const all: Planned[] = []
  for (const site of candidates) {
    if (isUnderWay(site) || (only !== null && site.id !== only)) continue
    const busy = await busyWith(db, site)
    if (busy) {
      all.push({ site, to: null, why: busy })
      continue
    }
    // Its place on the mirror's node is reserved.
    if (site.mirror) {
      all.push({ site, to: site.mirror.node, why: null })
      continue
    }
    const found = placeFor(await withoutMirrorOf(db, site, nodes), node, site)
    if (typeof found === 'string') {
      all.push({ site, to: null, why: sentenceOf(found) })
      continue
    }
    const at = nodes.findIndex(({ id }) => id === found.id)
    nodes[at] = { ...found, reserved: found.reserved + site.containers }
    all.push({ site, to: found.id, why: null })
  }
  return all
}

/** What is known of a node that may be lost. Changes nothing. Refuses with not_found. */
export async function lossOf(
  db: Queryable,
  node: string,
  only: string | null = null,
): Promise<NodeLoss> {
  if (!(await allNodes(db)).some(({ id }) => id === node)) throw new Refusal('not_found')
  const known = await knownOf(db, node)
  const candidates = await candidatesOn(db, node)
  // A node that can be reached keeps its servers.
  const plans = known.isAway ? await plan(db, node, only, candidates) : []
  const planned = new Map(plans.map((one) => [one.site.id, one]))
  const { rows: kept } = await sql<{
    id: string
    name: string
    to: string
    at: Date
    until: Date | null
    content: Date | null
    stopped: boolean
  }>`
    select s.id, s.name, m.to_node as to, m.switched_at as at, m.expires_at as until,
      m.content_at as content, m.leftover_stopped as stopped
    from site_move m join site s on s.id = m.site_id
    where m.leftover_node = ${node} and m.from_node = ${node} and m.backup_id is not null
      and m.state = 'moved' and coalesce(s.node_id, ${firstNode}::text) <> ${node}
    order by m.seq`.execute(db)
  return {
    node,
    isAway: known.isAway,
    heardAt: known.heardAt?.toISOString() ?? null,
    writesUntil: known.writesUntil?.toISOString() ?? null,
    isFenced: known.isFenced,
    servers: candidates
      .filter(({ id }) => only === null || id === only)
      .map((site) => {
        const found = planned.get(site.id)
        return {
          id: site.id,
          name: site.name,
          isUnderWay: isUnderWay(site) && site.is_rescue,
          to: isUnderWay(site) ? site.move_to : (found?.to ?? null),
          contentAt: site.content_at?.toISOString() ?? null,
          isMirrored: site.mirror !== undefined,
          why: isUnderWay(site) && !site.is_rescue ? sentenceOf('copy') : (found?.why ?? null),
          failed: site.move_state === 'failed' && site.is_rescue ? site.move_reason : null,
        }
      }),
    elsewhere: kept.map((one) => ({
      id: one.id,
      name: one.name,
      to: one.to,
      at: one.at.toISOString(),
      contentAt: one.content?.toISOString() ?? null,
      keptUntil: one.stopped ? (one.until?.toISOString() ?? null) : null,
    })),
  }
}

export interface BegunRescues {
  readonly servers: readonly { readonly name: string; readonly to: string }[]
  readonly stays: readonly { readonly name: string; readonly why: string }[]
}

/**
 * The loss of a node. Refuses with not_found, and with conflict while the node may still take
 * writes.
 */
export async function refuseUnlessLost(
  db: Queryable,
  { node, server, isOff }: { node: string; server: string | null; isOff: boolean },
): Promise<NodeLoss> {
  const loss = await lossOf(db, node, server)
  const hindrance = hindranceOfLoss(loss, isOff)
  if (hindrance) throw new Refusal('conflict', { fields: { node: hindrance } })
  const can = loss.servers.some(({ to, isUnderWay: comes }) => to !== null && !comes)
  if (!can)
    throw new Refusal('conflict', {
      fields: {
        node: {
          en: 'None of its servers can come up elsewhere now.',
          vi: 'Hiện chưa thể khôi phục máy chủ nào của node này ở nơi khác.',
        },
      },
    })
  return loss
}

/**
 * Begins to bring the servers of a lost node up on others; jobs continue. `server`: this one alone.
 * Refuses as `refuseUnlessLost`.
 */
export async function beginRescues(
  tx: Tx,
  { jobs, clock }: { readonly jobs: Pick<Jobs, 'add'>; readonly clock: Clock },
  of: { node: string; server: string | null } & SaidToBeOff,
): Promise<BegunRescues> {
  const { node, server } = of
  await refuseHeardSince(tx, node, of, 'node')
  await refuseUnlessLost(tx, of)
  for (const { id } of await candidatesOn(tx, node))
    if (server === null || id === server) await lockSite(tx, id)
  // The lock keeps other orders and moves from taking the same place, and portals from promising
  // the node more time.
  await sql`select from node order by id for no key update`.execute(tx)
  await refuseHeardSince(tx, node, of, 'node')
  await refuseUnlessLost(tx, of)
  const { rows } = await sql<{ at: Date }>`select clock_timestamp() as at`.execute(tx)
  const fencedAt = rows[0]?.at ?? clock.now()
  const servers: { name: string; to: string }[] = []
  const stays: { name: string; why: string }[] = []
  for (const { site, to, why } of await plan(tx, node, server, await candidatesOn(tx, node))) {
    if (to === null) {
      stays.push({ name: site.name, why: why?.en ?? '' })
      continue
    }
    await beginRescue(tx, { jobs, clock }, { site, from: node, to, fencedAt })
    servers.push({ name: site.name, to })
  }
  if (server === null) await setNodeState(tx, node, 'draining')
  return { servers, stays }
}

/**
 * Begins to bring one server up elsewhere; a job continues. The caller has locked its row and the
 * nodes.
 */
export async function beginRescue(
  tx: Tx,
  { jobs, clock }: { readonly jobs: Pick<Jobs, 'add'>; readonly clock: Clock },
  of: {
    readonly site: Pick<Candidate, 'id' | 'backup_id' | 'content_at' | 'mirror'>
    readonly from: string
    readonly to: string
    readonly fencedAt: Date
  },
): Promise<void> {
  const { site, from, to, fencedAt } = of
  // The unfinished backup ran on the lost node, so nobody can end it.
  await tx
    .updateTable('site_backup')
    .set({ state: 'failed', reason: 'the node of the server was lost' })
    .where('site_id', '=', site.id)
    .where('state', '=', 'making')
    .execute()
  const id = randomUUID()
  await tx
    .insertInto('site_move')
    .values({
      id,
      site_id: site.id,
      from_node: from,
      to_node: to,
      cause: 'act',
      // In this state acts on the server's content are refused: they would be lost.
      state: 'switching',
      backup_id: site.mirror?.id ?? site.backup_id,
      from_mirror: site.mirror !== undefined,
      content_at: site.content_at,
      fenced_at: fencedAt,
      created_at: clock.now(),
    })
    .execute()
  if (site.mirror) await takeOver(tx, site.mirror.id)
  await jobs.add(tx, rescueJob, { moveId: id })
}

/**
 * How long a server's original content is kept after its lost node is back. A server that came up
 * from a mirror lacks a minute at most, and gets no new mirror on that node meanwhile.
 */
export const keptAfterReturnMs = ({ from_mirror: isMirror }: { readonly from_mirror: boolean }) =>
  isMirror ? days(1) : days(7)

/** On each node: how many servers' old content is kept although they came up elsewhere. */
export async function keptAfterLoss(db: Queryable): Promise<ReadonlyMap<string, number>> {
  const { rows } = await sql<{ node: string; n: number }>`
    select leftover_node as node, count(*)::int as n from site_move
    where leftover_node = from_node and backup_id is not null and state = 'moved'
    group by 1`.execute(db)
  return new Map(rows.map(({ node, n }) => [node, n]))
}
