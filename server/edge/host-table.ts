// The table of host names and sites: the portal sends changes of it; the edge keeps it while the
// portal is down.
import type { Protection } from './protection.ts'
import type { EdgeAddress } from './upstreams.ts'

export interface EdgeSite {
  /** Null for a name that no site has. */
  readonly id: string | null
  readonly state: 'running' | 'starting' | 'suspended' | 'failed' | 'unknown'
  /** Upstreams that answer; used while the state is `running`. */
  readonly addresses: readonly EdgeAddress[]
  /** The addresses are another edge's. */
  readonly isElsewhere?: boolean
  /** If so: its containers on this machine, while it is being moved here or away. */
  readonly here?: readonly EdgeAddress[]
  /** The host name that visitors of this one are sent to. */
  readonly primary?: string
  /** False: its owner wants no page to be kept. */
  readonly keepsPages?: boolean
  /** Visitors' restrictions; absent: everybody may visit. */
  readonly protection?: Protection
}

export interface HostEntry {
  /** Lower case, no port, no trailing dot. */
  readonly host: string
  readonly site: string
  /** `live`: shown as soon as a container answers. */
  readonly state: 'live' | 'starting' | 'suspended' | 'failed'
  /** The host name that its visitors are sent to. */
  readonly primary?: string
  /** The edge of the node that runs the site, where that is another node. */
  readonly via?: EdgeAddress
  /** False: its owner wants no page to be kept. */
  readonly keepsPages?: boolean
  /** Visitors' restrictions; absent: everybody may visit. */
  readonly protection?: Protection
}

export interface HostChange {
  /** The version that this change follows; null: there is no table yet. */
  readonly base: string | null
  readonly version: string
  /** Sites whose names are all in `entries`; null: the entries are the whole table. */
  readonly sites: readonly string[] | null
  readonly entries: readonly HostEntry[]
  /** The key by which edges identify each other. */
  readonly peerKey?: string
}

export interface HostTable {
  /** Null before the first table. */
  version(): string | null
  /**
   * Applies a change if it follows the present version: of two processes that send changes, one
   * finds that the other was first. Answers the version afterwards.
   */
  apply(change: HostChange): string | null
  /** All that there is, from a portal of release 2, which knows no versions. */
  replace(entries: readonly HostEntry[]): void
  resolve(host: string): EdgeSite
  /** The key by which edges identify each other; null before the portal has sent it. */
  peerKey(): string | null
}

const byHost = (one: HostEntry | undefined, other: HostEntry | undefined): number =>
  (one?.host ?? '') < (other?.host ?? '') ? -1 : 1

/** A snapshot before every transaction: a query for the changes since returns everything. */
const unknownSnapshot = '1:1:'

/**
 * @param upstreams containers of a site that answer now, from memory
 * @param onChange called for each site whose names, state or settings have changed
 */
export function createHostTable(
  upstreams: (site: string) => readonly EdgeAddress[],
  onChange: (site: string) => void = () => {},
): HostTable {
  // Before the first table arrives any unknown host name may be in use: the visitor is asked to
  // wait a moment.
  let version: string | null = null
  let peerKey: string | null = null
  let hosts = new Map<string, HostEntry>()
  let namesOf = new Map<string, string[]>()

  function add(entry: HostEntry): void {
    hosts.set(entry.host, entry)
    const names = namesOf.get(entry.site)
    if (names) names.push(entry.host)
    else namesOf.set(entry.site, [entry.host])
  }
  function forget(site: string): void {
    for (const host of namesOf.get(site) ?? [])
      // A name that went to another site is that one's by now.
      if (hosts.get(host)?.site === site) hosts.delete(host)
    namesOf.delete(site)
  }

  const saidOf = (site: string): string =>
    JSON.stringify((namesOf.get(site) ?? []).map((host) => hosts.get(host)).toSorted(byHost))

  function put(sites: readonly string[] | null, entries: readonly HostEntry[]): void {
    const before = new Map<string, string>()
    for (const site of sites ?? [...namesOf.keys(), ...entries.map((entry) => entry.site)])
      if (!before.has(site)) before.set(site, saidOf(site))
    if (sites === null) {
      hosts = new Map()
      namesOf = new Map()
    } else for (const site of sites) forget(site)
    for (const entry of entries) add(entry)
    for (const [site, said] of before) if (saidOf(site) !== said) onChange(site)
  }

  return {
    version: () => version,
    peerKey: () => peerKey,
    apply(change) {
      if (change.base !== version) return version
      put(change.sites, change.entries)
      peerKey = change.peerKey ?? peerKey
      version = change.version
      return version
    },
    replace(entries) {
      put(null, entries)
      version = unknownSnapshot
    },
    resolve(host) {
      if (version === null) return { id: null, state: 'starting', addresses: [] }
      const entry = hosts.get(host)
      if (!entry) return { id: null, state: 'unknown', addresses: [] }
      const { site: id, state, via, primary, keepsPages, protection } = entry
      if (state !== 'live') return { id, state, addresses: [] }
      const forAll = {
        ...(primary === undefined ? {} : { primary }),
        ...(protection === undefined ? {} : { protection }),
      }
      const addresses = upstreams(id)
      if (via)
        return {
          id,
          state: 'running',
          addresses: [via],
          isElsewhere: true,
          ...(addresses.length > 0 && { here: addresses }),
          ...forAll,
        }
      return {
        id,
        state: addresses.length > 0 ? 'running' : 'starting',
        addresses,
        ...forAll,
        ...(keepsPages === undefined ? {} : { keepsPages }),
      }
    },
  }
}
