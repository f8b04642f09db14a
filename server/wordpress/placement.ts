/**
 * Which node a new server goes to. A rule without a database, so that a test can read it: every
 * node that may take the server is compared, and the emptiest wins.
 */

/** A node as the database knows it. */
export interface NodeState {
  readonly id: string
  /** Data centres of the catalogue; null: every one. */
  readonly regions: readonly number[] | null
  readonly state: 'active' | 'draining'
  /** Since it last answered, seconds; null: it never did. */
  readonly seenSecondsAgo: number | null
  /** How many more containers it had memory for then. */
  readonly room: number
  /** Containers of servers that have a place on it and do not run yet. */
  readonly reserved: number
  /** Of one server. */
  readonly maxContainers: number
  readonly minRamMb: number
  /** Null: no bound of its own. */
  readonly maxRamMb: number | null
  readonly maxCpu: number | null
  /** What stands behind WordPress there; null: it has not said it yet. New servers do not ask. */
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

/** Why no node takes it. `region`: none is there, `size` and `containers`: none can, `full`. */
export type NoPlace = 'region' | 'size' | 'containers' | 'full'
export type Place = { readonly node: string } | { readonly none: NoPlace }

/** A node that was not heard of for so long gets no new servers, seconds. */
export const lostAfterSeconds = 60

export const isLost = (node: Pick<NodeState, 'seenSecondsAgo'>): boolean =>
  node.seenSecondsAgo === null || node.seenSecondsAgo > lostAfterSeconds

const holds = (node: NodeState, regionId: number): boolean =>
  node.regions === null || node.regions.includes(regionId)

/** Whether a server may be ordered in a data centre at all, full or not. */
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

/** Containers that may still be placed. */
export const freeOn = (node: NodeState): number => Math.max(0, node.room - node.reserved)

/** The node with most room; of equals the first by name. */
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
