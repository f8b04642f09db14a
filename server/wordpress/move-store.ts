/** SQL of moves of servers between nodes, and the conditions for beginning one. */
import { randomUUID } from 'node:crypto'
import { sql, type Selectable, type Updateable } from 'kysely'
import type { DB } from '../platform/db-types.ts'
import { hours, later, type Clock } from '../platform/clock.ts'
import { databaseError, isUuid, type Queryable, type Tx } from '../platform/db.ts'
import { Refusal } from '../platform/errors.ts'
import type { Jobs } from '../platform/jobs.ts'
import { hasRewriteUnderWay, hasUnfinishedCopy } from './backup-store.ts'
import { hindranceOfLoss, knownOf, refuseHeardSince, type SaidToBeOff } from './lease-store.ts'
import { giveWay, withoutMirrorOf } from './mirror-store.ts'
import { nodeStates } from './nodes.ts'
import { place, type NodeState, type NoPlace } from './placement.ts'
import { firstNode, lockSite, type SiteRow } from './store.ts'
import { hasUpdateUnderWay } from './update-store.ts'

export type MoveRow = Selectable<DB['site_move']>
export type MoveChange = Updateable<DB['site_move']>

/** Moves one server from its node to another, or back. Payload { moveId }. */
export const moveJob = 'move-site'
/** Stops and removes what a move left behind. Payload { moveId }. */
export const clearMoveJob = 'clear-move'

/** How long the stopped original is kept. */
export const keptMs = hours(1)

/** Why a server cannot be moved at this moment; `sentenceOf` has the sentences. */
export type Hindrance =
  | 'state'
  | 'copy'
  | 'update'
  | 'rewrite'
  | 'import'
  | 'here'
  | 'runtime'
  | 'address'
  | NoPlace

const sentences: Record<Hindrance, { readonly en: string; readonly vi: string }> = {
  state: {
    en: 'The server does not run yet, or is being deleted.',
    vi: 'Máy chủ chưa chạy hoặc đang bị xoá.',
  },
  copy: {
    en: 'A backup is being made or restored, or the server is being moved already.',
    vi: 'Đang tạo hoặc khôi phục bản sao lưu, hoặc máy chủ đang được chuyển.',
  },
  update: { en: 'An update is under way.', vi: 'Đang có bản cập nhật được cài đặt.' },
  rewrite: {
    en: 'Its stored addresses are being rewritten.',
    vi: 'Đang đổi các địa chỉ đã lưu của máy chủ.',
  },
  import: {
    en: 'A site is being moved into the server.',
    vi: 'Đang có trang web được chuyển vào máy chủ này.',
  },
  here: { en: 'The server is on that node already.', vi: 'Máy chủ đã nằm trên node đó.' },
  runtime: {
    en: 'Choose a node with the same database, or name one with the other database.',
    vi: 'Cần node cùng loại cơ sở dữ liệu, hoặc chỉ định rõ một node dùng loại khác.',
  },
  address: {
    en: 'The edges of other nodes cannot reach that node: it has no address for them (--sites).',
    vi: 'Các node khác chưa kết nối được tới node đó: chưa khai báo địa chỉ (--sites).',
  },
  region: {
    en: 'No other node of its data centre can take it.',
    vi: 'Không có node nào khác trong trung tâm dữ liệu nhận được máy chủ này.',
  },
  size: {
    en: 'No other node of its data centre has a plan of its size.',
    vi: 'Không có node nào khác trong trung tâm dữ liệu chạy được gói cỡ này.',
  },
  containers: {
    en: 'No other node of its data centre gives one server so many containers.',
    vi: 'Không có node nào khác trong trung tâm dữ liệu cho phép nhiều container như vậy.',
  },
  full: {
    en: 'No other node of its data centre has room for it.',
    vi: 'Không node nào khác trong trung tâm dữ liệu còn đủ chỗ.',
  },
}
export const sentenceOf = (hindrance: Hindrance): { readonly en: string; readonly vi: string } =>
  sentences[hindrance]

export const moveById = async (db: Queryable, id: string): Promise<MoveRow | undefined> =>
  isUuid(id)
    ? await db.selectFrom('site_move').selectAll().where('id', '=', id).executeTakeFirst()
    : undefined

/** Higher than every earlier attempt of any process: the number of a database transaction. */
export async function nextAttempt(db: Queryable): Promise<number> {
  const { rows } = await sql<{ id: string }>`select pg_current_xact_id()::text as id`.execute(db)
  return Number(rows[0]?.id)
}

export const newestMove = (db: Queryable, siteId: string): Promise<MoveRow | undefined> =>
  db
    .selectFrom('site_move')
    .selectAll()
    .where('site_id', '=', siteId)
    .orderBy('seq', 'desc')
    .limit(1)
    .executeTakeFirst()

const isMovable = ({ status }: Pick<SiteRow, 'status'>): boolean =>
  status === 'running' || status === 'suspended'

/** Work of the owner or the portal on the server that a move would disturb. */
async function busyWith(db: Queryable, siteId: string): Promise<Hindrance | undefined> {
  if (await hasUnfinishedCopy(db, siteId)) return 'copy'
  if (await hasUpdateUnderWay(db, siteId)) return 'update'
  if (await hasRewriteUnderWay(db, siteId)) return 'rewrite'
  const { rows } = await sql`select from site_import where site_id = ${siteId}
    and state in ('building', 'ready', 'switching')`.execute(db)
  return rows.length > 0 ? 'import' : undefined
}

/** Whether a copy with one database can follow an original with the other: both are known. */
export const canFollow = (original: string | null, copy: string | null): boolean =>
  original !== null && copy !== null

/**
 * The node that takes the server, or why none does. `only`: the wanted node; null: any but its own.
 */
function targetOf(
  nodes: readonly NodeState[],
  site: SiteRow,
  only: string | null,
): { readonly node: string } | { readonly none: Hindrance } {
  const from = site.node_id ?? firstNode
  if (only === from) return { none: 'here' }
  const database = nodes.find(({ id }) => id === from)?.database ?? null
  const others = nodes.filter(({ id }) => id !== from && (only === null || id === only))
  // Only the operator may choose a node with another database; a drain keeps the database.
  const fits = (node: NodeState): boolean =>
    node.database === database || (only !== null && canFollow(database, node.database ?? null))
  const alike = database === null ? [] : others.filter(fits)
  if (others.length > 0 && alike.length === 0) return { none: 'runtime' }
  // Visitors who come by another edge would not reach a node without an address.
  const reached = alike.filter((node) => node.sitesAddress !== null)
  if (alike.length > 0 && reached.length === 0) return { none: 'address' }
  return place(reached, {
    regionId: site.region_id,
    containers: site.containers,
    ramMb: site.ram_mb,
    cpu: site.cpu,
  })
}

/** Why the server cannot be moved now; undefined where it can. */
export async function hindranceOf(
  db: Queryable,
  nodes: readonly NodeState[],
  site: SiteRow,
): Promise<Hindrance | undefined> {
  if (!isMovable(site)) return 'state'
  const busy = await busyWith(db, site.id)
  if (busy) return busy
  const target = targetOf(await withoutMirrorOf(db, site, nodes), site, null)
  return 'none' in target ? target.none : undefined
}

const refuse = (hindrance: Hindrance): never => {
  throw new Refusal('conflict', { fields: { server: sentences[hindrance] } })
}

export interface BegunMove {
  readonly id: string
  readonly customerId: string
  readonly name: string
  readonly from: string
  readonly to: string
}

/**
 * Begins to move a server; a job continues. `to`: null for the emptiest node that can take it.
 * Refuses with not_found, and with conflict where the server cannot be moved now.
 */
export async function beginMove(
  tx: Tx,
  { jobs, clock }: { readonly jobs: Pick<Jobs, 'add'>; readonly clock: Clock },
  of: { siteId: string; to: string | null; cause: 'act' | 'drain' },
): Promise<BegunMove> {
  const site = isUuid(of.siteId) ? await lockSite(tx, of.siteId) : undefined
  if (!site || site.deleted_at !== null) throw new Refusal('not_found')
  if (!isMovable(site)) refuse('state')
  const busy = await busyWith(tx, site.id)
  if (busy) refuse(busy)
  // The lock keeps two simultaneous moves from taking the same place.
  await sql`select from node order by id for no key update`.execute(tx)
  const nodes = await nodeStates(tx)
  if (of.to !== null && !nodes.some(({ id }) => id === of.to)) throw new Refusal('not_found')
  const target = targetOf(await withoutMirrorOf(tx, site, nodes), site, of.to)
  if ('none' in target) return refuse(target.none)
  const [id, from] = [randomUUID(), site.node_id ?? firstNode]
  try {
    await tx
      .insertInto('site_move')
      .values({
        id,
        site_id: site.id,
        from_node: from,
        to_node: target.node,
        cause: of.cause,
        state: 'copying',
        created_at: clock.now(),
      })
      .execute()
  } catch (error) {
    if (databaseError(error)?.constraint === 'site_move_open') refuse('copy')
    throw error
  }
  await giveWay(tx, site.id, target.node)
  await jobs.add(tx, moveJob, { moveId: id })
  return { id, customerId: site.customer_id, name: site.name, from, to: target.node }
}

/**
 * The move of a server whose original can replace it again. Refuses with not_found, and with
 * conflict where no original is kept, or while the server's node is away and may still take writes.
 */
export async function undoableMove(
  tx: Tx,
  clock: Clock,
  siteId: string,
  said: SaidToBeOff,
): Promise<{ readonly site: SiteRow; readonly move: MoveRow; readonly switchedAt: Date }> {
  const site = isUuid(siteId) ? await lockSite(tx, siteId) : undefined
  if (!site || site.deleted_at !== null) throw new Refusal('not_found')
  if (!isMovable(site)) refuse('state')
  const busy = await busyWith(tx, site.id)
  if (busy) refuse(busy)
  const move = await newestMove(tx, siteId)
  const isKept =
    move?.state === 'moved' &&
    move.leftover_node === move.from_node &&
    move.expires_at !== null &&
    // After a rescue the original exists again once its lost node is back.
    (move.backup_id === null || move.leftover_stopped) &&
    move.expires_at > clock.now()
  if (!isKept || move.switched_at === null)
    throw new Refusal('conflict', {
      fields: {
        server: {
          en: 'No original of this server is kept, or its node is away.',
          vi: 'Không còn bản gốc của máy chủ này, hoặc node giữ bản gốc đang mất liên lạc.',
        },
      },
    })
  const known = await knownOf(tx, move.to_node)
  if (known.isAway) {
    await refuseHeardSince(tx, move.to_node, said, 'server')
    const writesUntil = known.writesUntil?.toISOString() ?? null
    const hindrance = hindranceOfLoss({ ...known, writesUntil }, said.isOff, '--poweredOff yes')
    if (hindrance) throw new Refusal('conflict', { fields: { server: hindrance } })
  }
  return { site, move, switchedAt: move.switched_at }
}

/**
 * Begins to put the original back, as it was when the server was switched: what was written since
 * is lost. Refuses as `undoableMove`.
 */
export async function beginUndo(
  tx: Tx,
  { jobs, clock }: { readonly jobs: Pick<Jobs, 'add'>; readonly clock: Clock },
  siteId: string,
  said: SaidToBeOff,
): Promise<BegunMove & { readonly switchedAt: Date }> {
  const { site, move, switchedAt } = await undoableMove(tx, clock, siteId, said)
  await tx
    .updateTable('site_move')
    .set({ state: 'undoing', attempts: 0, reason: null })
    .where('id', '=', move.id)
    .execute()
  await jobs.add(tx, moveJob, { moveId: move.id, isOff: said.isOff })
  return {
    id: move.id,
    customerId: site.customer_id,
    name: site.name,
    from: move.to_node,
    to: move.from_node,
    switchedAt,
  }
}

/** Moves whose leftovers are to be stopped or removed at `now`. */
export async function leftoversDue(db: Queryable, now: Date): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    select m.id from site_move m join site s on s.id = m.site_id
    where m.leftover_node is not null and (m.state = 'failed'
        -- Until the edges were told, visitors are led to it.
        or (m.state in ('moved', 'undone') and m.arrived))
      and (not m.leftover_stopped or m.expires_at <= ${now} or s.deleted_at is not null)
      -- Visitors in hand end before it is stopped: its own job waits for them.
      and not exists (select from pgboss.job j where j.name = ${clearMoveJob}
        and j.state in ('created', 'retry', 'active') and j.data ->> 'moveId' = m.id::text)
    order by m.seq`.execute(db)
  return rows.map(({ id }) => id)
}

/** Sites of which the node rightly holds a copy although they run on another node. */
export async function copiesHeldBy(db: Queryable, node: string): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    select distinct site_id::text as id from site_move
    where leftover_node = ${node}
      or (to_node = ${node} and state in ('copying', 'switching', 'undoing'))
    union
    select site_id::text from site_mirror where node_id = ${node}`.execute(db)
  return rows.map(({ id }) => id)
}

/** Whether writes to the server wait for the end of a move. */
export async function isSwitching(db: Queryable, siteId: string): Promise<boolean> {
  const { rows } = await sql`select from site_move
    where site_id = ${siteId} and state = 'switching'`.execute(db)
  return rows.length > 0
}

/** When the original of a move that ends now may be removed. */
export const keptUntil = (clock: Clock): Date => later(clock.now(), keptMs)

export async function changeMove(db: Queryable, row: MoveRow, values: MoveChange): Promise<void> {
  await db.updateTable('site_move').set(values).where('id', '=', row.id).execute()
}
