/**
 * A customer's name gets a certificate, and visitors come by HTTPS: ordered from the sandbox's
 * authority, which looks at the edge as Let's Encrypt would.
 */
import { X509Certificate } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { openHttpsWorld, type HttpsServer, type HttpsWorld } from '../../test/https-world.ts'
import { fresh } from '../../test/named-servers.ts'
import { eventually, manualClock } from '../../test/portal.ts'
import { days } from '../platform/clock.ts'

const clock = manualClock()
let world: HttpsWorld
let server: HttpsServer
beforeAll(async () => {
  world = await openHttpsWorld({
    clock,
    env: { ACME_CERTIFICATES_A_WEEK: '1000' },
    timing: { certificates: { callMs: 400, orderMs: 1_200 } },
  })
  server = await world.server()
})
afterAll(async () => await world.close())
beforeEach(async () => {
  for (const id of ['first', 'second'] as const)
    await world.behave(id, { mode: 'well', perDomain: 1000, badNonces: 0, slowMs: 30_000 })
})

/** Handles what is due now, as the job does every minute. */
const look = (): Promise<void> => world.portal.app.tls.due()
const issuedFor = async (id: 'first' | 'second', name: string) =>
  (await world.behave(id)).issued.filter(({ names }) => names.includes(name))
const row = (name: string) =>
  world.portal.app.db
    .selectFrom('certificate')
    .selectAll()
    .where('name', '=', name)
    .executeTakeFirst()
const retry = (name: string, who = server) =>
  world.portal.call('POST', `/api/wp/${who.id}/https/${name}/retry`, { token: who.owner.token })
/** The number of orders sent to the first authority. */
const ordersWithFirst = async (): Promise<number> => {
  const { db } = world.portal.app
  const rows = await db
    .selectFrom('acme_order')
    .select('id')
    .where('directory', 'like', '%/first/%')
    .execute()
  return rows.length
}
/** The serial number that visitors of the name are shown. */
const served = async (name: string): Promise<string> => {
  const socket = await world.handshake(name)
  const { serialNumber } = socket.getPeerX509Certificate() ?? { serialNumber: '' }
  socket.destroy()
  return serialNumber
}
const isServed = (name: string): Promise<boolean> =>
  served(name).then(
    () => true,
    () => false,
  )

describe('a name that is added', () => {
  test('gets a certificate, and is visited by HTTPS from then on', async () => {
    const name = await world.named(server)
    const shown = await world.settled(server, name, 'issued')
    expect(shown).toMatchObject({ issuer: 'Sandbox CA', problem: null })
    const page = await eventually('HTTPS', () => world.visit(name).catch(() => undefined))
    expect([page.status, page.text.includes('Hello world!')]).toEqual([200, true])
    const again = await world.visit2(name)
    expect([again.status, again.text]).toEqual([200, page.text])
    const [one] = await issuedFor('first', name)
    expect(new X509Certificate(one?.chain ?? '').subjectAltName).toBe(`DNS:${name}`)
    // HTTP redirects to HTTPS, to the requested page.
    const plain = await world.plain(name, '/shop?x=1')
    expect([plain.status, plain.headers.location]).toEqual([301, `https://${name}/shop?x=1`])
    expect((await world.plain(name, '/form', 'POST')).status).toBe(308)
    const { SITES_PORT: port } = world.portal.config
    const { location } = (await world.plain(`${name}:${port}`)).headers
    expect(location).toBe(`https://${name}:${world.tlsPort}/`)
    // The key is stored encrypted, and neither the API nor the edge's log reveals it.
    const kept = await row(name)
    expect(kept?.key_sealed?.toString('latin1')).not.toContain('PRIVATE KEY')
    expect(JSON.stringify(await world.https(server))).not.toContain('PRIVATE')
  })

  test('is asked for with nonces that the authority refuses half of the time', async () => {
    await world.behave('first', { badNonces: 0.5 })
    await world.behave('second', { badNonces: 0.5 })
    const name = await world.named(server)
    await eventually('issued', async () => {
      const found = await world.certificate(server, name)
      // Four refused nonces in a row have a probability of one in sixteen: then retry.
      if (found?.problem) await retry(name)
      return found?.state === 'issued'
    })
  })

  test('is not asked for while it leads elsewhere, and is once it leads here', async () => {
    const name = fresh()
    const { token } = server.owner
    const check = await world.portal.call<{ records: { type: string; expected: string[] }[] }>(
      'GET',
      `/api/wp/${server.id}/domain/check?name=${name}`,
      { token },
    )
    const txt = check.body.result.records.find(({ type }) => type === 'TXT')
    world.dns.records.set(`TXT _portal-challenge.${name}`, txt?.expected ?? [])
    world.dns.records.set(`CNAME ${name}`, ['shops.elsewhere.example'])
    await world.add(server, name)
    const shown = await world.settled(server, name, 'failed', 'not_pointed')
    expect(shown.problem?.detail).toBe('shops.elsewhere.example')
    expect(await issuedFor('first', name)).toEqual([])
    // HTTP still works.
    expect((await world.plain(name)).status).toBe(200)
    world.point(name, server)
    expect((await retry(name)).status).toBe(200)
    await world.settled(server, name, 'issued')
  })

  test('is looked at by the authority itself: a record that misleads it is told', async () => {
    const name = fresh()
    world.point(name, server)
    world.dns.records.set(`CAA ${name}`, [
      { flags: 0, tag: 'issue', value: 'other.example' },
    ] as never)
    await world.add(server, name)
    const shown = await world.settled(server, name, 'failed', 'caa')
    expect(shown.problem?.detail).toContain('CAA record')
    world.dns.records.delete(`CAA ${name}`)
    await retry(name)
    await world.settled(server, name, 'issued')
  })

  test('that is removed is renewed no more, and its key is forgotten', async () => {
    const name = await world.named(server)
    await world.settled(server, name, 'issued')
    await eventually('HTTPS', () => isServed(name))
    await world.portal.call('DELETE', `/api/wp/${server.id}/domain/${name}`, {
      token: server.owner.token,
    })
    await eventually('forgotten', async () => (await row(name)) === undefined)
    await eventually('no HTTPS', async () => !(await isServed(name)))
  })
})

describe('a server that is deleted', () => {
  test('leaves no certificate and no key behind', async () => {
    const other = await world.server()
    const name = await world.named(other)
    await world.settled(other, name, 'issued')
    await eventually('HTTPS', () => isServed(name))
    const { token } = other.owner
    expect((await world.portal.call('DELETE', `/api/wp/${other.id}`, { token })).status).toBe(200)
    await eventually('forgotten', async () => (await row(name)) === undefined)
    await eventually('no HTTPS', async () => !(await isServed(name)))
  })
})

describe('an authority that', () => {
  test.each([
    ['is down', { mode: 'down' }],
    ['answers late', { mode: 'slow', slowMs: 2_000 }],
    ['refuses', { mode: 'refuses' }],
    ['never finishes', { mode: 'stuck' }],
    ['has issued as much as it allows', { perDomain: 0 }],
  ])('%s has the second one asked', async (_what, behaviour) => {
    await world.behave('first', behaviour)
    const name = await world.named(server)
    const shown = await world.settled(server, name, 'issued')
    expect(shown.issuer).toBe('Sandbox CA Two')
    expect(await issuedFor('first', name)).toEqual([])
  })

  test.each([
    ['down', { mode: 'down' }, 'unavailable', 0.9, 1.1],
    ['full', { perDomain: 0 }, 'rate_limited', 60, 66],
    ['refusing', { mode: 'refuses' }, 'refused', 54, 66],
  ] as const)('is %s, and so is the second: it is told, and tried later', async (...of) => {
    const [, behaviour, problem, least, most] = of
    for (const id of ['first', 'second'] as const) await world.behave(id, behaviour)
    const name = await world.named(server)
    const first = await world.settled(server, name, 'failed', problem)
    const waitOf = (nextAt: string): number => (Date.parse(nextAt) - clock.now().getTime()) / 60_000
    expect(waitOf(first.nextAt)).toBeGreaterThanOrEqual(least)
    expect(waitOf(first.nextAt)).toBeLessThanOrEqual(most)
    // HTTP still reaches the site.
    expect((await world.plain(name)).status).toBe(200)
    // The waiting time grows each time.
    clock.advance(waitOf(first.nextAt) * 60_000)
    await look()
    const second = await row(name)
    expect(waitOf(second?.next_at.toISOString() ?? '')).toBeGreaterThan(least * 1.5)
    server = await world.signIn(server)
    for (const id of ['first', 'second'] as const)
      await world.behave(id, { mode: 'well', perDomain: 1000 })
    await retry(name)
    await world.settled(server, name, 'issued')
  })

  test('lost its accounts is given a new one', async () => {
    await world.portal.app.db
      .updateTable('acme_account')
      .set((eb) => ({ url: eb(eb.ref('url'), '||', 'x') as never }))
      .execute()
    const name = await world.named(server)
    expect((await world.settled(server, name, 'issued')).issuer).toBe('Sandbox CA')
  })
})

describe('a run that was cut short', () => {
  test('is gone on with: the authority issues once', async () => {
    await world.behave('first', { mode: 'stuck' })
    await world.behave('second', { mode: 'down' })
    const name = await world.named(server)
    await world.settled(server, name, 'failed', 'unavailable')
    const left = await row(name)
    const orders = await ordersWithFirst()
    expect(left?.order_url).toContain('/acme/first/order/')
    await world.behave('first', { mode: 'well' })
    await retry(name)
    await world.settled(server, name, 'issued')
    expect(await issuedFor('first', name)).toHaveLength(1)
    expect(await ordersWithFirst()).toBe(orders)
    expect(await row(name)).toMatchObject({ order_url: null, order_key_sealed: null })
  })

  test('one under way is left to its worker, though its owner asks for another', async () => {
    await world.behave('first', { mode: 'stuck' })
    await world.behave('second', { mode: 'down' })
    const name = await world.named(server)
    const leased = await eventually('an order', async () => {
      const found = await row(name)
      return found?.order_url && found.leased_until ? found : undefined
    })
    expect((await retry(name)).status).toBe(200)
    expect((await row(name))?.next_at).toEqual(leased.next_at)
    await world.settled(server, name, 'failed', 'unavailable')
    // The lease is given back at the end of the try, before it expires.
    await eventually('it is given back', async () => (await row(name))?.leased_until === null)
    await world.behave('first', { mode: 'well' })
    await retry(name)
    await world.settled(server, name, 'issued')
  })

  test('and two runs at once order once', async () => {
    const names: string[] = []
    for (let count = 0; count < 6; count++) names.push(await world.named(server))
    await Promise.all([look(), look(), look()])
    for (const name of names) {
      await world.settled(server, name, 'issued')
      expect(await issuedFor('first', name)).toHaveLength(1)
    }
  })
})

describe('the owner of a server', () => {
  test('has browsers come by HTTPS alone, or takes that back', async () => {
    const name = await world.named(server)
    await world.settled(server, name, 'issued')
    await eventually('HTTPS', () => isServed(name))
    const { token } = server.owner
    const choose = (httpsOnly: boolean) =>
      world.portal.call('PUT', `/api/wp/${server.id}/https`, { token, body: { httpsOnly } })
    const told = async (): Promise<string | undefined> =>
      (await world.visit(name)).headers['strict-transport-security']
    expect([(await world.https(server)).httpsOnly, await told()]).toEqual([null, undefined])
    expect((await choose(true)).status).toBe(200)
    await eventually('a year', async () => (await told()) === 'max-age=31536000')
    expect((await world.visit2(name)).headers['strict-transport-security']).toBe('max-age=31536000')
    expect((await world.plain(name)).headers['strict-transport-security']).toBeUndefined()
    expect((await choose(false)).status).toBe(200)
    await eventually('taken back', async () => (await told()) === 'max-age=0')
  })

  test('sees and mends nobody else’s', async () => {
    const name = await world.named(server)
    const { token } = await world.portal.customer()
    for (const [method, path, body] of [
      ['GET', '', undefined],
      ['PUT', '', { httpsOnly: true }],
      ['POST', `/${name}/retry`, undefined],
    ] as const) {
      const answer = await world.portal.call(method, `/api/wp/${server.id}/https${path}`, {
        token,
        ...(body && { body }),
      })
      expect([answer.status, answer.body.error?.code]).toEqual([404, 'not_found'])
    }
    expect((await retry('nobody.example.org')).status).toBe(404)
  })

  test('has ten tries an hour', async () => {
    const other = await world.server()
    const answers = await Promise.all(
      Array.from({ length: 11 }, () => retry('nobody.example.org', other)),
    )
    expect(answers.filter(({ status }) => status === 429).length).toBeGreaterThanOrEqual(1)
  })
})

describe('the portal', () => {
  test('is started again: visitors come by HTTPS meanwhile, and afterwards', async () => {
    const name = await world.named(server)
    await world.settled(server, name, 'issued')
    await eventually('HTTPS', () => isServed(name))
    const serial = await served(name)
    await world.portal.reopen({ sitesGoOn: true }, async () => {
      expect(await served(name)).toBe(serial)
    })
    expect(await served(name)).toBe(serial)
    await world.portal.reopen()
    expect(await served(name)).toBe(serial)
  })

  test('forgets what other modules say is gone, and finds what was missed', async () => {
    const name = await world.named(server)
    await world.settled(server, name, 'issued')
    const { db } = world.portal.app
    await db.deleteFrom('certificate').where('name', '=', name).execute()
    await db
      .insertInto('certificate')
      .values({
        name: 'left.example.org',
        created_at: clock.now(),
        next_at: new Date(clock.now().getTime() + days(1)),
      })
      .execute()
    await world.portal.app.tls.align()
    await world.settled(server, name, 'issued')
    expect(await row('left.example.org')).toBeUndefined()
  })
})
