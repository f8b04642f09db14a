/** What the edge remembers of pages that it does not keep: little, and not for long. */
import v8 from 'node:v8'
import vm from 'node:vm'
import { expect, test } from 'vitest'
import { cachedSiteOf, host, openKeepingEdge, page } from '../../../test/cached-site.ts'
import { NeverKept } from './never-kept.ts'

/** What is in use once garbage is collected, bytes. */
function heapBytes(): number {
  v8.setFlagsFromString('--expose-gc')
  const collect = vm.runInNewContext('gc') as () => void
  v8.setFlagsFromString('--no-expose-gc')
  collect()
  return process.memoryUsage().heapUsed
}

test('long addresses of pages that are not kept take no memory of the edge', async () => {
  const { edge, cache } = await openKeepingEdge()
  const { site, ask } = cachedSiteOf(() => edge)
  const seen = await site((request, response) =>
    page(request, response, { headers: { 'cache-control': 'private' } }),
  )
  const longQuery = 'x'.repeat(14_000)
  const visits = async (count: number): Promise<void> => {
    for (let asked = 0; asked < count; asked += 10)
      await Promise.all(
        Array.from({ length: 10 }, (_, index) =>
          ask(host, `/?${count}.${asked + index}${longQuery}`),
        ),
      )
    seen.length = 0
  }
  await visits(50)
  const before = heapBytes()
  await visits(1_000)
  expect(cache.counts()).toMatchObject({ misses: 1_050, entries: 0 })
  // Their keys are 14 MB.
  expect(heapBytes() - before).toBeLessThan(7e6)
})

test('what is over is forgotten, and the oldest is where there are too many', async () => {
  const brief = new NeverKept(5, 1_000)
  for (let index = 0; index < 100; index++) brief.add(`page ${index}`)
  expect(brief.has('page 99')).toBe(true)
  await expect.poll(() => brief.has('page 99')).toBe(false)
  brief.add('another')
  expect(brief.size).toBe(1)

  const few = new NeverKept(60_000, 2)
  for (const key of ['a', 'b', 'a', 'c']) few.add(key)
  expect(['a', 'b', 'c'].map((key) => few.has(key))).toEqual([true, false, true])
  few.delete('a')
  expect(few.has('a')).toBe(false)
})
