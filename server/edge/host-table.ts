// The table of host names and sites: the portal sends it; the edge keeps it while the portal is
// down.
import type { EdgeAddress } from './upstreams.ts'

export interface EdgeSite {
  /** Null for a name that is nobody's. */
  readonly id: string | null
  readonly state: 'running' | 'starting' | 'suspended' | 'failed' | 'unknown'
  /** Upstreams that answer; used while the state is `running`. */
  readonly addresses: readonly EdgeAddress[]
}

export interface HostEntry {
  /** Lower case, no port, no trailing dot. */
  readonly host: string
  readonly site: string
  /** `live`: shown as soon as a container answers. */
  readonly state: 'live' | 'starting' | 'suspended' | 'failed'
}

export interface HostTable {
  /** All that there is from now on. */
  replace(entries: readonly HostEntry[]): void
  resolve(host: string): EdgeSite
}

/** `upstreams`: containers of a site that answer now, from memory. */
export function createHostTable(upstreams: (site: string) => readonly EdgeAddress[]): HostTable {
  // Before the first table arrives no host name is known to be unused: the visitor is asked to wait
  // a moment.
  let hosts: Map<string, HostEntry> | undefined
  return {
    replace(entries) {
      hosts = new Map(entries.map((entry) => [entry.host, entry]))
    },
    resolve(host) {
      if (!hosts) return { id: null, state: 'starting', addresses: [] }
      const entry = hosts.get(host)
      if (!entry) return { id: null, state: 'unknown', addresses: [] }
      const { site: id, state } = entry
      if (state !== 'live') return { id, state, addresses: [] }
      const addresses = upstreams(id)
      return { id, state: addresses.length > 0 ? 'running' : 'starting', addresses }
    },
  }
}
