/**
 * The order in which certificates are handled: the portal's own first, then customers in turns, so
 * that a customer with thousands of names holds up no other. And the number of new ones that a
 * customer may request, so that no customer uses up an authority's limit.
 */

/** A name that is due. */
export interface DueName {
  readonly id: bigint
  /** The customer; null: the portal's own. */
  readonly holder: string | null
  /** False: a renewal, or a name whose order is under way; it needs no share. */
  readonly isNew: boolean
  readonly dueAt: Date
}

/** Recent orders at the first authority. */
export interface AskedFor {
  /** The limit of all orders at the authority in that time. */
  readonly limit: number
  /** All orders, including renewals. */
  readonly inAll: number
  /** New ones, by holder. */
  readonly newOf: ReadonlyMap<string, number>
}

/** A customer's share of the limit while others request certificates too. */
const shareOfOne = 1 / 4
/** The part of the limit that one customer may use while no other requests any. */
const shareOfFirst = 1 / 2
/** The part of the limit for new names; the rest is for renewals and the portal's own. */
const shareOfNew = 4 / 5

/** The number of orders at which customers' new names must wait. */
export const mostForNew = (limit: number): number => Math.max(1, Math.floor(limit * shareOfNew))

/** The number of new certificates that a customer may request now. */
export function leftFor(holder: string, { limit, inAll, newOf }: AskedFor): number {
  const ofShare = Math.max(1, Math.floor(limit * shareOfOne)) - (newOf.get(holder) ?? 0)
  const ofFirst = Math.floor(limit * shareOfFirst) - inAll
  return Math.max(0, ofShare, ofFirst)
}

const byDue = (a: DueName, b: DueName): number =>
  a.dueAt.getTime() - b.dueAt.getTime() || Number(a.id - b.id)

/**
 * The next names, in their order. Customers take turns: the one served least often is first. Within
 * one customer, and within one round over all, renewals come before new names.
 * @param served how often each customer was served before
 */
export function inTurn(
  due: readonly DueName[],
  of: {
    readonly served: ReadonlyMap<string, number>
    readonly asked: AskedFor
    readonly count: number
  },
): DueName[] {
  const own = due.filter(({ holder }) => holder === null).toSorted(byDue)
  const queues = new Map<string, DueName[]>()
  for (const one of due)
    if (one.holder !== null) queues.set(one.holder, [...(queues.get(one.holder) ?? []), one])
  const placed: { readonly round: number; readonly name: DueName }[] = []
  for (const [holder, names] of queues) {
    const served = of.served.get(holder) ?? 0
    const fresh = names.filter(({ isNew }) => isNew).toSorted(byDue)
    const line = [
      ...names.filter(({ isNew }) => !isNew).toSorted(byDue),
      ...fresh.slice(0, leftFor(holder, of.asked)),
    ]
    for (const [at, name] of line.entries()) placed.push({ round: served + at, name })
  }
  const turns = placed.toSorted(
    (a, b) =>
      a.round - b.round || Number(a.name.isNew) - Number(b.name.isNew) || byDue(a.name, b.name),
  )
  return [...own, ...turns.map(({ name }) => name)].slice(0, of.count)
}
