/** How long the changes of a domain are kept, and what becomes of whoever catches up from them. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Domain } from '../../contract/dns.ts'
import { rateLimits } from '../../contract/rate-limits.ts'
import { domainsOf } from '../../test/domain-owner.ts'
import { jobsIdle } from '../../test/idle-jobs.ts'
import {
  manualClock,
  openTestPortal,
  type TestCustomer,
  type TestPortal,
} from '../../test/portal.ts'
import { days } from '../platform/clock.ts'
import { transaction } from '../platform/db.ts'

const clock = manualClock()
let portal: TestPortal
let an: TestCustomer
/** What the name server says that it has, in place of what it has. */
let pretended: { id: string; serial: number } | undefined
/** How zones were brought to the name server, by their names. */
let brought: string[] = []

beforeAll(async () => {
  portal = await openTestPortal({
    clock,
    changeDrivers: (drivers) => ({
      ...drivers,
      dns: {
        ...drivers.dns,
        held: async (name) => pretended ?? (await drivers.dns.held(name)),
        async putZone(head, sets) {
          brought.push(`whole ${head.name}`)
          await drivers.dns.putZone(head, sets)
        },
        async changeZone(head, from, sets) {
          brought.push(`changes ${head.name}`)
          return await drivers.dns.changeZone(head, from, sets)
        },
      },
    }),
  })
  an = await portal.customer()
})
afterAll(() => portal.close())
const { call, create, add, post } = domainsOf(
  () => an,
  () => portal,
)

const serialOf = async ({ id }: Domain): Promise<number> =>
  (await call<{ serial: number }>('GET', `/api/dns/${id}/records`)).body.result.serial
const kept = async ({ id }: Domain): Promise<number> =>
  (await portal.app.db.selectFrom('dns_change').select('id').where('zone_id', '=', id).execute())
    .length
async function tidy(): Promise<void> {
  await transaction(portal.app.db, (tx) => portal.app.jobs.add(tx, 'tidy', {}))
  await jobsIdle(portal.app.db)
}
/** Changes one record again and again, as a program does whose address changes. */
async function change(domain: Domain, times: number): Promise<void> {
  const { id } = await add(domain, { name: `moving${await kept(domain)}` })
  for (let time = 2; time <= times; time++) {
    const body = { name: 'moving', type: 'A', content: `203.0.113.${time % 250}`, ttl: 60 + time }
    expect((await call('PUT', `/api/dns/${domain.id}/records/${id}`, body)).status).toBe(200)
  }
}

test('a log keeps 90 days, and always its newest hundred changes', async () => {
  const [busy, quiet] = [await create(), await create()]
  await change(busy, 130)
  await change(quiet, 3)
  await tidy()
  expect([await kept(busy), await kept(quiet)]).toEqual([130, 3])
  const before = await serialOf(busy)
  clock.advance(days(91))
  an = await portal.signIn(an)
  await add(busy, { name: 'late' })
  await tidy()
  expect([await kept(busy), await kept(quiet)]).toEqual([100, 3])

  // A copy of records that the log still reaches back to is told of changes; an older one is not.
  const since = async (domain: Domain, serial: number) =>
    (
      await call<{ data: object[] | null }>(
        'GET',
        `/api/dns/${domain.id}/changed-records?since=${serial}`,
      )
    ).body.result.data
  expect(await since(busy, before)).toHaveLength(1)
  expect(await since(busy, before - 125)).toBeNull()
  // Of the other domain nothing was dropped.
  expect(await since(quiet, (await serialOf(quiet)) - 3)).toHaveLength(1)

  // A name server likewise.
  const bring = async (serial: number): Promise<string[]> => {
    brought = []
    pretended = { id: busy.id, serial }
    await portal.app.dns.publisher.ensure(busy.name).finally(() => (pretended = undefined))
    return brought
  }
  expect(await bring(before)).toContain(`changes ${busy.name}`)
  expect(await bring(before - 125)).toEqual([`whole ${busy.name}`])
})

test('the log of a deleted domain goes with it', async () => {
  const domain = await create()
  await change(domain, 3)
  expect((await call('DELETE', `/api/dns/${domain.id}`)).status).toBe(200)
  await tidy()
  expect(await kept(domain)).toBe(0)
})

test('changes of one account have a limit, by the hour and by the kind', async () => {
  const domain = await create()
  const { db } = portal.app
  /** Uses up what the account may do of a kind, but for one. */
  const useUp = async (name: 'record-write' | 'records-write'): Promise<void> => {
    const { numUpdatedRows } = await db
      .updateTable('rate_limit')
      .set({ points: rateLimits[name].attempts - 1 })
      .where('key', 'like', `${name}:%`)
      .executeTakeFirstOrThrow()
    expect(numUpdatedRows).toBe(1n)
  }
  await add(domain, {})
  await useUp('record-write')
  await add(domain, { name: 'last' })
  const refused = await post(domain, { name: 'more' })
  expect(refused.status).toBe(429)
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)

  const file = (name: string, preview = false) =>
    call('POST', `/api/dns/${domain.id}/zone`, { content: `${name} 60 A 203.0.113.1\n`, preview })
  expect((await file('first')).status).toBe(200)
  await useUp('records-write')
  expect((await file('second')).status).toBe(200)
  expect((await file('third')).status).toBe(429)
  // What a file would change may be asked all the same.
  expect((await file('third', true)).status).toBe(200)
})
