/** One origin per machine, and pages of the catalogue's lists. */
import http from 'node:http'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openTestPortal, type TestPortal } from '../../test/portal.ts'

let portal: TestPortal

beforeAll(async () => {
  portal = await openTestPortal()
})
afterAll(() => portal.close())

const requestPage = (
  host: string,
  path: string,
): Promise<{ status: number | undefined; location: string | undefined }> =>
  new Promise((resolve, reject) => {
    http
      .get({ host: '127.0.0.1', port: portal.config.PORT, path, headers: { host } }, (answer) => {
        answer.resume()
        answer.on('end', () =>
          resolve({ status: answer.statusCode, location: answer.headers.location }),
        )
      })
      .on('error', reject)
  })

test("a page under this machine's other name leads to the address, a call not", async () => {
  const { PORT } = portal.config
  expect(await requestPage(`localhost:${PORT}`, '/payment?amount=5')).toEqual({
    status: 302,
    location: `${portal.url}/payment?amount=5`,
  })
  expect((await requestPage(`localhost:${PORT}`, '/api/config')).status).toBe(200)
  expect((await requestPage(`portal.example.vn:${PORT}`, '/payment')).status).toBe(200)
  expect((await requestPage(`127.0.0.1:${PORT}`, '/payment')).status).toBe(200)
})

test('what is called like a file, and is none, is not found; a screen is', async () => {
  const status = async (path: string) => (await fetch(`${portal.url}${path}`)).status
  for (const path of ['/.env', '/wp-login.php', '/assets/gone-1a2b.js', '/.git/config.old'])
    expect([path, await status(path)]).toEqual([path, 404])
  for (const path of ['/', '/login', '/nowhere', '/robots.txt', '/favicon.png'])
    expect([path, await status(path)]).toEqual([path, 200])
})

test('regions and plans come in pages like every list', async () => {
  const { token } = await portal.customer()
  const seen: number[] = []
  let cursor = ''
  do {
    const page = await portal.call<{ data: { id: number }[] }>(
      'GET',
      `/api/wp/regions?limit=4${cursor}`,
      { token },
    )
    seen.push(...page.body.result.data.map((region) => region.id))
    cursor = page.body.page?.next ? `&cursor=${page.body.page.next}` : ''
  } while (cursor !== '')
  expect(seen).toEqual([1, 2, 3, 4, 5, 6])
  const plans = await portal.call<{ id: number }[]>('GET', '/api/wp/sizes', { token })
  expect(plans.body.page).toEqual({ next: null })
  expect(plans.body.result.length).toBeGreaterThanOrEqual(5)
})
