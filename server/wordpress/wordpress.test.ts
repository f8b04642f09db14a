/** A whole order, from the form to WordPress's own sign-in, and through restarts of the portal. */
import http from 'node:http'
import net from 'node:net'
import { readdirSync, readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  eventually,
  openTestPortal,
  type TestCustomer,
  type TestPortal,
} from '../../test/portal.ts'

let portal: TestPortal
let closed = false
const ids: string[] = []
beforeAll(async () => {
  portal = await openTestPortal({ wordpress: 'real' })
})
afterAll(async () => {
  if (!closed) await portal.close()
})

const order = {
  size: 1,
  region: 5,
  disk: 20_480,
  mariadb_disk_size: 10_240,
  user: 'chu nha',
  password: 'Mat-khau-9!',
  replicate: 1,
}
/** Plan, disks and one container: 89 000 + 80 000 + 89 000 đồng. */
const price = 258_000

interface Page {
  readonly status: number
  readonly headers: http.IncomingHttpHeaders
  readonly text: string
}
/** Sends a request for a host name to the edge, as a browser would. */
const visit = (host: string, path: string, form?: Record<string, string>): Promise<Page> =>
  new Promise((resolve, reject) => {
    const body = form && new URLSearchParams(form).toString()
    const headers = {
      host,
      cookie: 'wordpress_test_cookie=WP%20Cookie%20check',
      ...(body !== undefined && {
        'content-type': 'application/x-www-form-urlencoded',
        'content-length': Buffer.byteLength(body),
      }),
    }
    const request = http.request(
      {
        host: '127.0.0.1',
        port: portal.config.SITES_PORT,
        path,
        method: body === undefined ? 'GET' : 'POST',
        headers,
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
    request.end(body)
  })
const answers = (host: string) =>
  eventually(`${host} answering`, async () => (await visit(host, '/')).status === 200, 60)

interface Shown {
  status: string
  domain: string
  renewsAt: string | null
  invoice: { status: string }
}
const one = async ({ token }: TestCustomer, id: string): Promise<Shown> =>
  (await portal.call<Shown>('GET', `/api/wp/${id}`, { token })).body.result
const becomes = (customer: TestCustomer, id: string, status: string) =>
  eventually(
    `the order being ${status}`,
    async () => (await one(customer, id)).status === status,
    90,
  )
const events = async ({ token }: TestCustomer): Promise<string[]> => {
  const { data } = (
    await portal.call<{ data: { event: string; payload: { wp?: { status?: string } } }[] }>(
      'GET',
      '/api/notifications?limit=100',
      { token },
    )
  ).body.result
  return data
    .toReversed()
    .map(({ event, payload }) =>
      event === 'wordpress.status' ? `${event} ${payload.wp?.status}` : event,
    )
}
const entries = async ({ token }: TestCustomer): Promise<string[]> =>
  (
    await portal.call<{ amount: number; ending_balance: number }[]>('GET', '/api/payments/stripe', {
      token,
    })
  ).body.result
    .toReversed()
    .map((entry) => `${entry.amount} → ${entry.ending_balance}`)
async function place({ token }: TestCustomer): Promise<string> {
  const { id } = (await portal.call<{ id: string }>('POST', '/api/wp', { token, body: order })).body
    .result
  ids.push(id)
  return id
}
const containers = (): string[] =>
  readdirSync('/proc').flatMap((pid) => {
    try {
      const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ')
      return ids.some((id) => command.includes(`--site ${id}`)) ? [command] : []
    } catch {
      return []
    }
  })

describe('a WordPress server', () => {
  let an: TestCustomer
  let id: string
  let site: Shown
  beforeAll(async () => {
    an = await portal.customer()
    id = await place(an)
    await eventually('the failed payment', async () =>
      (await events(an)).includes('invoice.payment_failed'),
    )
    site = await one(an, id)
  })

  test('ordered without money shows that it is not there yet', async () => {
    expect((await one(an, id)).status).toBe('pending_payment')
    await eventually(
      'the edge knowing the name',
      async () => (await visit(site.domain, '/')).status === 503,
      3,
    )
    expect((await visit('nobody.localhost', '/')).status).toBe(404)
  })

  test('comes up by itself once there is money, and everything is told in order', async () => {
    await portal.topUp(an, 300_000)
    await becomes(an, id, 'running')
    expect((await one(an, id)).invoice.status).toBe('paid')
    expect(Date.parse((await one(an, id)).renewsAt ?? '') - Date.now()).toBeGreaterThan(
      27 * 86_400_000,
    )
    expect(await entries(an)).toEqual(['300000 → 300000', `${-price} → 42000`])
    await eventually('the last event', async () =>
      (await events(an)).includes('wordpress.status running'),
    )
    expect(await events(an)).toEqual([
      'subscribe.create',
      'invoice.create',
      'wordpress.status pending_payment',
      'invoice.payment_failed',
      'wallet.credited',
      'invoice.paid',
      'subscription.created',
      'wordpress.status provisioning',
      'wordpress.status running',
    ])
    await portal.ledgerHolds()
  })

  test('answers on its host name, and lets in who ordered it with that password only', async () => {
    await answers(site.domain)
    expect((await visit(site.domain, '/')).text).toContain('wp-content')
    const signIn = (pwd: string) =>
      visit(site.domain, '/wp-login.php', {
        log: order.user,
        pwd,
        testcookie: '1',
        'wp-submit': 'Log In',
        redirect_to: `http://${site.domain}/wp-admin/`,
      })
    const good = await signIn(order.password)
    expect(good.status).toBe(302)
    expect(String(good.headers['set-cookie'])).toContain('wordpress_logged_in_')
    expect(String((await signIn('Wrong-9!')).headers['set-cookie'])).not.toContain(
      'wordpress_logged_in_',
    )
  })

  test('is there again after the portal was closed and opened', { timeout: 120_000 }, async () => {
    await portal.reopen()
    expect((await one(an, id)).status).toBe('running')
    await answers(site.domain)
    expect(containers()).toHaveLength(1)
    expect(await entries(an)).toEqual(['300000 → 300000', `${-price} → 42000`])
  })

  test(
    "whose setup the portal's end cuts goes on at the next start, and counts no failure",
    { timeout: 120_000 },
    async () => {
      const binh = await portal.customer()
      await portal.topUp(binh, price)
      const cut = await place(binh)
      await becomes(binh, cut, 'provisioning')
      const began = performance.now()
      await portal.reopen()
      // The portal does not wait for work that can be repeated.
      expect(performance.now() - began).toBeLessThan(20_000)
      await becomes(binh, cut, 'running')
      expect(
        (
          await portal.app.db
            .selectFrom('site')
            .select('attempts')
            .where('id', '=', cut)
            .executeTakeFirstOrThrow()
        ).attempts,
      ).toBe(0)
      await answers((await one(binh, cut)).domain)
      expect(await entries(binh)).toEqual([`${price} → ${price}`, `${-price} → 0`])
      await portal.ledgerHolds()
    },
  )

  test('does not take the portal down when a visitor of its log hangs up at once', async () => {
    const { port } = new URL(portal.url)
    const openAndClose = (path: string): Promise<void> =>
      new Promise((resolve) => {
        const socket = net.connect(Number(port), '127.0.0.1', () => {
          socket.write(
            `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nConnection: Upgrade\r\n` +
              'Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: ' +
              'AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n',
            () => socket.resetAndDestroy(),
          )
        })
        socket.on('error', () => undefined)
        socket.on('close', () => resolve())
      })
    for (let n = 0; n < 20; n++)
      await Promise.all([
        openAndClose(`/api/wp/${id}/log/stream?ticket=x`),
        openAndClose('/nowhere'),
      ])
    expect((await portal.call('GET', '/healthz')).status).toBe(200)
  })

  test('leaves no process behind when the portal is closed', async () => {
    expect(containers().length).toBeGreaterThan(0)
    closed = true
    await portal.close()
    expect(containers()).toEqual([])
  })
})
