/** The search in a customer's list of servers, through the API. */
import { sql } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Server } from '../../contract/wordpress.ts'
import { manyServers } from '../../test/many-rows.ts'
import { openTestPortal, type TestCustomer, type TestPortal } from '../../test/portal.ts'

let portal: TestPortal
let an: TestCustomer
beforeAll(async () => {
  portal = await openTestPortal()
  const binh = await portal.customer()
  an = await portal.customer()
  const { db } = portal.app
  await manyServers(db, an.id, 'ca-phe', 60)
  await manyServers(db, an.id, 'tiem-hoa', 1)
  await manyServers(db, binh.id, 'ca-phe-binh', 1)
  for (const [site, customer, name, released] of [
    ['ca-phe-7', an, 'hoasen.vn', false],
    ['ca-phe-8', an, 'xn--bnh-m-xqa5f.vn', false],
    ['ca-phe-9', an, 'cu.vn', true],
    ['ca-phe-binh-1', binh, 'hoasen.com', false],
  ] as const)
    await sql`
      insert into site_domain (site_id, customer_id, name, verified, proof, created_at, checked_at,
        released_at)
      select id, ${customer.id}, ${name}, true, 'txt', now(), now(),
        case when ${released}::boolean then now() end
      from site where name = ${site}`.execute(db)
})
afterAll(() => portal.close())

const page = async (query: string): Promise<{ names: string[]; next: string | null }> => {
  const { body } = await portal.call<Server[]>('GET', `/api/wp?${query}`, an)
  return { names: body.result.map(({ name }) => name), next: body.page?.next ?? null }
}
const found = async (search: string): Promise<string[]> =>
  (await page(`search=${encodeURIComponent(search)}`)).names

test('finds servers by parts of names and domains, with or without accents', async () => {
  for (const [search, names] of [
    ['ca-phe-42', ['ca-phe-42']],
    ['  TIỆM hoa ', ['tiem-hoa-1']],
    ['hoa', ['tiem-hoa-1', 'ca-phe-7']],
    ['hoasen.vn', ['ca-phe-7']],
    ['https://hoasen.vn/wp-admin/', ['ca-phe-7']],
    ['bánh-mì', ['ca-phe-8']],
    ['banh-mi.vn', ['ca-phe-8']],
    ['xn--bnh', ['ca-phe-8']],
    ['phe hoasen', ['ca-phe-7']],
    // Only the first eight words count.
    ['ca-phe-42 a-p h e c p 4 2 nowhere', ['ca-phe-42']],
    [`ca-phe-42.localhost:${portal.config.SITES_PORT}`, ['ca-phe-42']],
    // What all addresses have in common finds nobody by itself.
    ['localhost', []],
    ['cu.vn', []],
    ['hoasen.com', []],
    ['%', []],
    ['ca_phe', []],
  ] as const)
    expect(await found(search), search).toEqual(names)
})

test('pages through what it finds, and an empty search is the whole list', async () => {
  const first = await page('search=C%C3%A0%20ph%C3%AA&limit=50')
  expect(first.names).toHaveLength(50)
  expect(first.names[0]).toBe('ca-phe-60')
  const rest = await page(`search=C%C3%A0%20ph%C3%AA&limit=50&cursor=${first.next}`)
  expect(rest).toEqual({
    names: Array.from({ length: 10 }, (_, at) => `ca-phe-${10 - at}`),
    next: null,
  })
  expect(await page('search=')).toEqual(await page(''))
  expect((await page('')).names[0]).toBe('tiem-hoa-1')
})
