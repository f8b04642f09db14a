/**
 * Whose certificate is looked at next: the portal's own first, then customers by turns, so that one
 * with thousands of names holds up nobody else's; and how many new ones a customer may ask for, so
 * that he does not use up what an authority allows all of them.
 */

/** A name that is due. */
export interface DueName {
  readonly id: bigint
  /** Whose it is; null: the portal's own. */
  readonly holder: string | null
  /** False for one that is renewed, or whose order is under way: it needs no share. */
  readonly isNew: boolean
  readonly dueAt: Date
}

/** New certificates that were asked for lately at the authority that is asked first. */
export interface AskedFor {
  /** Of all orders that it allows in that time. */
  readonly limit: number
  /** Orders of all, renewals among them. */
  readonly inAll: number
  /** New ones, by whose they are. */
  readonly newOf: ReadonlyMap<string, number>
}

/** Of what is allowed: one customer's part of it where others ask for some, too. */
const shareOfOne = 1 / 4
/** So much of it anybody may use, while nobody else does. */
const shareOfFirst = 1 / 2
/** New names leave the rest to renewals and to the portal's own. */
const shareOfNew = 4 / 5

/** How many orders there may be in all before new names of customers have to wait. */
export const mostForNew = (limit: number): number => Math.max(1, Math.floor(limit * shareOfNew))

/** How many new certificates a customer may ask for now. */
export function leftFor(holder: string, { limit, inAll, newOf }: AskedFor): number {
  const ofShare = Math.max(1, Math.floor(limit * shareOfOne)) - (newOf.get(holder) ?? 0)
  const ofFirst = Math.floor(limit * shareOfFirst) - inAll
  return Math.max(0, ofShare, ofFirst)
}

const byDue = (a: DueName, b: DueName): number =>
  a.dueAt.getTime() - b.dueAt.getTime() || Number(a.id - b.id)

/**
 * The next names, in their order. Customers take turns: who was looked at least often is first; of
 * one customer, and within one round of all, what is renewed goes before what is new.
 * @param served how often each customer was looked at before
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
