/** The nightly comparison with an external name server, while customers change records. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Domain } from '../../contract/dns.ts'
import { openPowerdns } from '../../sandbox/powerdns/index.ts'
import { openHttp } from '../../test/http-server.ts'
import { jobsIdle } from '../../test/idle-jobs.ts'
import { openTestPortal, type TestCustomer, type TestPortal } from '../../test/portal.ts'
import { transaction } from '../platform/db.ts'
import type { DnsDriver } from './driver.ts'
import { createPowerdns } from './drivers/powerdns/index.ts'

let http: Awaited<ReturnType<typeof openHttp>>
let portal: TestPortal
let an: TestCustomer
let driver: DnsDriver
/** Runs before the name server is queried for a zone. */
let meanwhile: (name: string) => Promise<void> = () => Promise.resolve()
/** Runs between reading a zone and writing it. */
let beforePut: (name: string) => Promise<void> = () => Promise.resolve()

beforeAll(async () => {
  const apiKey = 'key'
  http = await openHttp(openPowerdns({ apiKey }).routes)
  driver = createPowerdns({ url: http.url, apiKey, serverId: 'localhost', timeoutMs: 10_000 })
  portal = await openTestPortal({
    changeDrivers: (drivers) => ({
      ...drivers,
      dns: {
        ...driver,
        async held(name) {
          await meanwhile(name)
          return await driver.held(name)
        },
        async putZone(head, sets) {
          await beforePut(head.name)
          await driver.putZone(head, sets)
        },
      },
    }),
  })
  an = await portal.customer()
})
afterAll(async () => {
  await portal.close()
  await http.close()
})

const call = <T>(method: string, path: string, body?: object) =>
  portal.call<T>(method, path, { token: an.token, ...(body && { body }) })
const claim = async (name: string): Promise<Domain> =>
  (await call<Domain>('POST', '/api/dns', { name })).body.result
const serialOf = async ({ name }: Domain) => (await driver.held(name))?.serial
async function reconcile(): Promise<void> {
  await transaction(portal.app.db, (tx) => portal.app.jobs.add(tx, 'reconcile-domains', {}))
  await jobsIdle(portal.app.db)
}
const add = (domain: Domain, content: string) =>
  call('POST', `/api/dns/${domain.id}/records`, { name: 'www', type: 'A', content, ttl: 300 })

test('what is changed while it looks at other zones stays changed', async () => {
  const first = await claim('dau-tien.com')
  const changed = await claim('doi-ban-ghi.com')
  const deleted = await claim('xoa-di.com')
  await jobsIdle(portal.app.db)
  const before = await serialOf(changed)
  meanwhile = async (name) => {
    if (name !== first.name) return
    meanwhile = () => Promise.resolve()
    expect((await add(changed, '203.0.113.7')).status).toBe(201)
    expect((await call('DELETE', `/api/dns/${deleted.id}`)).status).toBe(200)
    await expect.poll(() => serialOf(changed)).toBeGreaterThan(before ?? Infinity)
    await expect.poll(() => serialOf(deleted)).toBeUndefined()
  }
  await reconcile()
  expect(await serialOf(changed)).toBeGreaterThan(before ?? Infinity)
  expect(await serialOf(deleted)).toBeUndefined()
})

test('what was lost at the name server is there again', async () => {
  const lost = await claim('bi-mat.com')
  await jobsIdle(portal.app.db)
  const head = await driver.held(lost.name)
  await driver.removeZone(lost.name)
  await reconcile()
  expect(await driver.held(lost.name)).toEqual(head)
})

test('a zone that another portal takes away during our write does not come back', async () => {
  const gone = await claim('hai-cong.com')
  await jobsIdle(portal.app.db)
  await driver.removeZone(gone.name)
  beforePut = async (name) => {
    beforePut = () => Promise.resolve()
    // As another process does it: first in the database, then at the name server.
    const set = { deleted_at: new Date(), pending_since: null, next_check_at: null }
    await portal.app.db.updateTable('dns_zone').set(set).where('name', '=', name).execute()
    await driver.removeZone(name)
  }
  expect((await add(gone, '203.0.113.8')).status).toBe(201)
  await jobsIdle(portal.app.db)
  expect(await serialOf(gone)).toBeUndefined()
})
