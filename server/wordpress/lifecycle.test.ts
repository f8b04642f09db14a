/**
 * What a customer does with a running server: restarts it, signs in without a password, adds a
 * name, and deletes it. Real sites throughout.
 */
import { StatusEvent } from '../../contract/wordpress-event.ts'
import http from 'node:http'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openTestDns, type TestDns } from '../../test/dns-server.ts'
import { jobsIdle } from '../../test/idle-jobs.ts'
import {
  eventually,
  openTestPortal,
  type TestCustomer,
  type TestPortal,
} from '../../test/portal.ts'

const order = {
  size: 1,
  region: 1,
  disk: 10_240,
  mariadb_disk_size: 10_240,
  user: 'chu nha',
  password: 'Mat-khau-9!',
  replicate: 1,
}
const sites = 'sites.example.net'
let dns: TestDns
let portal: TestPortal
beforeAll(async () => {
  dns = await openTestDns()
  portal = await openTestPortal({ env: { DNS_RESOLVERS: dns.address, SITES_DOMAIN: sites } })
})
afterAll(async () => {
  await portal.close()
  await dns.close()
})

interface Shown {
  id: string
  name: string
  status: string
  restarting: boolean
  domains: string[]
}
interface Page {
  readonly status: number
  readonly headers: http.IncomingHttpHeaders
  readonly text: string
}
/** Sends a request to the edge, as a browser would. */
const visit = (
  host: string,
  path: string,
  headers: Record<string, string> = {},
  method = 'GET',
): Promise<Page> =>
  new Promise((resolve, reject) => {
    const request = http.request(
      {
        host: '127.0.0.1',
        port: portal.config.SITES_PORT,
        path,
        method,
        headers: { host, ...headers },
        agent: false,
      },
      (answer) => {
        const chunks: Buffer[] = []
        answer.on('data', (chunk: Buffer) => chunks.push(chunk))
        answer.on('end', () =>
          resolve({
            status: answer.statusCode ?? 0,
            headers: answer.headers,
            text: Buffer.concat(chunks).toString(),
          }),
        )
      },
    )
    request.on('error', reject)
    request.end()
  })
const one = (customer: TestCustomer, id: string) =>
  portal.call<Shown>('GET', `/api/wp/${id}`, { token: customer.token })
const act = <T = { id: string }>(customer: TestCustomer, method: string, path: string) =>
  portal.call<T>(method, path, { token: customer.token })
const statuses = async ({ token }: TestCustomer, id: string): Promise<string[]> => {
  const { data } = (
    await portal.call<{
      data: { event: string; payload: { wp?: { id: string; status: string } } }[]
    }>('GET', '/api/notifications?limit=100', {
      token,
    })
  ).body.result
  return data
    .filter(({ event, payload }) => event === 'wordpress.status' && payload.wp?.id === id)
    .map(({ payload }) => payload.wp?.status ?? '')
    .toReversed()
}
async function place(customer: TestCustomer, changes: object = {}): Promise<string> {
  const answer = await portal.call<{ id: string }>('POST', '/api/wp', {
    token: customer.token,
    body: { ...order, ...changes },
  })
  return answer.body.result.id
}
/** A running server and its owner. */
async function running(
  changes: object = {},
): Promise<{ owner: TestCustomer; id: string; host: string }> {
  const owner = await portal.customer()
  await portal.topUp(owner, 2_000_000)
  const id = await place(owner, changes)
  const name = await eventually(
    'the server running',
    async () => {
      const { result } = (await one(owner, id)).body
      return result.status === 'running' && result.name
    },
    90,
  )
  return { owner, id, host: `${name}.${sites}` }
}
const subscriptionOf = (id: string) =>
  portal.app.db
    .selectFrom('site as s')
    .innerJoin('subscription as u', 'u.id', 's.subscription_id')
    .innerJoin('invoice as i', 'i.id', 's.invoice_id')
    .select(['u.status', 'i.status as invoice'])
    .where('s.id', '=', id)
    .executeTakeFirstOrThrow()

describe('a running server', { timeout: 120_000 }, () => {
  let owner: TestCustomer
  let id: string
  let host: string
  beforeAll(async () => {
    ;({ owner, id, host } = await running({ replicate: 2 }))
    await eventually(
      'both containers',
      async () => (await portal.drivers.wordpress.addresses(id)).length === 2,
      60,
    )
  }, 120_000)

  test('restarts container after container, once however often asked, unnoticed', async () => {
    const before = await portal.drivers.wordpress.addresses(id)
    const answers: number[] = []
    let restarting = true
    const visitor = async (method: string): Promise<void> => {
      while (restarting) answers.push((await visit(host, '/wp-login.php', {}, method)).status)
    }
    const visitors = Promise.all([visitor('GET'), visitor('POST')])
    const asked = await Promise.all(
      Array.from({ length: 4 }, () => act(owner, 'POST', `/api/wp/${id}/restart`)),
    )
    expect(asked.map(({ status, body }) => [status, body.result])).toEqual(
      Array.from({ length: 4 }, () => [200, { id }]),
    )
    expect((await one(owner, id)).body.result).toMatchObject({
      status: 'running',
      restarting: true,
    })
    await eventually(
      'the end of the restart',
      async () => !(await one(owner, id)).body.result.restarting,
      60,
    )
    restarting = false
    await visitors
    expect(answers.length).toBeGreaterThan(5)
    expect(answers.filter((status) => status !== 200)).toEqual([])
    const after = await portal.drivers.wordpress.addresses(id)
    expect(after).toHaveLength(2)
    expect(after.filter(({ port }) => before.some((old) => old.port === port))).toEqual([])
    // A notification is shown once the relay has published it.
    const told = await eventually('the end told', async () => {
      const all = await statuses(owner, id)
      return all.length > 3 && all
    })
    expect(told).toEqual(['pending_payment', 'provisioning', 'running', 'running'])
  })

  test('a job of a restart that is over does nothing', async () => {
    const before = await portal.drivers.wordpress.addresses(id)
    await portal.app.db
      .transaction()
      .execute((tx) => portal.app.jobs.add(tx, 'ensure-site', { siteId: id }))
    await jobsIdle(portal.app.db)
    expect(await portal.drivers.wordpress.addresses(id)).toEqual(before)
    expect(await statuses(owner, id)).toHaveLength(4)
  })

  test('tells what it takes of its disks and memory', async () => {
    const { result } = (
      await act<{ disk: number; mariadb_disk_size: number; containers: object[] }>(
        owner,
        'GET',
        `/api/wp/${id}/usage`,
      )
    ).body
    expect(result.disk).toBeGreaterThan(5)
    expect(result.mariadb_disk_size).toBeGreaterThan(0)
    expect(result.containers).toMatchObject([
      { name: 'web-1', ready: true, memory: expect.any(Number) },
      { name: 'web-2', ready: true },
    ])
  })

  test('lets its owner into wp-admin by a link, once, through whichever container', async () => {
    const { url } = (await act<{ url: string }>(owner, 'POST', `/api/wp/${id}/admin-link`)).body
      .result
    const link = new URL(url)
    expect(link.host).toBe(host)
    const answers = await Promise.all(Array.from({ length: 6 }, () => visit(host, link.pathname)))
    expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([
      302, 403, 403, 403, 403, 403,
    ])
    const cookie = String(answers.find(({ status }) => status === 302)?.headers['set-cookie'])
    expect(cookie).toContain('wordpress_logged_in_')
    expect(answers.find(({ status }) => status === 403)?.text).toContain(
      'Vui lòng tạo liên kết mới',
    )
  })

  test('is shown on its customer’s name with links on it, until the name is gone', async () => {
    const name = 'tiem-banh.example.org'
    dns.records.set(`CNAME ${name}`, [host])
    expect(
      (
        await portal.call('PUT', `/api/wp/${id}/domain`, {
          token: owner.token,
          body: { domains: [name] },
        })
      ).status,
    ).toBe(200)
    const front = await eventually('the page on the name', async () => {
      const page = await visit(name, '/')
      return page.status === 200 && page
    })
    expect(front.text).toContain(`http://${name}/`)
    expect(front.text).not.toContain(host)
    expect((await visit(name, '/wp-admin/')).headers.location).toContain(
      `http://${name}/wp-login.php`,
    )
    expect((await visit(host, '/')).text).not.toContain(name)
    expect((await act(owner, 'DELETE', `/api/wp/${id}/domain/${name}`)).status).toBe(200)
    await eventually('nobody on the name', async () => (await visit(name, '/')).status === 404)
  })

  test('belongs to its owner alone', async () => {
    const other = await portal.customer()
    for (const [method, path] of [
      ['POST', 'restart'],
      ['POST', 'admin-link'],
      ['GET', 'usage'],
      ['DELETE', ''],
    ] as const)
      expect((await act(other, method, `/api/wp/${id}/${path}`)).status, path).toBe(404)
  })

  test("is deleted with everything, through a portal's stop; its name is free again", async () => {
    const name = 'dong-cua.example.org'
    dns.records.set(`CNAME ${name}`, [host])
    await portal.call('PUT', `/api/wp/${id}/domain`, {
      token: owner.token,
      body: { domains: [name] },
    })
    expect((await act(owner, 'DELETE', `/api/wp/${id}`)).body.result).toEqual({ id })
    // Whether or not the job has run: the server is on its way out, or gone.
    expect([200, 404]).toContain((await act(owner, 'DELETE', `/api/wp/${id}`)).status)
    await portal.reopen()
    await eventually('the server gone', async () => (await one(owner, id)).status === 404)
    expect((await act<unknown[]>(owner, 'GET', '/api/wp')).body.result).toEqual([])
    expect(await portal.drivers.wordpress.list()).toEqual([])
    expect((await visit(host, '/')).status).toBe(404)
    expect((await visit(name, '/')).status).toBe(404)
    expect((await subscriptionOf(id)).status).toBe('ended')
    // All but the price of the seconds that it ran: some đồng, or none where the machine is quick.
    const { balance } = await portal.app.ledger.balanceOf(portal.app.db, owner.id)
    expect(balance).toBeGreaterThan(1_999_000n)
    expect(balance).toBeLessThanOrEqual(2_000_000n)
    const told = await eventually('the end told', async () => {
      const all = await statuses(owner, id)
      return all.includes('deleted') && all
    })
    expect(told.slice(-2)).toEqual(['deleting', 'deleted'])
    // The contract names every state that is told, and no other.
    const states = StatusEvent.shape.wp.shape.status
    expect(told.every((status) => states.safeParse(status).success)).toBe(true)
    expect(states.safeParse('gone').success).toBe(false)
    expect((await act(owner, 'POST', `/api/wp/${id}/restart`)).status).toBe(404)
    await portal.ledgerHolds()
  })
})

describe('a server that does not run', { timeout: 120_000 }, () => {
  test('is neither restarted nor entered', async () => {
    const an = await portal.customer()
    const id = await place(an)
    for (const path of ['restart', 'admin-link']) {
      const answer = await act(an, 'POST', `/api/wp/${id}/${path}`)
      expect([answer.status, answer.body.error?.code], path).toEqual([409, 'server_not_running'])
    }
    expect((await act<object>(an, 'GET', `/api/wp/${id}/usage`)).body.result).toEqual({
      disk: 0,
      mariadb_disk_size: 0,
      containers: [],
    })
  })

  test('unpaid and deleted, leaves a void invoice that no later money pays', async () => {
    const an = await portal.customer()
    const id = await place(an)
    await act(an, 'DELETE', `/api/wp/${id}`)
    await eventually('the server gone', async () => (await one(an, id)).status === 404)
    expect(await subscriptionOf(id)).toEqual({ status: 'ended', invoice: 'void' })
    await portal.topUp(an, 500_000)
    await eventually(
      'the money',
      async () => (await portal.app.ledger.balanceOf(portal.app.db, an.id)).balance === 500_000n,
    )
    await jobsIdle(portal.app.db)
    expect((await portal.app.ledger.balanceOf(portal.app.db, an.id)).balance).toBe(500_000n)
  })

  test('deleted while being set up, is paid back whole and leaves nothing behind', async () => {
    const an = await portal.customer()
    await portal.topUp(an, 500_000)
    await eventually(
      'the money',
      async () => (await portal.app.ledger.balanceOf(portal.app.db, an.id)).balance === 500_000n,
    )
    const id = await place(an)
    await eventually(
      'the setting up',
      async () => (await one(an, id)).body.result.status === 'provisioning',
    )
    await act(an, 'DELETE', `/api/wp/${id}`)
    await eventually('the server gone', async () => (await one(an, id)).status === 404, 60)
    await jobsIdle(portal.app.db)
    expect((await portal.app.ledger.balanceOf(portal.app.db, an.id)).balance).toBe(500_000n)
    expect(await subscriptionOf(id)).toEqual({ status: 'ended', invoice: 'refunded' })
    expect(await portal.drivers.wordpress.list()).not.toContain(id)
    await portal.ledgerHolds()
  })
})
