import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createGate, createKeyedGate } from './gate.ts'

/** Work that ends on demand. */
function pending() {
  const ends: (() => void)[] = []
  const work = () => new Promise<void>((resolve) => ends.push(resolve))
  return { work, ends }
}

test('a gate lets in its number, has the next wait in order and refuses the rest', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 1, max: 4 }),
      fc.integer({ min: 0, max: 6 }),
      fc.integer({ min: 0, max: 20 }),
      async (atOnce, waiting, callers) => {
        const gate = createGate({ atOnce, waiting })
        const { work, ends } = pending()
        const begun: number[] = []
        const refused: number[] = []
        const all = Array.from({ length: callers }, (_, n) =>
          gate
            .run(() => {
              begun.push(n)
              return work()
            })
            .catch(() => void refused.push(n)),
        )
        await Promise.resolve()
        const room = Math.min(callers, atOnce + waiting)
        expect(begun).toHaveLength(Math.min(callers, atOnce))
        for (let ended = 0; ended < room; ended++) {
          ends[ended]?.()
          // oxlint-disable-next-line no-await-in-loop -- one leaves after the other
          await new Promise(setImmediate)
          expect(begun.length - ended - 1).toBeLessThanOrEqual(atOnce)
        }
        await Promise.all(all)
        expect(begun).toEqual(Array.from({ length: room }, (_, n) => n))
        expect(refused).toHaveLength(callers - room)
      },
    ),
    { numRuns: 50 },
  )
})

test('a failure leaves its place to the next', async () => {
  const gate = createGate({ atOnce: 1, waiting: 1 })
  const first = gate.run(async () => {
    throw new Error('broken')
  })
  const second = gate.run(async () => 'done')
  await expect(first).rejects.toThrow('broken')
  expect(await second).toBe('done')
  expect(await gate.run(async () => 'free')).toBe('free')
})

test('who waited too long for their turn is refused, and those behind come at once', async () => {
  const gate = createGate({ atOnce: 1, waiting: 3, longestWaitMs: 30 })
  const { work, ends } = pending()
  const held = gate.run(work)
  const began = performance.now()
  const late = Array.from({ length: 3 }, () => gate.run(async () => 'done'))
  const refused = Promise.allSettled(late)
  await expect.poll(() => performance.now() - began).toBeGreaterThan(40)
  for (const end of ends) end()
  await held
  for (const one of await refused)
    expect(one).toMatchObject({ status: 'rejected', reason: { code: 'unavailable' } })
  expect(await gate.run(async () => 'free')).toBe('free')
})

test('a keyed gate refuses beyond its number for that key, and forgets who left', async () => {
  const gate = createKeyedGate({ atOnce: 2, waiting: 0 })
  const { work, ends } = pending()
  const held = [gate.run('an', work), gate.run('an', work)]
  await expect(gate.run('an', work)).rejects.toMatchObject({ code: 'rate_limited' })
  expect(await gate.run('binh', async () => 'in')).toBe('in')
  for (const end of ends) end()
  await Promise.all(held)
  expect(await gate.run('an', async () => 'in')).toBe('in')
})

test('a keyed gate has each key wait for itself only, and refuses beyond its length', async () => {
  const queue = createKeyedGate({ atOnce: 1, waiting: 1 })
  const { work, ends } = pending()
  const held = queue.run('an', work)
  const next = queue.run('an', async () => 'next')
  await expect(queue.run('an', work)).rejects.toMatchObject({ code: 'rate_limited' })
  expect(await queue.run('binh', async () => 'in')).toBe('in')
  for (const end of ends) end()
  await held
  expect(await next).toBe('next')
  expect(await queue.run('an', async () => 'in')).toBe('in')
})
