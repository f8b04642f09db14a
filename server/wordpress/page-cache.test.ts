/** The page cache as the owner of a server sees it: the switch, the figures, and the purge. */
import http from 'node:http'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { PageCacheState } from '../../contract/page-cache.ts'
import { eventually, openTestPortal, type TestPortal } from '../../test/portal.ts'

let portal: TestPortal
beforeAll(async () => {
  portal = await openTestPortal()
})
afterAll(() => portal.close())

/** The cache's word in the answer to a visitor, and the status. */
const visit = (host: string, target: string): Promise<{ word: unknown; status: number }> =>
  new Promise((resolve, reject) => {
    http
      .get(
        {
          host: '127.0.0.1',
          port: portal.config.SITES_PORT,
          path: target,
          headers: { host },
          agent: false,
        },
        (answer) => {
          answer.resume()
          answer.once('end', () =>
            resolve({ word: answer.headers['x-cache'], status: answer.statusCode ?? 0 }),
          )
        },
      )
      .once('error', reject)
  })

test('an owner sees what the cache does, switches it off and on, and purges it', async () => {
  const an = await portal.customer()
  const { token } = an
  await portal.topUp(an, 500_000)
  const order = {
    size: 1,
    region: 1,
    disk: 10_240,
    mariadb_disk_size: 10_240,
    user: 'an',
    password: 'Mat-khau-9!',
    replicate: 1,
  }
  const { id } = (await portal.call<{ id: string }>('POST', '/api/wp', { token, body: order })).body
    .result
  const domain = await eventually(
    'the server running',
    async () => {
      const { result } = (
        await portal.call<{ status: string; domain: string }>('GET', `/api/wp/${id}`, { token })
      ).body
      return result.status === 'running' && result.domain
    },
    90,
  )
  const state = async (): Promise<PageCacheState> =>
    (await portal.call<PageCacheState>('GET', `/api/wp/${id}/cache`, { token })).body.result
  const before = await state()
  expect(before.enabled).toBe(true)
  const file = '/wp-includes/css/dashicons.min.css'
  const words = async (): Promise<unknown[]> => [
    (await visit(domain, file)).word,
    (await visit(domain, file)).word,
  ]
  // Work left from the installation may end just now and drop cached pages.
  const figures = await eventually('a file being kept', async () => {
    const [, second] = await words()
    const now = (await state()).figures
    return second === 'HIT' && now?.entries === 1 && now
  })
  expect(figures.hits - before.figures!.hits).toBeGreaterThanOrEqual(1)
  expect(figures.day).toEqual({
    hits: figures.hits,
    misses: figures.misses,
    bypassed: figures.bypassed,
  })
  expect(Date.parse(figures.since)).toBeLessThanOrEqual(Date.now())

  const purge = () =>
    portal.call<{ dropped: number }>('POST', `/api/wp/${id}/cache/purge`, { token })
  await eventually('a purge that drops it', async () => {
    await words()
    return (await purge()).body.result.dropped === 1
  })
  expect((await purge()).body.result).toEqual({ dropped: 0 })
  expect(await words()).toEqual(['MISS', 'HIT'])

  const change = (enabled: boolean) =>
    portal.call<PageCacheState>('PUT', `/api/wp/${id}/cache`, { token, body: { enabled } })
  expect((await change(false)).body.result.enabled).toBe(false)
  await eventually('no page being kept', async () => (await visit(domain, file)).word === undefined)
  // Cached pages were dropped when the cache was switched off.
  expect(await state()).toMatchObject({ enabled: false, figures: { entries: 0 } })
  expect((await change(true)).body.result.enabled).toBe(true)
  await eventually('pages being kept', async () => (await visit(domain, file)).word === 'HIT')

  // Other customers can neither see nor do any of this.
  const other = await portal.customer()
  for (const [method, path, body] of [
    ['GET', 'cache', undefined],
    ['PUT', 'cache', { enabled: false }],
    ['POST', 'cache/purge', undefined],
  ] as const)
    expect(
      (await portal.call(method, `/api/wp/${id}/${path}`, { token: other.token, body })).status,
    ).toBe(404)
  expect((await state()).enabled).toBe(true)

  // A container may have ended before it reported its last writes.
  await portal.drivers.wordpress.stop(id)
  expect((await state()).figures!.entries).toBe(0)
}, 120_000)
