import { expect, test } from 'vitest'
import { createMetrics } from './metrics.ts'

const lines = (text: string, name: string): string[] =>
  text.split('\n').filter((line) => line.startsWith(name))

test('a source that fails, or is late, takes no other with it', async () => {
  const metrics = createMetrics({ longestMs: 100 })
  let broken = false
  let begun = 0
  let answer: (value: { slow: number }) => void = () => undefined
  const family = { type: 'gauge', help: 'a test' } as const
  metrics.gauge('well', 'a test', () => 7)
  metrics.source({ first: family, second: { ...family, labels: ['of'] } }, () => {
    if (broken) throw new Error('the table is locked')
    return { first: 1, second: [{ of: { of: 'a' }, value: 2 }] }
  })
  metrics.source({ slow: family }, () => {
    begun++
    return new Promise((resolve) => {
      answer = resolve
    })
  })
  const well = await metrics.text()
  expect(lines(well, 'first')).toEqual(['first 1'])
  expect(lines(well, 'second')).toEqual(['second{of="a"} 2'])
  expect(lines(well, 'slow')).toEqual(['slow Nan'])
  expect(lines(well, 'portal_metric_unread{metric="slow"}')).toEqual([
    'portal_metric_unread{metric="slow"} 1',
  ])

  broken = true
  const from = performance.now()
  const ill = await metrics.text()
  expect(performance.now() - from).toBeLessThan(1_000)
  // A value from before the failure is not reported as current.
  expect(lines(ill, 'first')).toEqual(['first Nan'])
  expect(lines(ill, 'second')).toEqual([])
  expect(lines(ill, 'well')).toEqual(['well 7'])
  expect(lines(ill, 'portal_metric_unread').toSorted()).toEqual([
    'portal_metric_unread{metric="first"} 1',
    'portal_metric_unread{metric="second"} 1',
    'portal_metric_unread{metric="slow"} 1',
    'portal_metric_unread{metric="well"} 0',
  ])
  // A source that hangs is not read a second time in parallel.
  expect(begun).toBe(1)
  answer({ slow: 3 })
  broken = false
  await new Promise((resolve) => setImmediate(resolve))
  const next = metrics.text()
  setTimeout(() => answer({ slow: 4 }), 20)
  const again = await next
  expect(lines(again, 'slow')).toEqual(['slow 4'])
  expect(lines(again, 'first')).toEqual(['first 1'])
})

test('however many hang, the others are read at the next look', async () => {
  const metrics = createMetrics({ longestMs: 100 })
  for (let index = 0; index < 20; index++)
    metrics.gauge(`hangs_${index}`, 'a test', () => new Promise(() => undefined))
  metrics.gauge('well', 'a test', () => 1)
  await expect
    .poll(async () => lines(await metrics.text(), 'well'), { timeout: 10_000 })
    .toEqual(['well 1'])
})

test('what costs much is read once a minute, and again at once after a failure', async () => {
  const metrics = createMetrics({ costlyEveryMs: 400 })
  let looks = 0
  let broken = false
  metrics.source(
    { looks: { type: 'gauge', help: 'a test' } },
    () => {
      if (broken) throw new Error('broken')
      return { looks: ++looks }
    },
    'costly',
  )
  const value = async () => lines(await metrics.text(), 'looks')
  expect(await value()).toEqual(['looks 1'])
  expect(await value()).toEqual(['looks 1'])
  await expect.poll(value).toEqual(['looks 2'])
  broken = true
  await expect.poll(value).toEqual(['looks Nan'])
  broken = false
  expect(await value()).toEqual(['looks 3'])
})
