/**
 * Customers' own names of a server: checked again, kept while the domain is here, and released with
 * the server.
 */
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { sql } from 'kysely'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { openTestDns, type TestDns } from '../../test/dns-server.ts'
import {
  eventually,
  manualClock,
  openTestPortal,
  type TestCustomer,
  type TestPortal,
} from '../../test/portal.ts'
import { fresh, namedServersOf, type Server } from '../../test/named-servers.ts'
import { days, hours } from '../platform/clock.ts'
import { transaction } from '../platform/db.ts'
import { DriverFailure } from '../platform/errors.ts'
import type { WordpressDriver } from './driver.ts'

const clock = manualClock()
let dns: TestDns
let portal: TestPortal
/** A deletion does not end before this promise does. */
let removal: Promise<void> = Promise.resolve()
/** The real driver, except that this host accepts no new site. */
const withoutRoom = (real: WordpressDriver): WordpressDriver => ({
  ...real,
  async install() {
    throw new DriverFailure('rejected', 'this host takes no such site')
  },
  async remove(id) {
    await removal
    await real.remove(id)
  },
})
beforeAll(async () => {
  dns = await openTestDns()
  portal = await openTestPortal({
    clock,
    env: { DNS_RESOLVERS: dns.address, SITES_DOMAIN: 'sites.example.net' },
    changeDrivers: (drivers) => ({ ...drivers, wordpress: withoutRoom(drivers.wordpress) }),
  })
})
afterAll(async () => {
  await portal.close()
  await dns.close()
})

const { server, put, point, signIn } = namedServersOf(
  () => portal,
  () => dns,
)
const remove = ({ id, token }: Server) => portal.call('DELETE', `/api/wp/${id}`, { token })
/** Deletes the server; the deletion stays unfinished until the returned function is called. */
async function beginRemoval(site: Server): Promise<() => void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  removal = promise
  expect((await remove(site)).status).toBe(200)
  return resolve
}
const gone = ({ id, token }: Server) =>
  eventually(
    'the server gone',
    async () => (await portal.call('GET', `/api/wp/${id}`, { token })).status === 404,
  )
let zones = 0

describe('a name of a domain that is active in the same account', () => {
  let person: TestCustomer
  let site: Server
  let zone: { id: string; name: string; nameserver: string[] }
  /** Sets name servers at the registrar, as the domain's owner would. */
  const delegate = (nameservers: readonly string[]) =>
    fetch(`${portal.sandboxUrl}/registry.json`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ name: zone.name, nameservers }),
    })
  const activate = async (): Promise<void> => {
    await delegate(zone.nameserver)
    const path = `/api/dns/check?domain=${zone.name}`
    const { body } = await portal.call<{ isValid: boolean }>('GET', path, { token: site.token })
    expect(body.result.isValid).toBe(true)
  }
  const pointAtServer = (to = site, at = zone) =>
    portal.call('POST', `/api/dns/${at.id}/point`, { token: site.token, body: { wp: to.id } })
  interface Written {
    /** The zone's serial number, which rises with every change. */
    serial: number
    data: { name: string; content: string }[]
  }
  const written = async (at: typeof zone): Promise<Written> =>
    (await portal.call<Written>('GET', `/api/dns/${at.id}/records`, { token: site.token })).body
      .result
  const verified = async (): Promise<Record<string, boolean>> => {
    const { body } = await portal.call<{ domainStates: { name: string; verified: boolean }[] }>(
      'GET',
      `/api/wp/${site.id}`,
      {
        token: site.token,
      },
    )
    return Object.fromEntries(body.result.domainStates.map((state) => [state.name, state.verified]))
  }
  /** Moves the clock, has the delegations checked, and every name checked again. */
  async function after(ms: number): Promise<Record<string, boolean>> {
    clock.advance(ms)
    site.token = await signIn(person)
    await portal.app.dns.verifier.checkDue()
    // A recheck that began by itself may still use the old delegations: only checks from now on
    // count.
    clock.advance(1)
    const since = clock.now()
    const { db, jobs } = portal.app
    const names = db.selectFrom('site_domain').select('id').where('site_id', '=', site.id)
    await eventually('the names being looked at', async () => {
      const open = await names.where('checked_at', '<', since).execute()
      // An earlier round may have claimed the names, so they are made due again.
      const { numUpdatedRows } = await db
        .updateTable('site_domain')
        .set({ next_check_at: since })
        .where('site_id', '=', site.id)
        .where('checked_at', '<', since)
        .where('next_check_at', '<>', since)
        .executeTakeFirst()
      if (numUpdatedRows > 0n) await transaction(db, (tx) => jobs.add(tx, 'recheck-domains', {}))
      return open.length === 0
    })
    return await verified()
  }
  beforeEach(async () => {
    person = await portal.customer()
    site = await server(person)
    dns.records.set(`A ${site.name}.sites.example.net`, ['104.16.1.1'])
    const name = `zone${++zones}.com`
    zone = (
      await portal.call<typeof zone>('POST', '/api/dns', { token: site.token, body: { name } })
    ).body.result
    await activate()
    expect((await pointAtServer()).status).toBe(200)
    expect(await verified()).toEqual({ [zone.name]: true, [`www.${zone.name}`]: true })
  })

  test('stays verified while it is, wherever resolvers say that it points', async () => {
    expect(await after(days(1))).toEqual({ [zone.name]: true, [`www.${zone.name}`]: true })
  })

  test("is proven by our name server's answer; in a zone delegated on, by resolvers", async () => {
    const held = [zone.name, `www.${zone.name}`]
    const [shop, below] = [`shop.${zone.name}`, `shop.below.${zone.name}`]
    expect((await put(site, [...held, shop])).body.error?.code).toBe('domain_not_verified')
    dns.records.set(`CNAME ${shop}`, ['old.example.net'])
    const content = `${site.name}.sites.example.net`
    const record = { id: zone.id, name: 'shop', type: 'CNAME', content, ttl: 300, proxied: false }
    expect(
      (
        await portal.call('POST', `/api/dns/${zone.id}/records`, {
          token: site.token,
          body: record,
        })
      ).status,
    ).toBe(201)
    await eventually(
      'the record served',
      async () => (await put(site, [...held, shop])).status === 200,
    )
    expect(await verified()).toMatchObject({ [shop]: true })
    point(below, site)
    expect((await put(site, [...held, shop, below])).status).toBe(200)
    expect(await after(days(1))).toMatchObject({ [shop]: true, [below]: true })
  })

  test('is not verified once the domain is deleted, unless proven as any other name', async () => {
    expect((await portal.call('DELETE', `/api/dns/${zone.id}`, { token: site.token })).status).toBe(
      200,
    )
    expect(await after(days(1))).toEqual({ [zone.name]: false, [`www.${zone.name}`]: false })
    point(`www.${zone.name}`, site)
    expect(await after(days(1))).toEqual({ [zone.name]: false, [`www.${zone.name}`]: true })
  })

  test('and once the domain is delegated elsewhere, until it is back', async () => {
    await delegate(['ns1.elsewhere.net', 'ns2.elsewhere.net'])
    await after(days(1) + hours(1))
    expect(await after(days(1))).toEqual({ [zone.name]: false, [`www.${zone.name}`]: false })
    // After a week without the delegation the domain is no longer active here.
    expect(await after(days(8))).toEqual({ [zone.name]: false, [`www.${zone.name}`]: false })
    await activate()
    expect(await after(days(1))).toEqual({ [zone.name]: true, [`www.${zone.name}`]: true })
  })

  test('gives no name once it is delegated elsewhere, nor takes one from its holder', async () => {
    await delegate(['ns1.elsewhere.net', 'ns2.elsewhere.net'])
    for (const gap of [days(1) + hours(1), days(1)]) {
      clock.advance(gap)
      await portal.app.dns.verifier.checkDue()
    }
    site.token = await signIn(person)
    const { movedAt } = (
      await portal.call<{ movedAt: string | null }>('GET', `/api/dns/${zone.id}`, {
        token: site.token,
      })
    ).body.result
    expect(movedAt).not.toBeNull()
    // The domain's new owner, whose DNS is elsewhere, proves it by TXT.
    const theirs = await server()
    const { body } = await portal.call<{ records: { type: string; expected: string[] }[] }>(
      'GET',
      `/api/wp/${theirs.id}/domain/check?name=${zone.name}`,
      { token: theirs.token },
    )
    const txt = body.result.records.find(({ type }) => type === 'TXT')
    dns.records.set(`TXT _portal-challenge.${zone.name}`, txt?.expected ?? [])
    expect((await put(theirs, [zone.name])).status).toBe(200)
    const pointed = await portal.call<{ domains: string[] }>('POST', `/api/dns/${zone.id}/point`, {
      token: site.token,
      body: { wp: site.id },
    })
    expect([pointed.status, pointed.body.result.domains]).toEqual([200, []])
    expect(await put(theirs, [zone.name])).toMatchObject({
      body: { result: { domains: [zone.name] } },
    })
  })

  test('takes no name that lies in a nearer domain of another account', async () => {
    const [other, name] = [await portal.customer(), `www.${zone.name}`]
    const theirs = await server(other)
    dns.records.set(`A ${theirs.name}.sites.example.net`, ['104.16.1.2'])
    const { token } = other
    const nearer = (
      await portal.call<typeof zone>('POST', '/api/dns', {
        token,
        body: { name: `zone${++zones}.com` },
      })
    ).body.result
    // A domain that was active before the domain above it was.
    await portal.app.db
      .updateTable('dns_zone')
      .set({ name, active_at: clock.now() })
      .where('id', '=', nearer.id)
      .execute()
    const taken = await portal.call('POST', `/api/dns/${nearer.id}/point`, {
      token,
      body: { wp: theirs.id },
    })
    expect(taken.status, taken.text).toBe(200)
    expect(await verified()).toEqual({ [zone.name]: true })
    expect((await pointAtServer()).status).toBe(409)
    expect(await verified()).toEqual({ [zone.name]: true })
  })

  test('is verified at once when the domain, back, is pointed at the server anew', async () => {
    await portal.call('DELETE', `/api/dns/${zone.id}`, { token: site.token })
    expect(await after(days(1))).toMatchObject({ [zone.name]: false })
    zone = (
      await portal.call<typeof zone>('POST', '/api/dns', {
        token: site.token,
        body: { name: zone.name },
      })
    ).body.result
    await activate()
    await pointAtServer()
    expect(await verified()).toEqual({ [zone.name]: true, [`www.${zone.name}`]: true })
  })

  describe('is not given to a server that takes no names any more, and nothing is written', () => {
    /** The domain stays unchanged and with its server; so does one that is only claimed. */
    async function refused(to: Server, pointing = pointAtServer): Promise<void> {
      const claim = (
        await portal.call<typeof zone>('POST', '/api/dns', {
          token: site.token,
          body: { name: `zone${++zones}.com` },
        })
      ).body.result
      for (const at of [zone, claim]) {
        const before = await written(at)
        const answer = await pointing(to, at)
        expect([answer.status, answer.body.error?.code]).toEqual([409, 'server_not_running'])
        expect(await written(at)).toEqual(before)
      }
      expect(await verified()).toEqual({ [zone.name]: true, [`www.${zone.name}`]: true })
    }

    test('because it is being deleted', async () => {
      const other = await server(person)
      const removed = await beginRemoval(other)
      await refused(other)
      removed()
      await gone(other)
      expect((await pointAtServer(other)).status).toBe(404)
    })

    test('because it is deleted while the DNS is asked where it is', async () => {
      await refused(site, async (_, at) => {
        const other = await server(person)
        dns.records.set(`A ${other.name}.sites.example.net`, ['104.16.1.1'])
        const { asked, answer } = dns.hold(`${other.name}.sites.example.net`)
        const pointing = pointAtServer(other, at)
        await asked
        const removed = await beginRemoval(other)
        answer()
        const answered = await pointing
        removed()
        return answered
      })
    })

    test('because it failed', async () => {
      await portal.topUp({ ...person, token: site.token }, 2_000_000)
      // The server that has the domain is paid for now, and fails too, because it was ordered
      // first.
      const other = await server(person)
      await eventually('the server failing', async () => {
        const { body } = await portal.call<{ status: string }>('GET', `/api/wp/${other.id}`, {
          token: site.token,
        })
        return body.result.status === 'failed'
      })
      await refused(other)
    })
  })
})

test('the look at all names has an hour for it, and never a second one beside it', async () => {
  const { rows } = await sql`
    select policy, retry_limit, expire_seconds from pgboss.queue where name = 'recheck-domains'
  `.execute(portal.app.db)
  expect(rows).toEqual([{ policy: 'short', retry_limit: 0, expire_seconds: 3000 }])
})

test('a name proven while its server is being deleted is the customer’s for the next', async () => {
  const an = await portal.customer()
  const [one, name] = [await server(an), fresh()]
  point(name, one)
  const { asked, answer } = dns.hold(name)
  const putting = put(one, [name])
  await asked
  const removed = await beginRemoval(one)
  answer()
  const refused = await putting
  expect([refused.status, refused.body.error?.code]).toEqual([409, 'server_not_running'])
  removed()
  await gone(one)
  const two = await server(an)
  point(name, two)
  expect((await put(two, [name])).body.result).toEqual({ domains: [name] })
})

test('names that servers kept although they were deleted are let go of as from then', async () => {
  const an = await portal.customer()
  const [kept, held] = [fresh(), fresh()]
  const [one, two] = [await server(an), await server(an)]
  for (const [name, site] of [
    [kept, one],
    [held, two],
  ] as const) {
    point(name, site)
    await put(site, [name])
  }
  clock.advance(hours(1))
  await remove(one)
  await gone(one)
  const { db } = portal.app
  await db.updateTable('site_domain').set({ released_at: null }).where('name', '=', kept).execute()
  await sql
    .raw(
      await readFile(
        path.resolve(import.meta.dirname, '../migrations/0031_names_of_deleted_servers.sql'),
        'utf8',
      ),
    )
    .execute(db)
  const rows = await db
    .selectFrom('site_domain')
    .select(['name', 'released_at'])
    .where('name', 'in', [kept, held])
    .orderBy('id')
    .execute()
  expect(rows).toEqual([
    { name: kept, released_at: clock.now() },
    { name: held, released_at: null },
  ])
  const other = await server(an)
  point(kept, other)
  expect((await put(other, [kept])).status).toBe(200)
})
