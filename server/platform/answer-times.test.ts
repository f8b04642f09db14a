import fc from 'fast-check'
import { expect, test } from 'vitest'
import { answerTimeBounds, timeOfShare } from './answer-times.ts'

const classOf = (ms: number): number => {
  const found = answerTimeBounds.findIndex((bound) => ms <= bound)
  return found < 0 ? answerTimeBounds.length : found
}

test('what is read lies in the class of the answer that has the share below it', () => {
  fc.assert(
    fc.property(
      fc.array(fc.integer({ min: 0, max: 60_000 }), { minLength: 1, maxLength: 200 }),
      fc.double({ min: 0.01, max: 1, noNaN: true }),
      (times, share) => {
        const counts = Array.from({ length: answerTimeBounds.length + 1 }, () => 0)
        for (const ms of times) counts[classOf(ms)]! += 1
        const exact = times.toSorted((a, b) => a - b)[Math.ceil(share * times.length) - 1]!
        const read = timeOfShare(counts, share)!
        const index = classOf(exact)
        expect(read).toBeGreaterThanOrEqual(answerTimeBounds[index - 1] ?? 0)
        expect(read).toBeLessThanOrEqual(answerTimeBounds[index] ?? answerTimeBounds.at(-1)!)
      },
    ),
  )
})

test('of no answers nothing is read', () => {
  expect(timeOfShare([], 0.5)).toBeNull()
  expect(timeOfShare([0, 0], 0.5)).toBeNull()
})
