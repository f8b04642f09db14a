/** The zones in memory: compact, because there may be many, and changed set by set. */
import type { RecordSet, ServedType, ZoneHead } from '../../driver.ts'
import { types } from './wire.ts'

/** All values of one name and type. */
export interface StoredSet {
  readonly type: number
  readonly ttl: number
  readonly values: readonly string[]
}

/**
 * One name. A node without sets exists only because something is below it (RFC 8020: no NXDOMAIN).
 */
export interface Node {
  sets: readonly StoredSet[]
  /** The number of names right below. */
  below: number
}

export interface Zone {
  readonly name: string
  head: ZoneHead
  /** By absolute name. */
  readonly nodes: Map<string, Node>
  /**
   * The number of names below the apex with NS: most zones have none and need no search for cuts.
   */
  cuts: number
}

const servedTypes = ['A', 'AAAA', 'CNAME', 'TXT', 'MX', 'NS'] as const satisfies ServedType[]
const typeNames = new Map<number, ServedType>(servedTypes.map((type) => [types[type], type]))

const parentOf = (name: string): string => name.slice(name.indexOf('.') + 1)
export const setOf = (node: Node, type: number): StoredSet | undefined => {
  for (const set of node.sets) if (set.type === type) return set
  return undefined
}

function write(zone: Zone, name: string, type: number, set: StoredSet | undefined): void {
  let node = zone.nodes.get(name)
  if (!node) {
    if (!set) return
    node = { sets: [], below: 0 }
    // The missing names between here and the apex exist from now on, too.
    let at = name
    zone.nodes.set(name, node)
    while (at !== zone.name) {
      at = parentOf(at)
      const above = zone.nodes.get(at)
      if (above) {
        above.below++
        break
      }
      zone.nodes.set(at, { sets: [], below: 1 })
    }
  }
  if (type === types.NS && name !== zone.name)
    zone.cuts += (set ? 1 : 0) - (setOf(node, type) ? 1 : 0)
  const others = node.sets.filter((one) => one.type !== type)
  node.sets = set ? [...others, set] : others
  let at = name
  while (at !== zone.name) {
    const here = zone.nodes.get(at)
    if (!here || here.sets.length > 0 || here.below > 0) break
    zone.nodes.delete(at)
    at = parentOf(at)
    const above = zone.nodes.get(at)
    if (above) above.below--
  }
}

function setHead(zone: Zone, head: ZoneHead): void {
  zone.head = head
  const { soa, apexTtlSeconds: ttl, serial, nameServers, name } = head
  const start =
    `${nameServers[0] ?? ''} ${soa.contact} ${serial} ${soa.refresh} ${soa.retry} ${soa.expire} ` +
    `${soa.minimum}`
  write(zone, name, types.SOA, { type: types.SOA, ttl, values: [start] })
  write(zone, name, types.NS, { type: types.NS, ttl, values: nameServers })
}

function writeSets(zone: Zone, sets: readonly RecordSet[]): void {
  for (const { name, type, ttlSeconds, values } of sets) {
    const number = types[type]
    write(
      zone,
      name,
      number,
      values.length > 0 ? { type: number, ttl: ttlSeconds, values } : undefined,
    )
  }
}

export class Zones {
  private readonly byName = new Map<string, Zone>()
  /** Grows with every change: cached responses of an older generation may be wrong. */
  generation = 0

  put(head: ZoneHead, sets: readonly RecordSet[]): void {
    const zone: Zone = {
      name: head.name,
      head,
      nodes: new Map([[head.name, { sets: [], below: 0 }]]),
      cuts: 0,
    }
    setHead(zone, head)
    writeSets(zone, sets)
    this.byName.set(head.name, zone)
    this.generation++
  }

  change(head: ZoneHead, fromSerial: number, sets: readonly RecordSet[]): 'applied' | 'behind' {
    const zone = this.byName.get(head.name)
    if (!zone || zone.head.id !== head.id || zone.head.serial !== fromSerial) return 'behind'
    writeSets(zone, sets)
    setHead(zone, head)
    this.generation++
    return 'applied'
  }

  remove(name: string): void {
    if (this.byName.delete(name)) this.generation++
  }

  get(name: string): Zone | undefined {
    return this.byName.get(name)
  }

  /** A zone as it was put: without the sets generated from its head (SOA, the apex's NS). */
  read(name: string): { head: ZoneHead; sets: RecordSet[] } | undefined {
    const zone = this.byName.get(name)
    if (!zone) return undefined
    const sets: RecordSet[] = []
    for (const [owner, node] of zone.nodes)
      for (const { type: number, ttl, values } of node.sets) {
        const type = typeNames.get(number)
        if (type === undefined || (type === 'NS' && owner === name)) continue
        sets.push({ name: owner, type, ttlSeconds: ttl, proxied: false, values })
      }
    return { head: zone.head, sets }
  }

  names(): string[] {
    return [...this.byName.keys()]
  }

  /** The closest zone at or above a name; with `above`, only above it. */
  closest(name: string, above = false): Zone | undefined {
    let at = name
    let skip = above
    for (;;) {
      const zone = skip ? undefined : this.byName.get(at)
      if (zone) return zone
      skip = false
      const dot = at.indexOf('.')
      if (dot < 0) return undefined
      at = at.slice(dot + 1)
    }
  }
}
