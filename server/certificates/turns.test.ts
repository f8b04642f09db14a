/** Customers take turns, however many names each has: a property of the selection function. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { inTurn, leftFor, mostForNew, type AskedFor, type DueName } from './turns.ts'

const holders = ['an', 'binh', 'chi', 'dung']
const name = fc.record({
  holder: fc.constantFrom(null, ...holders),
  isNew: fc.boolean(),
  dueAt: fc.integer({ min: 0, max: 100 }).map((ms) => new Date(ms)),
})
const dueNames = fc
  .array(name, { maxLength: 60 })
  .map((all) => all.map((one, at): DueName => ({ ...one, id: BigInt(at) })))
const counts = (max: number) =>
  fc
    .dictionary(fc.constantFrom(...holders), fc.nat({ max }))
    .map((found) => new Map(Object.entries(found)))
const asked = fc
  .record({
    limit: fc.integer({ min: 1, max: 300 }),
    renewals: fc.nat({ max: 200 }),
    newOf: counts(80),
  })
  .map(({ limit, renewals, newOf }): AskedFor => {
    const ofNew = [...newOf.values()].reduce((sum, count) => sum + count, 0)
    return { limit, inAll: ofNew + renewals, newOf }
  })
const countOf = (names: readonly DueName[], holder: string): number =>
  names.filter((one) => one.holder === holder).length

test('nobody is served twice more than somebody who still waits', () => {
  fc.assert(
    fc.property(
      dueNames,
      counts(5),
      asked,
      fc.integer({ min: 1, max: 60 }),
      (due, served, of, count) => {
        const turns = inTurn(due, { served, asked: of, count })
        const all = inTurn(due, { served, asked: of, count: due.length })
        // A shorter selection is a prefix of a longer one.
        expect(turns).toEqual(all.slice(0, count))
        expect(new Set(all.map(({ id }) => id)).size).toBe(all.length)
        // The portal's own come first, all of them.
        const own = due.filter(({ holder }) => holder === null).length
        expect(all.slice(0, own).every(({ holder }) => holder === null)).toBe(true)
        for (let at = own; at < all.length; at++) {
          const present = all[at]?.holder ?? ''
          const before = (holder: string): number =>
            (served.get(holder) ?? 0) + countOf(all.slice(0, at), holder)
          for (const other of holders)
            if (countOf(all.slice(at), other) > 0)
              expect(before(present)).toBeLessThanOrEqual(before(other))
        }
      },
    ),
  )
})

test('of one customer what is renewed goes first, and new ones stay within what is left', () => {
  fc.assert(
    fc.property(dueNames, asked, (due, of) => {
      const all = inTurn(due, { served: new Map(), asked: of, count: due.length })
      for (const holder of holders) {
        const line = all.filter((one) => one.holder === holder)
        const firstNew = line.findIndex(({ isNew }) => isNew)
        if (firstNew >= 0) expect(line.slice(firstNew).every(({ isNew }) => isNew)).toBe(true)
        // Every renewal gets a turn; a new name only within the share.
        const mine = due.filter((one) => one.holder === holder)
        const fresh = mine.filter(({ isNew }) => isNew).length
        expect(line.filter(({ isNew }) => !isNew)).toHaveLength(mine.length - fresh)
        expect(line.filter(({ isNew }) => isNew)).toHaveLength(Math.min(fresh, leftFor(holder, of)))
      }
    }),
  )
})

test('a customer with any number of names leaves the others and renewals their part', () => {
  fc.assert(
    fc.property(fc.integer({ min: 20, max: 1000 }), (limit) => {
      const newOf = new Map<string, number>()
      const of = (inAll: number): AskedFor => ({ limit, inAll, newOf })
      let inAll = 0
      const ask = (holder: string): void => {
        while (leftFor(holder, of(inAll)) > 0 && inAll < mostForNew(limit)) {
          newOf.set(holder, (newOf.get(holder) ?? 0) + 1)
          inAll++
        }
      }
      ask('an')
      expect(inAll).toBeLessThanOrEqual(limit / 2)
      ask('binh')
      expect(newOf.get('binh')).toBeGreaterThanOrEqual(Math.floor(limit / 4) - 1)
      ask('chi')
      ask('dung')
      expect(inAll).toBeLessThanOrEqual(limit * 0.8)
    }),
  )
})
