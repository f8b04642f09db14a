/**
 * Many customers and one authority: a customer with many names leaves room for others, and pages
 * shown before there is a certificate have working links.
 */
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import {
  openHttpsWorld,
  sitesDomain,
  type HttpsServer,
  type HttpsWorld,
} from '../../test/https-world.ts'
import { fresh } from '../../test/named-servers.ts'
import { eventually, manualClock } from '../../test/portal.ts'
import { hours } from '../platform/clock.ts'

const clock = manualClock()
let world: HttpsWorld
beforeAll(async () => {
  world = await openHttpsWorld({
    clock,
    // Anybody may use half of them, a quarter is a customer's share, and four fifths are for new
    // names.
    env: { ACME_CERTIFICATES_A_WEEK: '1000', ACME_ORDERS_IN_3_HOURS: '12' },
  })
})
afterAll(async () => await world.close())
beforeEach(async () => {
  for (const id of ['first', 'second'] as const)
    await world.behave(id, { mode: 'well', perDomain: 1000, badNonces: 0, slowMs: 30_000 })
})
const look = (): Promise<void> => world.portal.app.tls.due()
const stateOf = async (server: HttpsServer): Promise<Record<string, number>> => {
  const { certificates } = await world.https(server)
  const states = certificates
    .filter(({ name }) => !name.endsWith(`.${sitesDomain}`))
    .map(({ state, problem }) => (problem === null ? state : `${state} ${problem.code}`))
  return Object.fromEntries(
    [...new Set(states)].map((one) => [one, states.filter((state) => state === one).length]),
  )
}
const urlOf = async ({ owner: { token }, id }: HttpsServer): Promise<string> =>
  (await world.portal.call<{ url: string }>('GET', `/api/wp/${id}`, { token })).body.result.url
const wildcard = `*.${sitesDomain}`

const orders = async () =>
  await world.portal.app.db.selectFrom('acme_order').selectAll().orderBy('id').execute()
const wildcardRow = () =>
  world.portal.app.db
    .selectFrom('certificate')
    .selectAll()
    .where('name', '=', wildcard)
    .executeTakeFirst()

test('a server is shown by HTTP until the sites’ domain has its certificate', async () => {
  await eventually('no wildcard', async () => (await wildcardRow())?.problem === 'zone_elsewhere')
  const server = await world.server()
  const host = `${server.name}.${sitesDomain}`
  const link = async (): Promise<string> => {
    const { token } = server.owner
    const path = `/api/wp/${server.id}/admin-link`
    return (await world.portal.call<{ url: string }>('POST', path, { token })).body.result.url
  }
  expect(await urlOf(server)).toBe(`http://${host}`)
  expect(await link()).toMatch(new RegExp(`^http://${host}/`))
  // Its links use the visitor's scheme, HTTP, because nothing answers by HTTPS yet.
  const page = await world.plain(host)
  expect([page.status, page.text.includes(`http://${host}`)]).toEqual([200, true])
  expect(page.text).not.toContain(`https://${host}`)
  // The operator delegates the challenge name to our zone.
  const { dns, db } = world.portal.app
  const [own = ''] = dns.ownZones
  await fetch(`${world.portal.sandboxUrl}/registry.json`, {
    method: 'POST',
    body: JSON.stringify({ name: own, nameservers: dns.pool.slice(0, 2) }),
  })
  world.dns.records.set(`CNAME _acme-challenge.${sitesDomain}`, [`${sitesDomain}.acme.${own}`])
  await db
    .updateTable('certificate')
    .set({ next_at: new Date(0), attempts: 0 })
    .where('name', '=', wildcard)
    .execute()
  await look()
  await eventually('the wildcard', async () => (await wildcardRow())?.chain !== null)
  await eventually('HTTPS shown', async () => (await urlOf(server)) === `https://${host}`)
  expect(await link()).toMatch(new RegExp(`^https://${host}/`))
  const secure = await eventually('HTTPS', () => world.visit(host).catch(() => undefined))
  expect([secure.status, secure.text.includes(`https://${host}`)]).toEqual([200, true])
  expect(secure.text).not.toContain(`http://${host}`)
})

test('a customer with many names leaves room for one who comes later', async () => {
  const [many, one] = [await world.server(), await world.server()]
  const before = (await orders()).length
  for (let at = 0; at < 9; at++) await world.named(many)
  // One customer may use half of the authority's limit.
  const first = 6 - before
  await eventually('half of it', async () => (await stateOf(many))['issued'] === first)
  await look()
  expect(await stateOf(many)).toEqual({ issued: first, pending: 9 - first })
  expect((await world.behave('second')).issued).toEqual([])
  // A new customer gets a quarter and does not wait behind the others.
  await world.named(one)
  await eventually('the other’s', async () => (await stateOf(one))['issued'] === 1)
  await world.named(one, fresh())
  await eventually('both', async () => (await stateOf(one))['issued'] === 2)
  await look()
  expect(await stateOf(many)).toEqual({ issued: first, pending: 9 - first })
  const made = await orders()
  expect(made.filter(({ customer_id: id }) => id === one.owner.id)).toHaveLength(2)
  // Three hours later the others follow automatically.
  clock.advance(hours(3) + 1)
  const later = await world.signIn(many)
  await look()
  await eventually('the rest', async () => (await stateOf(later))['issued'] === 9)
})
