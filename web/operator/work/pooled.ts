import type * as z from 'zod/mini'
import type { capacity } from '../../../contract/operator-work.ts'

type Capacity = z.output<typeof capacity.result>
export type Pooled = Capacity['dataCentres'][number] & {
  /** Several data centres, whose names are joined by commas. */
  readonly isTogether: boolean
  /** Some node accepts new servers for it. */
  readonly isServed: boolean
}

/** Data centres that are served by exactly the same nodes share capacity, so they form one row. */
export function pooled({ dataCentres, nodes }: Capacity): Pooled[] {
  const taking = nodes.filter(({ state }) => state === 'active')
  const serving = (centre: string): string =>
    taking
      .filter(({ regions }) => regions?.includes(centre) ?? true)
      .map(({ id }) => id)
      .join('\n')
  // Data centres without a node share nothing.
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
