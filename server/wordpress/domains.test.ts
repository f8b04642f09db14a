/** Customers' own names: proven, contested, looked at again, let go of. */
import { randomUUID } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { request } from 'node:http'
import path from 'node:path'
import fc from 'fast-check'
import { sql } from 'kysely'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { openTestDns, type TestDns } from '../../test/dns-server.ts'
import { eventually, manualClock, openTestHouse, type TestCustomer, type TestHouse } from '../../test/house.ts'
import { days, hours } from '../platform/clock.ts'
import { transaction } from '../platform/db.ts'
import { DriverFailure } from '../platform/errors.ts'
import { readHostName } from './domains.ts'
import type { WordpressDriver } from './driver.ts'

const clock = manualClock()
let dns: TestDns
let house: TestHouse
/** A deletion does not end before this does. */
let removal: Promise<void> = Promise.resolve()
/** The real driver; whoever pays finds that this host takes no site. */
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
  house = await openTestHouse({
    clock,
    env: { DNS_RESOLVERS: dns.address, SITES_DOMAIN: 'sites.example.net' },
    changeDrivers: (drivers) => ({ ...drivers, wordpress: withoutRoom(drivers.wordpress) }),
  })
})
afterAll(async () => {
  await house.close()
  await dns.close()
})

interface Server {
  id: string
  name: string
  token: string
}
interface Checked {
  name: string
  verified: boolean
  records: { type: string; name: string; expected: string[]; found: string[]; counts: boolean }[]
}

const order = { size: 1, region: 1, disk: 10_240, mariadb_disk_size: 10_240, user: 'an', password: 'Mat-khau-9!', replicate: 1 }
/** An ordered server; it needs no money to be given a name. */
async function server(customer?: TestCustomer): Promise<Server> {
  const { token } = customer ?? (await house.customer())
  const { id } = (await house.call<{ id: string }>('POST', '/api/wp', { token, body: order })).body.result
  const { name } = (await house.call<{ name: string }>('GET', `/api/wp/${id}`, { token })).body.result
  return { id, name, token }
}
const put = ({ id, name, token }: Server, domains: readonly unknown[]) =>
  house.call<{ domains: string[] }>('PUT', `/api/wp/${id}/domain`, { token, body: { id, name, domains } })
const shown = async ({ id, token }: Server): Promise<string[]> =>
  (await house.call<{ domains: string[] }>('GET', `/api/wp/${id}`, { token })).body.result.domains
const check = async ({ id, token }: Server, name: string): Promise<Checked> =>
  (await house.call<Checked>('GET', `/api/wp/${id}/domain/check?name=${name}`, { token })).body.result
const remove = ({ id, token }: Server) => house.call('DELETE', `/api/wp/${id}`, { token })
/** Deletes the server; it stays half deleted until the answer is called. */
async function beginRemoval(site: Server): Promise<() => void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  removal = promise
  expect((await remove(site)).status).toBe(200)
  return resolve
}
const gone = ({ id, token }: Server) =>
  eventually('the server gone', async () => (await house.call('GET', `/api/wp/${id}`, { token })).status === 404)
const drop = ({ id, token }: Server, name: string) => house.call('DELETE', `/api/wp/${id}/domain/${name}`, { token })
const point = (name: string, to: Server): Map<string, readonly string[]> =>
  dns.records.set(`CNAME ${name}`, [`${to.name}.sites.example.net`])
async function prove(name: string, by: Server): Promise<void> {
  const txt = (await check(by, name)).records.find(({ type }) => type === 'TXT')
  dns.records.set(`TXT ${txt?.name}`, txt?.expected ?? [])
}
const signIn = async ({ email, password }: TestCustomer): Promise<string> =>
  (await house.call<{ token: { accessToken: string } }>('POST', '/api/v1/auth/login', { body: { email, password } })).body.result.token
    .accessToken
let names = 0
const fresh = (): string => `shop${++names}.example.org`

describe('a name is accepted', () => {
  test('when its CNAME points at the server, and then the server has it', async () => {
    const [site, name] = [await server(), fresh()]
    point(name, site)
    const answer = await put(site, [`HTTPS://${name.toUpperCase()}/`])
    expect([answer.status, answer.body.result]).toEqual([200, { domains: [name] }])
    expect(await shown(site)).toEqual([name])
    expect((await put(site, [name])).status).toBe(200)
  })

  test('when its TXT record holds the token of this account', async () => {
    const [site, name] = [await server(), fresh()]
    await prove(name, site)
    expect((await put(site, [name])).body.result.domains).toEqual([name])
  })

  test('when it points at the addresses of the server’s own name, unless many share them', async () => {
    const [site, name] = [await server(), fresh()]
    const own = `A ${site.name}.sites.example.net`
    dns.records.set(`A ${name}`, ['203.0.113.7'])
    dns.records.set(own, ['104.16.1.1'])
    dns.records.set(`A ${name}`, ['104.16.1.1'])
    expect((await put(site, [name])).body.error?.code).toBe('domain_not_verified')
    dns.records.set(own, ['203.0.113.7'])
    expect((await put(site, [name])).body.error?.code).toBe('domain_not_verified')
    dns.records.set(`A ${name}`, ['203.0.113.7'])
    expect((await put(site, [name])).status).toBe(200)
  })

  test('written in any script, as its A-label', async () => {
    const site = await server()
    point('xn--bnh-ela.example.org', site)
    expect((await put(site, ['bánh.example.org'])).body.result.domains).toEqual(['xn--bnh-ela.example.org'])
  })
})

describe('a name is refused', () => {
  test('that points nowhere: the sentence of the specification, and what was looked for and found', async () => {
    const [site, name] = [await server(), fresh()]
    dns.records.set(`CNAME ${name}`, ['elsewhere.example.com'])
    const answer = await put(site, [name])
    expect([answer.status, answer.body.message, answer.body.error?.code]).toEqual([422, 'Domain is not verified !', 'domain_not_verified'])
    expect(answer.body.error?.fields?.['domains']).toContain(
      `CNAME ${name}: needs ${site.name}.sites.example.net, found elsewhere.example.com.`,
    )
    expect(answer.body.error?.fields?.['domains']).toMatch(new RegExp(`TXT _portal-challenge.${name}: needs [0-9a-f]{32}, found nothing`))
    const vi = await house.call('PUT', `/api/wp/${site.id}/domain`, {
      token: site.token,
      body: { domains: [name] },
      headers: { 'accept-language': 'vi' },
    })
    expect(vi.body.message).toBe('Tên miền chưa được xác minh !')
    expect(await shown(site)).toEqual([])
  })

  test.each([
    'com',
    'co.uk',
    'localhost',
    '127.0.0.1',
    '[::1]',
    'a b.example.org',
    'x.sites.example.net',
    '-a.example.org',
    '*.example.org',
    'a..example.org',
    '',
  ])('that is none: %j', async (name) => {
    const site = await server()
    const answer = await put(site, [name])
    expect([answer.status, answer.body.error?.code]).toEqual([422, 'invalid_input'])
  })

  test('for somebody else’s server, as for none', async () => {
    const [site, other] = [await server(), await server()]
    expect((await put({ ...site, token: other.token }, [fresh()])).status).toBe(404)
    expect((await put({ ...site, id: randomUUID() }, [fresh()])).status).toBe(404)
    expect((await drop({ ...site, token: other.token }, 'a.example.org')).status).toBe(404)
  })

  test('a list that lost a name which another tab added', async () => {
    const [site, first, second] = [await server(), fresh(), fresh()]
    point(first, site)
    point(second, site)
    await put(site, [first])
    expect((await put(site, [second])).status).toBe(409)
    expect((await put(site, [first, second])).body.result.domains).toEqual([first, second])
  })

  test('a name of another server of the same customer', async () => {
    const an = await house.customer()
    const [one, two, name] = [await server(an), await server(an), fresh()]
    point(name, one)
    await put(one, [name])
    await prove(name, two)
    const answer = await put(two, [name])
    expect(answer.body.error).toMatchObject({ code: 'invalid_input', fields: { domains: 'Another of your servers has this domain.' } })
  })
})

describe('a name that another account holds', () => {
  test('is had by TXT only, and then the other has it no more', async () => {
    const [holder, taker, name] = [await server(), await server(), fresh()]
    point(name, holder)
    await put(holder, [name])
    point(name, taker)
    expect((await put(taker, [name])).body.error?.code).toBe('domain_not_verified')
    expect((await check(taker, name)).records.map(({ type, counts }) => `${type} ${counts}`)).toEqual(['CNAME false', 'TXT true'])
    await prove(name, taker)
    expect((await put(taker, [name])).body.result.domains).toEqual([name])
    expect(await shown(holder)).toEqual([])
  })

  test('so do the names below it, and for thirty days after it was let go of', async () => {
    const binh = await house.customer()
    const [holder, taker, name] = [await server(), await server(binh), fresh()]
    point(name, holder)
    await put(holder, [name])
    const below = `blog.${name}`
    point(below, taker)
    expect((await put(taker, [below])).body.error?.code).toBe('domain_not_verified')
    expect((await drop(holder, name)).body.result).toEqual({ domains: [] })
    expect((await drop(holder, name)).status).toBe(404)
    // Half a day without a call ends a session.
    clock.advance(days(29))
    const later = { ...taker, token: await signIn(binh) }
    expect((await put(later, [below])).body.error?.code).toBe('domain_not_verified')
    clock.advance(days(2))
    expect((await put({ ...taker, token: await signIn(binh) }, [below])).status).toBe(200)
  })

  test('asked for by ten at once, with the right token each: one has it', async () => {
    const name = fresh()
    const sites = await Promise.all(Array.from({ length: 10 }, () => server()))
    const tokens = await Promise.all(sites.map(async (site) => (await check(site, name)).records.at(-1)?.expected[0] ?? ''))
    dns.records.set(`TXT _portal-challenge.${name}`, tokens)
    const answers = await Promise.all(sites.map((site) => put(site, [name])))
    expect(answers.every(({ status }) => status === 200 || status === 409)).toBe(true)
    const held = await Promise.all(sites.map(shown))
    expect(held.filter((list) => list.includes(name))).toHaveLength(1)
  })
})

describe('a name of a domain that is active in the same account', () => {
  let person: TestCustomer
  let site: Server
  let zone: { id: string; name: string; nameserver: string[] }
  /** At the registrar, as the owner of the domain would. */
  const delegate = (nameservers: readonly string[]) =>
    fetch(`${house.sandboxUrl}/registry.json`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ name: zone.name, nameservers }),
    })
  const activate = async (): Promise<void> => {
    await delegate(zone.nameserver)
    const path = `/api/dns/check?domain=${zone.name}`
    const { body } = await house.call<{ isValid: boolean }>('GET', path, { token: site.token })
    expect(body.result.isValid).toBe(true)
  }
  const pointAtServer = (to = site, at = zone) => house.call('POST', `/api/dns/${at.id}/point`, { token: site.token, body: { wp: to.id } })
  interface Written {
    /** Grows with every change. */
    serial: number
    data: { name: string; content: string }[]
  }
  const written = async (at: typeof zone): Promise<Written> =>
    (await house.call<Written>('GET', `/api/dns/${at.id}/records`, { token: site.token })).body.result
  const verified = async (): Promise<Record<string, boolean>> => {
    const { body } = await house.call<{ domainStates: { name: string; verified: boolean }[] }>('GET', `/api/wp/${site.id}`, {
      token: site.token,
    })
    return Object.fromEntries(body.result.domainStates.map((state) => [state.name, state.verified]))
  }
  /** Time passes, the delegations are looked at, and every name is looked at again. */
  async function after(ms: number): Promise<Record<string, boolean>> {
    clock.advance(ms)
    site.token = await signIn(person)
    await house.house.dns.verifier.checkDue()
    // What looks at them by itself now has not seen the delegations yet.
    clock.advance(1)
    const since = clock.now()
    const { db, jobs } = house.house
    await transaction(db, (tx) => jobs.add(tx, 'recheck-domains', {}))
    await eventually('the names being looked at', async () => {
      const open = await db.selectFrom('site_domain').select('id').where('site_id', '=', site.id).where('checked_at', '<', since).execute()
      return open.length === 0
    })
    return await verified()
  }
  beforeEach(async () => {
    person = await house.customer()
    site = await server(person)
    dns.records.set(`A ${site.name}.sites.example.net`, ['104.16.1.1'])
    const name = `zone${++names}.com`
    zone = (await house.call<typeof zone>('POST', '/api/dns', { token: site.token, body: { name } })).body.result
    await activate()
    expect((await pointAtServer()).status).toBe(200)
    expect(await verified()).toEqual({ [zone.name]: true, [`www.${zone.name}`]: true })
  })

  test('stays verified while it is, wherever resolvers say that it points', async () => {
    expect(await after(days(1))).toEqual({ [zone.name]: true, [`www.${zone.name}`]: true })
  })

  test('is shown as not verified once the domain is deleted, unless it is proven as any other name', async () => {
    expect((await house.call('DELETE', `/api/dns/${zone.id}`, { token: site.token })).status).toBe(200)
    expect(await after(days(1))).toEqual({ [zone.name]: false, [`www.${zone.name}`]: false })
    point(`www.${zone.name}`, site)
    expect(await after(days(1))).toEqual({ [zone.name]: false, [`www.${zone.name}`]: true })
  })

  test('and once the domain is delegated elsewhere, until it is back', async () => {
    await delegate(['ns1.elsewhere.net', 'ns2.elsewhere.net'])
    await after(days(1) + hours(1))
    expect(await after(days(1))).toEqual({ [zone.name]: false, [`www.${zone.name}`]: false })
    // After a week of that it is no longer active here.
    expect(await after(days(8))).toEqual({ [zone.name]: false, [`www.${zone.name}`]: false })
    await activate()
    expect(await after(days(1))).toEqual({ [zone.name]: true, [`www.${zone.name}`]: true })
  })

  test('is verified at once when the domain, back again, is pointed at the server anew', async () => {
    await house.call('DELETE', `/api/dns/${zone.id}`, { token: site.token })
    expect(await after(days(1))).toMatchObject({ [zone.name]: false })
    zone = (await house.call<typeof zone>('POST', '/api/dns', { token: site.token, body: { name: zone.name } })).body.result
    await activate()
    await pointAtServer()
    expect(await verified()).toEqual({ [zone.name]: true, [`www.${zone.name}`]: true })
  })

  describe('is not given to a server that takes no names any more, and nothing is written', () => {
    /** The domain stays as it is and with the server that has it; so does one that is only claimed. */
    async function refused(to: Server, pointing = pointAtServer): Promise<void> {
      const claim = (await house.call<typeof zone>('POST', '/api/dns', { token: site.token, body: { name: `zone${++names}.com` } })).body
        .result
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
      await house.topUp({ ...person, token: site.token }, 2_000_000)
      // The one that has the domain is paid for now, and fails too: it was ordered first.
      const other = await server(person)
      await eventually('the server failing', async () => {
        const { body } = await house.call<{ status: string }>('GET', `/api/wp/${other.id}`, { token: site.token })
        return body.result.status === 'failed'
      })
      await refused(other)
    })
  })
})

test('a name that is proven while its server is being deleted is the customer’s for the next server', async () => {
  const an = await house.customer()
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
  const an = await house.customer()
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
  const { db } = house.house
  await db.updateTable('site_domain').set({ released_at: null }).where('name', '=', kept).execute()
  await sql.raw(await readFile(path.resolve(import.meta.dirname, '../migrations/0031_names_of_deleted_servers.sql'), 'utf8')).execute(db)
  const rows = await db.selectFrom('site_domain').select(['name', 'released_at']).where('name', 'in', [kept, held]).orderBy('id').execute()
  expect(rows).toEqual([
    { name: kept, released_at: clock.now() },
    { name: held, released_at: null },
  ])
  const other = await server(an)
  point(kept, other)
  expect((await put(other, [kept])).status).toBe(200)
})

test('the edge answers on the name as on the server’s own', async () => {
  const [site, name] = [await server(), fresh()]
  point(name, site)
  await put(site, [name])
  const page = (host: string): Promise<number> =>
    new Promise((resolve, reject) => {
      request({ port: house.config.SITES_PORT, host: '127.0.0.1', headers: { host } }, (answer) => resolve(answer.resume().statusCode ?? 0))
        .on('error', reject)
        .end()
    })
  // Not paid yet: its own name says "starting", and so does the customer's.
  const own = await page(`${site.name}.sites.example.net`)
  await eventually('the new name', async () => (await page(name)) === own)
  expect(await page('nobody.example.org')).not.toBe(own)
})

test('what is read as a domain is a name under a public suffix, whatever is typed', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme', maxLength: 40 }), (typed) => {
      const read = readHostName(typed, ['portal.example'])
      if (read !== undefined) {
        expect(read).toMatch(/^([a-z0-9]([a-z0-9-]*[a-z0-9])?\.)+[a-z0-9-]+$/)
        expect(readHostName(read, ['portal.example'])).toBe(read)
      }
    }),
    { numRuns: 2000 },
  )
})
