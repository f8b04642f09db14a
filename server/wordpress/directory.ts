/**
 * Tells every edge which site each host name belongs to, and that site's state. An edge keeps the
 * version of its table, a snapshot of the database (migration 0059), so that any process can tell
 * it what changed since. A change made by this process is told at once, one made by another within
 * seconds.
 */
import { sql } from 'kysely'
import { dropOld } from '../platform/batches.ts'
import { systemClock, minutes } from '../platform/clock.ts'
import type { Database } from '../platform/db.ts'
import type { Log } from '../platform/log.ts'
import { createRounds, type Rounds } from '../platform/rounds.ts'
import { returnedTo, type LeaseDetails } from './lease-store.ts'
import { hostRows, type HostRow, type SiteAddressing } from './store.ts'

/** An entry of an edge's table of host names. The name is in lower case, without a port. */
export interface HostTarget {
  readonly host: string
  readonly site: string
  /** `live`: its pages are shown as soon as a container answers. */
  readonly state: 'live' | 'starting' | 'suspended' | 'failed'
  /** The host name to which its visitors are redirected. */
  readonly primary?: string
  /** The edge of the node that runs the site, where that is another node. */
  readonly via?: { readonly host: string; readonly port: number }
  /** False: the owner has switched the page cache off. */
  readonly keepsPages?: boolean
  /** Who may visit the site, in the edge's format; absent: everybody. */
  readonly protection?: {
    readonly denied?: readonly string[]
    readonly password?: { readonly user: string; readonly hash: string }
  }
}

export interface HostChange {
  /** The version that this change follows; null: the edge has no table yet. */
  readonly base: string | null
  readonly version: string
  /** Sites whose names are all in `entries`; null: the entries are the whole table. */
  readonly sites: readonly string[] | null
  readonly entries: readonly HostTarget[]
  /** The key by which edges authenticate each other. */
  readonly peerKey: string
}

/** Hits and misses of a site's page cache: since a moment, and in the last 24 hours. */
export interface CacheFigures {
  /** ms since 1970. */
  readonly since: number
  readonly hits: number
  readonly misses: number
  readonly bypassed: number
  readonly day: { readonly hits: number; readonly misses: number; readonly bypassed: number }
  readonly entries: number
  readonly bytes: number
}

/** The table of host names of one edge. */
export interface HostTableControl {
  /** The version of its table; null before the first one. */
  version(): Promise<string | null>
  /**
   * Applies a change that follows its present version, and no other. Answers the version
   * afterwards.
   */
  apply(change: HostChange): Promise<string | null>
}

/** The edge of one node, wherever it runs. */
export interface EdgeControl extends HostTableControl {
  /**
   * The figures of a site's page cache; null from an edge of release 2 or older, which has none.
   */
  cacheFigures(site: string): Promise<CacheFigures | null>
  /** Drops all cached pages of a site. Answers how many there were. */
  purgeCache(site: string): Promise<number>
  /**
   * Holds requests to the site that may write, for at most `ms`, until the table says that the site
   * is elsewhere; 0: releases them. Answers true when no earlier write is under way any more, false
   * where one still is after `patienceMs`.
   */
  holdWrites(site: string, ms: number, patienceMs: number): Promise<boolean>
  /** Reads the node's own clock, for `renewLease`; null: the node keeps to no lease. */
  markLease(): Promise<number | null>
  /**
   * Lets the node's sites take writes for `ms` from the mark on (null: without an end). For
   * `withheld` sites, which came up elsewhere, it answers no visitor. Answers true where the node
   * keeps to what the details say of servers with a mirror; nothing from a release that knows no
   * details.
   */
  renewLease(
    mark: number | null,
    ms: number | null,
    withheld: readonly string[],
    details?: LeaseDetails | null,
  ): Promise<boolean | null>
  /**
   * The sites' requests and resource use in past spans of five minutes, in the order of spans and
   * sites, after `last`; empty from a node of release 2 or older.
   */
  usage(last: { at: number; site: string } | null, limit: number): Promise<readonly SpanUsage[]>
}

/** One site in one span of five minutes. */
export interface SpanUsage {
  readonly site: string
  /** When the span began, ms since 1970. */
  readonly at: number
  readonly requests: number
  readonly clientErrors: number
  readonly serverErrors: number
  readonly cached: number
  readonly totalMs: number
  /** Number of answers in each class of duration (edge/traffic.ts). */
  readonly times: readonly number[]
  readonly memoryMb: number
  readonly cpuMs: number
  readonly filesMb: number
  readonly databaseMb: number
}

/** `start` resolves when every edge that can be reached has a table. */
export interface Directory extends Rounds {
  /**
   * Tells every edge now, that of node `first` before the others and that of `last` after them: an
   * edge that sends a visitor on to a moved site finds that the next edge knows of the move, too.
   * Rejects when a reachable edge does not take it; the others are told all the same.
   */
  tellInOrder(first: string, last: string): Promise<void>
}

/**
 * Interval at which this process asks whether anything changed. Each question reads a few rows of
 * an index.
 */
const roundMs = 15_000
/**
 * Interval at which an edge gets the whole table even without a change, in case that a change was
 * missed. With 200,000 names that is 20 MB.
 */
const wholeMs = minutes(60)
/** Above this number of changed sites the whole table is sent. */
const mostSites = 2000
/**
 * How often another process may update the edge first before this one leaves it to the next round.
 */
const mostTries = 5

/** Deletes old change notes; their readers look every few seconds. */
export async function dropOldHostChanges(db: Database): Promise<void> {
  await dropOld(db, systemClock, 'site_change')
  await dropOld(db, systemClock, 'host_change')
}

/**
 * The present snapshot, and the sites changed by transactions that were not over in the snapshot
 * `since`; null: too many, or unknown.
 */
async function changesSince(
  db: Database,
  since: string | null,
): Promise<{ snapshot: string; sites: string[] | null }> {
  const { rows } = await sql<{ snapshot: string; sites: string[] | null }>`
    select pg_current_snapshot()::text as snapshot, (
      select array_agg(site_id::text) from (
        select distinct site_id from site_change
        where xid >= pg_snapshot_xmin(${since}::text::pg_snapshot)
          and not pg_visible_in_snapshot(xid, ${since}::text::pg_snapshot)
        limit ${mostSites + 1}) as changed) as sites`.execute(db)
  const [row] = rows
  if (!row) throw new Error('PostgreSQL tells no snapshot')
  const sites = row.sites ?? []
  return {
    snapshot: row.snapshot,
    sites: since === null || sites.length > mostSites ? null : sites,
  }
}

function stateOf(status: string): HostTarget['state'] | undefined {
  switch (status) {
    // A site that is being set up is shown as soon as it responds: its owner need not wait for our
    // own check.
    case 'provisioning':
    case 'running':
      return 'live'
    case 'pending_payment':
      return 'starting'
    case 'suspended':
    case 'failed':
      return status
    default:
      return undefined
  }
}

/** The protection field, present only where the site is protected. */
function protectionOf(row: HostRow): Pick<HostTarget, 'protection'> {
  const { visit_user: user, visit_hash: hash, denied_networks: denied } = row
  const password = user !== null && hash !== null ? { password: { user, hash } } : {}
  const denying = denied.length > 0 ? { denied } : {}
  const protection = { ...password, ...denying }
  return Object.keys(protection).length > 0 ? { protection } : {}
}

/** Reads `10.0.0.2:8082` or `[2001:db8::2]:8082`. */
function addressOf(text: string): { host: string; port: number } {
  const { hostname, port } = new URL(`http://${text}`)
  return { host: hostname.replace(/^\[|\]$/g, ''), port: Number(port) || 80 }
}

/**
 * @param edges the edges that can be reached now, with their nodes
 * @param tellLease tells a node for which sites it must answer no visitor (`Nodes.tell`)
 */
export function createDirectory(
  db: Database,
  edges: () => readonly { readonly node: string; readonly edge: HostTableControl }[],
  addressing: SiteAddressing,
  peerKey: string,
  log: Log,
  tellLease: (node: string) => Promise<void>,
): Directory {
  /** When this process last sent an edge a whole table, by performance.now(). */
  const wholeAt = new WeakMap<HostTableControl, number>()

  async function entriesFor(node: string, sites: readonly string[] | null): Promise<HostTarget[]> {
    const rows = await hostRows(db, addressing.host, sites)
    return rows.flatMap((row): HostTarget[] => {
      const { id, host, status, node: home, via, primary, page_cache: pageCache } = row
      const state = stateOf(status)
      if (!state) return []
      const sentOn = primary !== null && primary !== host ? { primary } : {}
      // Sent only where the cache is off: an edge of release 2 compares entries as a whole.
      const entry = {
        host,
        site: id,
        state,
        ...sentOn,
        ...(!pageCache && { keepsPages: false }),
        ...protectionOf(row),
      }
      return [home === node || via === null ? entry : { ...entry, via: addressOf(via) }]
    })
  }

  /**
   * A node that is away, or that this process does not reach, does not stop the other edges from
   * being told.
   */
  async function hear(node: string): Promise<void> {
    try {
      await tellLease(node)
    } catch (error) {
      log.warn({ err: error, node }, 'a node was not told of a site that is back there')
    }
  }

  async function tell(node: string, edge: HostTableControl): Promise<void> {
    let base = await edge.version()
    for (let tries = 0; tries < mostTries; tries++) {
      const lastWhole = wholeAt.get(edge) ?? performance.now()
      wholeAt.set(edge, lastWhole)
      const isDue = base === null || performance.now() - lastWhole >= wholeMs
      const { snapshot: version, sites: changed } = await changesSince(db, base)
      const sites = isDue ? null : changed
      if (sites?.length === 0) return
      const entries = await entriesFor(node, sites)
      // A node that was told to withhold a site which has come back would refuse its visitors,
      // whether they come by its own edge or by this one.
      for (const home of await returnedTo(db, sites)) await hear(home)
      const now = await edge.apply({ base, version, sites, entries, peerKey })
      if (sites === null) wholeAt.set(edge, performance.now())
      if (now === version) return
      base = now
    }
  }

  /** Answers the errors of the edges that could not be told. */
  async function tellSome(which: (node: string) => boolean): Promise<unknown[]> {
    const some = edges().filter(({ node }) => which(node))
    const told = await Promise.allSettled(some.map(({ node, edge }) => tell(node, edge)))
    const errors = told.flatMap((one): unknown[] => (one.status === 'rejected' ? [one.reason] : []))
    for (const err of errors) log.warn({ err }, 'telling an edge of host names')
    return errors
  }
  const rounds = createRounds(async () => {
    await tellSome(() => true)
  }, roundMs)
  return {
    ...rounds,
    async tellInOrder(first, last) {
      const errors = [
        ...(await tellSome((node) => node === first)),
        ...(await tellSome((node) => node !== first && node !== last)),
        ...(await tellSome((node) => node === last)),
      ]
      if (errors.length > 0) throw errors[0]
    },
  }
}
