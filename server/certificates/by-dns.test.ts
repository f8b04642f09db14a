/**
 * Names whose zone is on our name servers are proven in the DNS, and so is the wildcard of the
 * sites' domain.
 */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { dig } from '../../test/dig.ts'
import { domainsOf } from '../../test/domain-owner.ts'
import {
  openHttpsWorld,
  sitesDomain,
  type HttpsServer,
  type HttpsWorld,
} from '../../test/https-world.ts'
import { jobsIdle } from '../../test/idle-jobs.ts'
import { eventually } from '../../test/portal.ts'

let world: HttpsWorld
let server: HttpsServer
beforeAll(async () => {
  world = await openHttpsWorld({ timing: { certificates: { orderMs: 5_000 } } })
  server = await world.server()
})
afterAll(async () => await world.close())
beforeEach(async () => void (await world.behave('first', { mode: 'well' })))

const domains = domainsOf(
  () => server.owner,
  () => world.portal,
)
const texts = async (name: string): Promise<readonly string[]> =>
  (await dig(world.portal.config.DNS_PORT, { name, type: 'TXT' })).answer
const row = (name: string) =>
  world.portal.app.db
    .selectFrom('certificate')
    .selectAll()
    .where('name', '=', name)
    .executeTakeFirst()
/** A domain that is active here: registered, with the pair that the account was given. */
async function active(name: string) {
  const domain = await domains.create(name)
  await domains.activate(domain)
  return domain
}
const wildcard = `*.${sitesDomain}`
const due = async (name: string): Promise<void> => {
  await world.portal.app.db
    .updateTable('certificate')
    .set({ next_at: new Date(0), attempts: 0 })
    .where('name', '=', name)
    .execute()
  await world.portal.app.tls.due()
}

const register = (name: string, nameservers: readonly string[]) =>
  fetch(`${world.portal.sandboxUrl}/registry.json`, {
    method: 'POST',
    body: JSON.stringify({ name, nameservers }),
  })

describe('a name of a domain that is active here', () => {
  test('is proven by a TXT record, which is gone afterwards and in no change log', async () => {
    world.dns.records.set(`A ${server.name}.${sitesDomain}`, ['127.0.0.1'])
    const name = 'coffee.com.vn'
    const domain = await active(name)
    // The record stands while the authority is looking: this one waits for a record of its own.
    await domains.add(domain, {
      name: `_acme-challenge`,
      type: 'TXT',
      content: 'of another program',
      proxied: false,
    })
    const pointed = await domains.call('POST', `/api/dns/${domain.id}/point`, { wp: server.id })
    expect(pointed.status).toBe(200)
    await world.settled(server, name, 'issued')
    const challenges = await world.portal.app.db.selectFrom('dns_challenge').selectAll().execute()
    expect(challenges.map(({ name: relative }) => relative)).toContain('_acme-challenge')
    const { data } = (
      await domains.call<{ data: { action: string }[] }>('GET', `/api/dns/${domain.id}/changes`)
    ).body.result
    expect(data.map(({ action }) => action)).toEqual(['point', 'add'])
    await expect
      .poll(() => texts(`_acme-challenge.${name}`))
      .toEqual([`_acme-challenge.${name} 300 TXT of another program`])
  })
})

describe('a name that goes over to another server of its owner', () => {
  test('takes its certificate along', async () => {
    const name = 'coffee.com.vn'
    const [before, other] = [await row(name), await world.server(server.owner)]
    world.dns.records.set(`A ${other.name}.${sitesDomain}`, ['127.0.0.1'])
    const { data } = (
      await domains.call<{ data: { id: string; name: string }[] }>('GET', '/api/dns')
    ).body.result
    const id = data.find((one) => one.name === name)?.id
    const point = async ({ id: wp }: HttpsServer) => {
      const pointed = await domains.call('POST', `/api/dns/${id}/point`, { wp })
      expect(pointed.status, pointed.text).toBe(200)
      await eventually('the new server', async () => (await row(name))?.site_id === wp)
      await jobsIdle(world.portal.app.db)
    }
    await point(other)
    expect(await row(name)).toMatchObject({ site_id: other.id, key_sealed: before?.key_sealed })
    await point(server)
    expect(await row(name)).toMatchObject({ site_id: server.id, key_sealed: before?.key_sealed })
  })
})

describe('a name that only a wildcard answers for', () => {
  test('is proven by HTTP: a record below it would take it off the network', async () => {
    const zone = 'tea.com.vn'
    const name = `blog.${zone}`
    const domain = await active(zone)
    const content = `${server.name}.${sitesDomain}`
    await domains.add(domain, { name: '*', type: 'CNAME', content, proxied: false })
    world.dns.records.set(`CNAME ${name}`, [content])
    const put = await domains.call('PUT', `/api/wp/${server.id}/domain`, {
      id: server.id,
      name: server.name,
      domains: ['coffee.com.vn', 'www.coffee.com.vn', name],
    })
    expect(put.status, put.text).toBe(200)
    await world.settled(server, name, 'issued')
    const challenges = await world.portal.app.db.selectFrom('dns_challenge').selectAll().execute()
    expect(challenges.map(({ name: relative }) => relative)).not.toContain('_acme-challenge.blog')
    const { answer } = await dig(world.portal.config.DNS_PORT, { name, type: 'CNAME' })
    expect(answer).toEqual([`${name} 300 CNAME ${content}`])
  })
})

describe('the wildcard of the sites’ domain', () => {
  test('waits while the zone is elsewhere, and comes by a CNAME to our name server', async () => {
    await world.portal.app.tls.align()
    await eventually('told', async () => (await row(wildcard))?.problem === 'zone_elsewhere')
    const [own = ''] = world.portal.app.dns.ownZones
    await register(own, world.portal.app.dns.pool.slice(0, 2))
    world.dns.records.set(`CNAME _acme-challenge.${sitesDomain}`, [`${sitesDomain}.acme.${own}`])
    await due(wildcard)
    await expect.poll(() => row(wildcard)).toMatchObject({ problem: null, issuer: 'Sandbox CA' })
    expect(await texts(`${sitesDomain}.acme.${own}`)).toEqual([])
    const host = `${server.name}.${sitesDomain}`
    const page = await eventually('HTTPS', () => world.visit(host).catch(() => undefined))
    expect([page.status, page.text.includes('Hello world!')]).toEqual([200, true])
    // The owner sees it as the certificate of the server's own name.
    expect(await world.certificate(server, host)).toMatchObject({ state: 'issued' })
    const socket = await world.handshake(host)
    expect(socket.getPeerX509Certificate()?.subjectAltName).toBe(`DNS:${wildcard}`)
    socket.destroy()
  })

  test('comes by itself where the name servers have their names in that domain', async () => {
    const domain = 'sites-example.net'
    const other = await openHttpsWorld({
      env: { SITES_DOMAIN: domain, DNS_NAME_SERVERS: `ns[1-4].${domain}` },
      timing: { certificates: { orderMs: 5_000 } },
    })
    try {
      const body = { name: domain, nameservers: other.portal.app.dns.pool.slice(0, 2) }
      await fetch(`${other.portal.sandboxUrl}/registry.json`, {
        method: 'POST',
        body: JSON.stringify(body),
      })
      await other.portal.app.tls.align()
      const socket = await eventually('HTTPS', async () => {
        await other.portal.app.db
          .updateTable('certificate')
          .set({ next_at: new Date(0) })
          .where('chain', 'is', null)
          .execute()
        await other.portal.app.tls.due()
        return await other.handshake(`any.${domain}`).catch(() => undefined)
      })
      expect(socket.getPeerX509Certificate()?.subjectAltName).toBe(`DNS:*.${domain}`)
      socket.destroy()
    } finally {
      await other.close()
    }
  })
})
