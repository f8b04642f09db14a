/**
 * The primary name of a server: chosen among its own names, the target of redirects from the
 * others, and written into the site's stored addresses.
 */
import http from 'node:http'
import path from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { openTestDns, type TestDns } from '../../test/dns-server.ts'
import {
  eventually,
  openTestPortal,
  type TestCustomer,
  type TestPortal,
} from '../../test/portal.ts'
import { fresh, namedServersOf, type Server } from '../../test/named-servers.ts'

let dns: TestDns
let portal: TestPortal
let site: Server
let owner: TestCustomer
let own: string
let [www, apex] = ['', '']
beforeAll(async () => {
  dns = await openTestDns()
  portal = await openTestPortal({
    env: { DNS_RESOLVERS: dns.address, SITES_DOMAIN: 'sites.example.net' },
  })
  owner = await portal.customer()
  await portal.topUp(owner, 5_000_000)
  site = await server(owner)
  await eventually(
    'the server runs',
    async () => (await call<{ status: string }>('GET', '')).body.result.status === 'running',
  )
  own = `${site.name}.sites.example.net`
  apex = fresh()
  www = `www.${apex}`
  point(apex, site)
  point(www, site)
  expect((await put(site, [apex, www])).status).toBe(200)
})
afterAll(async () => {
  await portal.close()
  await dns.close()
})

const { server, put, point } = namedServersOf(
  () => portal,
  () => dns,
)
const call = <T>(method: string, path: string, body?: unknown) =>
  portal.call<T>(method, `/api/wp/${site.id}${path}`, { token: site.token, body })
const choose = (name: string | null) =>
  call<{ primaryDomain: string | null }>('PUT', '/domain/primary', { name })

/** A visit under a host name, as a browser's request comes through a proxy that speaks HTTP. */
const visit = (host: string, target = '/', method = 'GET') =>
  new Promise<{ status: number; location: string | undefined; text: string }>((resolve, reject) => {
    http
      .request(
        {
          host: '127.0.0.1',
          port: portal.config.SITES_PORT,
          path: target,
          method,
          headers: { host },
          agent: false,
        },
        (answer) => {
          let text = ''
          answer.on('data', (chunk: Buffer) => (text += chunk.toString()))
          answer.on('end', () =>
            resolve({ status: answer.statusCode ?? 0, location: answer.headers.location, text }),
          )
        },
      )
      .once('error', reject)
      .end()
  })
const sentTo = async (host: string, to: string | undefined): Promise<void> => {
  await eventually(`where ${host} leads`, async () => (await visit(host)).location === to)
}

test('at first each name answers by itself', async () => {
  expect((await call<{ primaryDomain: null }>('GET', '')).body.result.primaryDomain).toBeNull()
  for (const host of [own, apex, www]) await sentTo(host, undefined)
})

test('only a name of its own that leads here is taken', async () => {
  for (const name of ['shop.elsewhere.vn', own, 'x'])
    expect(await choose(name)).toMatchObject({
      status: 422,
      body: { error: { code: 'invalid_input', fields: { name: expect.any(String) as string } } },
    })
  await portal.app.db
    .updateTable('site_domain')
    .set({ pointed: false })
    .where('name', '=', www)
    .execute()
  expect((await choose(www)).status).toBe(422)
  await portal.app.db
    .updateTable('site_domain')
    .set({ pointed: true })
    .where('name', '=', www)
    .execute()
  const other = await server()
  const { status } = await portal.call('PUT', `/api/wp/${site.id}/domain/primary`, {
    token: other.token,
    body: { name: null },
  })
  expect(status).toBe(404)
})

test('visitors of the others are sent there, with what they asked for', async () => {
  expect((await choose(www.toUpperCase())).body.result).toEqual({ primaryDomain: www })
  await sentTo(apex, `http://${www}/`)
  expect(await visit(own, '/gio-hang/?a=1&b=%20')).toMatchObject({
    status: 301,
    location: `http://${www}/gio-hang/?a=1&b=%20`,
  })
  expect(await visit(apex, '/xmlrpc.php', 'POST')).toMatchObject({
    status: 308,
    location: `http://${www}/xmlrpc.php`,
  })
  await sentTo(www, undefined)
  // An authority's request about a name is answered under that name.
  expect((await visit(apex, '/.well-known/acme-challenge/x')).location).toBeUndefined()
})

test('while its containers are replaced, a new primary name answers by itself', async () => {
  for (const name of [apex, www]) {
    expect((await choose(name)).status).toBe(200)
    await sentTo(name === apex ? www : apex, `http://${name}/`)
    for (let count = 0; count < 5; count += 1) {
      expect(await visit(name)).toMatchObject({ status: 200, location: undefined })
      expect((await call('POST', '/domain/rewrite/preview')).status).toBe(200)
    }
  }
})

test('while it does not lead here, nobody is sent there', async () => {
  const points = (pointed: boolean) =>
    portal.app.db.updateTable('site_domain').set({ pointed }).where('name', '=', www).execute()
  await points(false)
  await sentTo(apex, undefined)
  await points(true)
  await sentTo(apex, `http://${www}/`)
})

test('a sign-in link goes by the name of ours, and on from there', async () => {
  const { url } = (await call<{ url: string }>('POST', '/admin-link')).body.result
  expect(new URL(url).host).toMatch(own)
  const { location } = await visit(own, new URL(url).pathname)
  expect(location).toBe(`http://${www}${new URL(url).pathname}`)
  expect((await visit(www, new URL(url).pathname)).status).toBe(302)
})

test('stored addresses are counted, then written, once', async () => {
  const database = new DatabaseSync(
    path.join(portal.dataDir, 'sites', site.id, 'wordpress/wp-content/database/.ht.sqlite'),
  )
  onTestFinished(() => database.close())
  database.exec(`update wp_posts set post_content = 'http://${own}/a and https://${apex}/b'`)
  const preview = await call('POST', '/domain/rewrite/preview')
  expect(preview.body.result).toEqual({
    to: `http://${www}`,
    from: expect.arrayContaining([own, apex]) as string[],
    values: 1,
    tables: [{ name: 'wp_posts', values: 1 }],
    skipped: [],
  })
  expect((await call('GET', '/domain/rewrite')).body.result).toBeNull()
  // Another rewrite is under way, whose job has not run yet.
  const { id } = await portal.app.db
    .insertInto('site_rewrite')
    .values({ site_id: site.id, from_hosts: [], to_url: 'http://x', created_at: new Date() })
    .returning('id')
    .executeTakeFirstOrThrow()
  expect((await call('POST', '/domain/rewrite')).status).toBe(409)
  await portal.app.db.deleteFrom('site_rewrite').where('id', '=', id).execute()
  expect((await call('POST', '/domain/rewrite')).status).toBe(201)
  await eventually('the writing done', async () => {
    const { result } = (await call<{ state: string; values: number }>('GET', '/domain/rewrite'))
      .body
    return result.state === 'done' && result.values === 1
  })
  expect(database.prepare('select post_content as text from wp_posts').get()).toEqual({
    text: `http://${www}/a and http://${www}/b`,
  })
  expect((await call('POST', '/domain/rewrite/preview')).body.result).toMatchObject({ values: 0 })
})

test('a name that is let go of is primary no more, and not when it comes back', async () => {
  expect((await call('DELETE', `/domain/${www}`)).status).toBe(200)
  await sentTo(apex, undefined)
  expect((await put(site, [apex, www])).status).toBe(200)
  expect((await call<{ primaryDomain: null }>('GET', '')).body.result.primaryDomain).toBeNull()
  expect((await choose(apex)).status).toBe(200)
  await sentTo(own, `http://${apex}/`)
  expect((await choose(null)).body.result).toEqual({ primaryDomain: null })
  await sentTo(own, undefined)
})
