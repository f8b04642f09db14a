/**
 * Customers' own names: how they are proven, when they are refused, and who gets a name that two
 * want.
 */
import { randomUUID } from 'node:crypto'
import { request } from 'node:http'
import fc from 'fast-check'
import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openTestDns, type TestDns } from '../../test/dns-server.ts'
import { eventually, manualClock, openTestPortal, type TestPortal } from '../../test/portal.ts'
import { fresh, namedServersOf, type Server } from '../../test/named-servers.ts'
import { days } from '../platform/clock.ts'
import { transaction, type Queryable } from '../platform/db.ts'
import { readHostName } from './domains.ts'

const clock = manualClock()
let dns: TestDns
let portal: TestPortal
beforeAll(async () => {
  dns = await openTestDns()
  portal = await openTestPortal({
    clock,
    env: { DNS_RESOLVERS: dns.address, SITES_DOMAIN: 'sites.example.net' },
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

interface Checked {
  name: string
  verified: boolean
  pointed: boolean
  records: {
    type: string
    name: string
    expected: string[]
    found: string[]
    counts: boolean
    points: boolean
  }[]
}
const shown = async ({ id, token }: Server): Promise<string[]> =>
  (await portal.call<{ domains: string[] }>('GET', `/api/wp/${id}`, { token })).body.result.domains
const check = async ({ id, token }: Server, name: string): Promise<Checked> =>
  (await portal.call<Checked>('GET', `/api/wp/${id}/domain/check?name=${name}`, { token })).body
    .result
const drop = ({ id, token }: Server, name: string) =>
  portal.call('DELETE', `/api/wp/${id}/domain/${name}`, { token })
async function prove(name: string, by: Server): Promise<void> {
  const txt = (await check(by, name)).records.find(({ type }) => type === 'TXT')
  dns.records.set(`TXT ${txt?.name}`, txt?.expected ?? [])
}

const txtOf = (name: string): readonly string[] =>
  dns.records.get(`TXT _portal-challenge.${name}`) ?? []

describe('a name is accepted', () => {
  test('when its CNAME points at the server, and then the server has it', async () => {
    const [site, name] = [await server(), fresh()]
    point(name, site)
    const answer = await put(site, [`HTTPS://${name.toUpperCase()}/`])
    expect([answer.status, answer.body.result]).toEqual([200, { domains: [name] }])
    expect(await shown(site)).toEqual([name])
    expect((await put(site, [name])).status).toBe(200)
  })

  test('but not under the id of another server', async () => {
    const [site, other, name] = [await server(), await server(), fresh()]
    point(name, site)
    for (const [path, body] of [
      ['/domain', { domains: [name] }],
      ['', { name: 'an-other-name' }],
      ['/disk', { disk: 20_480 }],
    ] as const) {
      const answer = await portal.call('PUT', `/api/wp/${site.id}${path}`, {
        token: site.token,
        body: { id: other.id, ...body },
      })
      expect([answer.status, answer.body.error?.fields], path).toEqual([
        422,
        { id: 'This is the id of another server.' },
      ])
    }
    expect(await shown(site)).toEqual([])
  })

  test('when its TXT record holds the token of this account', async () => {
    const [site, name] = [await server(), fresh()]
    await prove(name, site)
    expect((await put(site, [name])).body.result.domains).toEqual([name])
  })

  test('when it points at the addresses of the server’s name, unless many share them', async () => {
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

  test('but an address that several sites share proves nothing, whoever asks', async () => {
    const [site, neighbour, name] = [await server(), await server(), fresh()]
    const edge = '203.0.113.80'
    const hosts = [site, neighbour].map((one) => `A ${one.name}.sites.example.net`)
    for (const host of [...hosts, `A ${name}`]) dns.records.set(host, [edge])
    for (const who of [site, neighbour]) {
      expect((await put(who, [name])).body.error?.code).toBe('domain_not_verified')
      expect(await check(who, name)).toMatchObject({ verified: false, pointed: true })
    }
    // An address does not prove a name either where a wildcard leads every name below the sites'
    // domain to it.
    const alone = '203.0.113.81'
    dns.records.set(hosts[0] ?? '', [alone])
    dns.records.set(`A ${name}`, [alone])
    dns.records.set('A *.sites.example.net', [alone])
    expect((await put(site, [name])).body.error?.code).toBe('domain_not_verified')
    dns.records.delete('A *.sites.example.net')
    expect((await put(site, [name])).status).toBe(200)
  })

  test("at the top of a domain by TXT, and is shown the server's address", async () => {
    const [site, neighbour] = [await server(), await server()]
    const name = 'top-of-a-zone.com'
    const edge = '203.0.113.82'
    for (const one of [site, neighbour]) dns.records.set(`A ${one.name}.sites.example.net`, [edge])
    const { records } = await check(site, name)
    expect(records.map(({ type, counts, points }) => [type, counts, points])).toEqual([
      ['A', false, true],
      ['TXT', true, false],
    ])
    expect(records[0]).toMatchObject({ name, expected: [edge], found: [] })
    await prove(name, site)
    expect((await put(site, [name])).status).toBe(200)
    expect(await check(site, name)).toMatchObject({ verified: true, pointed: false })
    dns.records.set(`A ${name}`, [edge])
    expect(await check(site, name)).toMatchObject({ verified: true, pointed: true })
  })

  test('written in any script, as its A-label', async () => {
    const site = await server()
    point('xn--bnh-ela.example.org', site)
    expect((await put(site, ['bánh.example.org'])).body.result.domains).toEqual([
      'xn--bnh-ela.example.org',
    ])
  })
})

describe('a name is refused', () => {
  test('that points nowhere: the specified sentence, and what was sought and found', async () => {
    const [site, name] = [await server(), fresh()]
    dns.records.set(`CNAME ${name}`, ['elsewhere.example.com'])
    const answer = await put(site, [name])
    expect([answer.status, answer.body.message, answer.body.error?.code]).toEqual([
      422,
      'Domain is not verified !',
      'domain_not_verified',
    ])
    expect(answer.body.error?.fields?.['domains']).toContain(
      `CNAME ${name}: needs ${site.name}.sites.example.net, found elsewhere.example.com.`,
    )
    expect(answer.body.error?.fields?.['domains']).toMatch(
      new RegExp(`TXT _portal-challenge.${name}: needs [0-9a-f]{32}, found nothing`),
    )
    const vi = await portal.call('PUT', `/api/wp/${site.id}/domain`, {
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
    const an = await portal.customer()
    const [one, two, name] = [await server(an), await server(an), fresh()]
    point(name, one)
    await put(one, [name])
    await prove(name, two)
    const answer = await put(two, [name])
    expect(answer.body.error).toMatchObject({
      code: 'invalid_input',
      fields: { domains: 'Another of your servers has this domain.' },
    })
  })
})

describe('a name that another account holds', () => {
  test('is had by TXT only, and then the other has it no more', async () => {
    const [holder, taker, name] = [await server(), await server(), fresh()]
    point(name, holder)
    await put(holder, [name])
    point(name, taker)
    expect((await put(taker, [name])).body.error?.code).toBe('domain_not_verified')
    expect(
      (await check(taker, name)).records.map(({ type, counts }) => `${type} ${counts}`),
    ).toEqual(['CNAME false', 'TXT true'])
    await prove(name, taker)
    expect((await put(taker, [name])).body.result.domains).toEqual([name])
    expect(await shown(holder)).toEqual([])
  })

  test('whoever lost it is told, by letter and by notification', async () => {
    const [former, next] = [await portal.customer(), await portal.customer()]
    const [holder, taker, name] = [await server(former), await server(next), fresh()]
    await prove(name, holder)
    await put(holder, [name])
    await prove(name, taker)
    expect((await put(taker, [name])).status).toBe(200)
    const letter = await eventually('the letter', async () =>
      (await portal.inbox(former.email)).find(({ text }) =>
        text.includes(`rằng ${name} là của họ`),
      ),
    )
    expect(letter.text).toContain(`/wordpress/${holder.id}?tab=domain`)
    const told = await portal.call<{ data: { event: string; title: string }[] }>(
      'GET',
      '/api/notifications',
      { token: holder.token },
    )
    expect(told.body.result.data).toContainEqual(
      expect.objectContaining({ event: 'wordpress.domain' }),
    )
    expect(JSON.stringify(await portal.inbox(next.email))).not.toContain(name)
  })

  test('is not taken back by a record of before, but by the one that is shown then', async () => {
    const [former, accomplice, owner] = [await server(), await server(), await server()]
    const name = fresh()
    await prove(name, former)
    await put(former, [name])
    const stale = txtOf(name)
    // A token that was shown while the former holder had the name.
    await prove(name, accomplice)
    const known = txtOf(name)
    await prove(name, owner)
    expect((await put(owner, [name])).status).toBe(200)
    dns.records.set(`TXT _portal-challenge.${name}`, [...stale, ...known, ...txtOf(name)])
    for (const one of [former, accomplice]) {
      expect((await put(one, [name])).body.error?.code).toBe('domain_not_verified')
      const shown = (await check(one, name)).records.find(({ type }) => type === 'TXT')
      expect([...stale, ...known]).not.toContain(shown?.expected[0])
    }
    expect(await shown(owner)).toEqual([name])
    // The record that took the name still proves it.
    expect(await check(owner, name)).toMatchObject({ verified: true })
    // By the record that is shown now, the name changes hands again.
    await prove(name, former)
    expect((await put(former, [name])).status).toBe(200)
    expect(await shown(owner)).toEqual([])
  })

  test('nor by one that was shown before the server that holds it changed hands', async () => {
    const [giver, accomplice, receiver] = [await server(), await server(), await portal.customer()]
    const name = fresh()
    await prove(name, giver)
    await put(giver, [name])
    await prove(name, accomplice)
    // Hands the name over as wordpress/hand-over.ts does.
    await portal.app.db
      .updateTable('site_domain')
      .set({ customer_id: receiver.id })
      .where('name', '=', name)
      .execute()
    expect((await put(accomplice, [name])).body.error?.code).toBe('domain_not_verified')
  })

  test('nor is any put to, or taken from, a server that went over meanwhile', async () => {
    const [site, receiver] = [await server(), await portal.customer()]
    const [kept, name] = [fresh(), fresh()]
    for (const one of [kept, name]) point(one, site)
    expect((await put(site, [kept])).status).toBe(200)
    const { db } = portal.app
    const { customer_id: giver } = await db
      .selectFrom('site')
      .select('customer_id')
      .where('id', '=', site.id)
      .executeTakeFirstOrThrow()
    const goesTo = (tx: Queryable, id: string) =>
      tx.updateTable('site').set({ customer_id: id }).where('id', '=', site.id).execute()
    const question = dns.hold(name)
    const added = put(site, [kept, name])
    await question.asked
    await goesTo(db, receiver.id)
    question.answer()
    expect((await added).status).toBe(404)
    await goesTo(db, giver)
    const [holds, mayGo] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const goes = transaction(db, async (tx) => {
      await goesTo(tx, receiver.id)
      holds.resolve()
      await mayGo.promise
    })
    await holds.promise
    const dropped = drop(site, kept)
    await eventually('the call that waits for the row', async () => {
      const { rows } = await sql`select 1 from pg_stat_activity
        where datname = current_database() and wait_event_type = 'Lock'`.execute(db)
      return rows.length > 0
    }).finally(mayGo.resolve)
    await goes
    expect((await dropped).status).toBe(404)
    const held = db.selectFrom('site_domain').select('name').where('site_id', '=', site.id)
    expect(await held.where('released_at', 'is', null).execute()).toEqual([{ name: kept }])
  })

  test('so do the names below it, and for thirty days after it was let go of', async () => {
    const binh = await portal.customer()
    const [holder, taker, name] = [await server(), await server(binh), fresh()]
    point(name, holder)
    await put(holder, [name])
    const below = `blog.${name}`
    point(below, taker)
    expect((await put(taker, [below])).body.error?.code).toBe('domain_not_verified')
    expect((await drop(holder, name)).body.result).toEqual({ domains: [] })
    expect((await drop(holder, name)).status).toBe(404)
    // A session ends after half a day without a call.
    clock.advance(days(29))
    const later = { ...taker, token: await signIn(binh) }
    expect((await put(later, [below])).body.error?.code).toBe('domain_not_verified')
    clock.advance(days(2))
    expect((await put({ ...taker, token: await signIn(binh) }, [below])).status).toBe(200)
  })

  test('asked for by ten at once, with the right token each: one has it', async () => {
    const name = fresh()
    const sites = await Promise.all(Array.from({ length: 10 }, () => server()))
    const tokens = await Promise.all(
      sites.map(async (site) => (await check(site, name)).records.at(-1)?.expected[0] ?? ''),
    )
    dns.records.set(`TXT _portal-challenge.${name}`, tokens)
    const answers = await Promise.all(sites.map((site) => put(site, [name])))
    expect(answers.every(({ status }) => status === 200 || status === 409)).toBe(true)
    const held = await Promise.all(sites.map(shown))
    expect(held.filter((list) => list.includes(name))).toHaveLength(1)
  })
})

test('the edge answers on the name as on the server’s own', async () => {
  const [site, name] = [await server(), fresh()]
  point(name, site)
  await put(site, [name])
  const page = (host: string): Promise<number> =>
    new Promise((resolve, reject) => {
      request({ port: portal.config.SITES_PORT, host: '127.0.0.1', headers: { host } }, (answer) =>
        resolve(answer.resume().statusCode ?? 0),
      )
        .on('error', reject)
        .end()
    })
  // The order is not paid yet: the server's own name says "starting", and so does the customer's.
  const nobody = await page('nobody.example.org')
  const own = await eventually('its own name', async () => {
    const status = await page(`${site.name}.sites.example.net`)
    return status !== nobody && status
  })
  await eventually('the new name', async () => (await page(name)) === own)
  expect(await page('nobody.example.org')).toBe(nobody)
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
