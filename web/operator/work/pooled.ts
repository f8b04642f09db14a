import type * as z from 'zod/mini'
import type { capacity } from '../../../contract/operator-work.ts'

type Capacity = z.output<typeof capacity.result>
export type Pooled = Capacity['dataCentres'][number] & {
  /** Several data centres, which are named with commas between. */
  readonly isTogether: boolean
  /** A node takes new servers of it. */
  readonly isServed: boolean
}

/** Data centres that the same nodes serve, and no other, share their room: they are one row. */
export function pooled({ dataCentres, nodes }: Capacity): Pooled[] {
  const taking = nodes.filter(({ state }) => state === 'active')
  const serving = (centre: string): string =>
    taking
      .filter(({ regions }) => regions?.includes(centre) ?? true)
      .map(({ id }) => id)
      .join('\n')
  // Those without a node share nothing.
  const pools = Map.groupBy(dataCentres, ({ name }) => serving(name) || `without:${name}`)
  return [...pools.values()].map((pool) => {
    const names = new Set(pool.map(({ name }) => name))
    return {
      ...pool[0]!,
      name: [...names].join(', '),
      ordered: pool.reduce((sum, { ordered }) => sum + ordered, 0),
      sharedWith: pool[0]!.sharedWith.filter((other) => !names.has(other)),
      isTogether: pool.length > 1,
      isServed: serving(pool[0]!.name) !== '',
    }
  })
}
