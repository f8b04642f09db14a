/**
 * Which node a new server goes to. The rule needs no database, so that it can be tested alone:
 * every node that may take the server is compared, and the emptiest wins.
 */

/** A node as the database knows it. */
export interface NodeState {
  readonly id: string
  /** Data centres of the catalogue; null: every one. */
  readonly regions: readonly number[] | null
  readonly state: 'active' | 'draining'
  /** Seconds since the node last answered; null: never. */
  readonly seenSecondsAgo: number | null
  /** How many more containers it had memory for at that answer. */
  readonly room: number
  /** Containers of servers that have a reserved place on it and do not run yet. */
  readonly reserved: number
  /** Most containers of one server. */
  readonly maxContainers: number
  readonly minRamMb: number
  /** Largest plan, MB of RAM; null: no bound of its own. */
  readonly maxRamMb: number | null
  readonly maxCpu: number | null
  /**
   * The database behind WordPress there; null: not reported yet. It does not matter for a new
   * server.
   */
  readonly database?: string | null
  /** Where the edges of other nodes reach its sites; null: nowhere. */
  readonly sitesAddress?: string | null
}

export interface Wish {
  readonly regionId: number
  readonly containers: number
  readonly ramMb: number
  readonly cpu: number
}

/**
 * Why no node takes the server. `region`: the data centre has no node, `size` and `containers`:
 * none can run it, `full`: none has room.
 */
export type NoPlace = 'region' | 'size' | 'containers' | 'full'
export type Place = { readonly node: string } | { readonly none: NoPlace }

/** A node that was not heard of for this long gets no new servers, seconds. */
export const lostAfterSeconds = 60

export const isLost = (node: Pick<NodeState, 'seenSecondsAgo'>): boolean =>
  node.seenSecondsAgo === null || node.seenSecondsAgo > lostAfterSeconds

const holds = (node: NodeState, regionId: number): boolean =>
  node.regions === null || node.regions.includes(regionId)

/** Whether a server may be ordered in a data centre at all, even if it is full now. */
export const isOffered = (nodes: readonly NodeState[], regionId: number): boolean =>
  nodes.some((node) => node.state === 'active' && !isLost(node) && holds(node, regionId))

/** Whether a node can run a plan of this size. */
export const serves = (
  node: Pick<NodeState, 'minRamMb' | 'maxRamMb' | 'maxCpu'>,
  size: { readonly ramMb: number; readonly cpu: number },
): boolean =>
  size.ramMb >= node.minRamMb &&
  size.ramMb <= (node.maxRamMb ?? Number.POSITIVE_INFINITY) &&
  size.cpu <= (node.maxCpu ?? Number.POSITIVE_INFINITY)

/** How many containers may still be placed on the node. */
export const freeOn = (node: NodeState): number => Math.max(0, node.room - node.reserved)

/** Chooses the node with the most free room; among equals the first by id. */
export function place(nodes: readonly NodeState[], wish: Wish): Place {
  const here = nodes.filter(
    (node) => node.state === 'active' && !isLost(node) && holds(node, wish.regionId),
  )
  if (here.length === 0) return { none: 'region' }
  const ofSize = here.filter((node) => serves(node, wish))
  if (ofSize.length === 0) return { none: 'size' }
  const able = ofSize.filter((node) => wish.containers <= node.maxContainers)
  if (able.length === 0) return { none: 'containers' }
  const [best] = able
    .filter((node) => freeOn(node) >= wish.containers)
    .toSorted((a, b) => freeOn(b) - freeOn(a) || (a.id < b.id ? -1 : 1))
  return best ? { node: best.id } : { none: 'full' }
}
