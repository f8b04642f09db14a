/**
 * A post written in wp-admin survives everything that happens to a server: restart, growth, another
 * plan, restart and kill -9 of the portal, backup and restore with a kill in the middle of each,
 * suspension and release. The real portal runs as a process of its own.
 */
import http from 'node:http'
import { expect, test } from 'vitest'
import type { Backup } from '../contract/wordpress-backups.ts'
import type { Server } from '../contract/wordpress.ts'
import { eventually } from './portal.ts'
import {
  credited,
  placeOrder,
  price,
  register,
  settled,
  topUp,
  untilAnswered,
  type Customer,
} from './kill-journey.ts'
import { PortalProcess } from './portal-process.ts'

interface Page {
  readonly status: number
  readonly headers: http.IncomingHttpHeaders
  readonly text: string
}

/** The owner, at the portal's screens and in wp-admin. */
class Owner {
  readonly portal: PortalProcess
  readonly customer: Customer
  readonly id: string
  domain = ''

  constructor(portal: PortalProcess, customer: Customer, id: string) {
    this.portal = portal
    this.customer = customer
    this.id = id
  }

  async ask<T>(method: string, part = '', body?: object): Promise<T> {
    const { status, body: answer } = await untilAnswered(
      this.portal,
      method,
      `/api/wp/${this.id}${part}`,
      {
        token: this.customer.token,
        ...(body && { body }),
      },
    )
    expect(status, `${method} ${part}: ${answer.message}`).toBeLessThan(300)
    return answer.result as T
  }
  site = () => this.ask<Server>('GET')
  backups = () => this.ask<Backup[]>('GET', '/backups')
  becomes = (what: string, holds: (site: Server) => boolean) =>
    eventually(what, async () => holds(await this.site()), 120)
  settledBackup = () =>
    eventually(
      'the backup',
      async () => {
        const [newest] = await this.backups()
        return newest?.state !== 'making' && newest
      },
      120,
    )

  /**
   * Moves the portal's clock ahead of the real one. Sessions expire by it, so this waits until the
   * portal uses the new time, and signs in again.
   */
  async daysPass(days: number): Promise<void> {
    await this.portal.rows(
      `insert into clock_offset (one, offset_ms) values (true, $1) on conflict (one) do update
        set offset_ms = excluded.offset_ms`,
      [days * 86_400_000],
    )
    const { token } = this.customer
    await eventually(
      'the end of the session',
      async () => (await untilAnswered(this.portal, 'GET', '/api/wp', { token })).status === 401,
    )
    const body = { email: this.customer.email, password: 'Correct-horse-9' }
    const { result } = (await untilAnswered(this.portal, 'POST', '/api/v1/auth/login', { body }))
      .body
    this.customer.token = (result['token'] as { accessToken: string }).accessToken
  }

  visit(
    path: string,
    of: { method?: string; headers?: Record<string, string>; body?: string } = {},
  ): Promise<Page> {
    return new Promise((resolve, reject) => {
      const request = http.request(
        {
          host: '127.0.0.1',
          port: this.portal.sitesPort,
          path,
          method: of.method ?? 'GET',
          headers: { host: this.domain, ...of.headers },
          agent: false,
        },
        (answer) => {
          const chunks: Buffer[] = []
          answer.on('data', (chunk: Buffer) => chunks.push(chunk))
          answer.on('error', reject)
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
      request.end(of.body)
    })
  }

  /** Enters wp-admin by the portal's button, and writes a post by the editor's own call. */
  async write(title: string): Promise<void> {
    const { url } = await this.ask<{ url: string }>('POST', '/admin-link')
    const entry = await this.visit(new URL(url).pathname)
    const cookie = (entry.headers['set-cookie'] ?? []).map((one) => one.split(';')[0]).join('; ')
    const nonce = (
      await this.visit('/wp-admin/admin-ajax.php?action=rest-nonce', { headers: { cookie } })
    ).text
    const written = await this.visit('/wp-json/wp/v2/posts', {
      method: 'POST',
      headers: { cookie, 'x-wp-nonce': nonce, 'content-type': 'application/json' },
      body: JSON.stringify({ title, content: 'Xin chào', status: 'publish' }),
    })
    expect(written.status, written.text).toBe(201)
  }

  /** The titles that visitors see, newest first, as soon as the site answers. */
  titles(): Promise<string[]> {
    return eventually(
      'the site answering',
      async () => {
        const { status, text } = await this.visit('/wp-json/wp/v2/posts').catch(() => ({
          status: 0,
          text: '',
        }))
        if (status !== 200) return false
        const posts = JSON.parse(text) as { title: { rendered: string } }[]
        return posts.map(({ title }) => title.rendered).filter((title) => title.startsWith('Bài'))
      },
      120,
    )
  }
}

async function killAndStart(portal: PortalProcess): Promise<void> {
  await portal.kill('nothing else')
  await portal.start()
}

test('a post outlives all that happens to its server', { timeout: 400_000 }, async () => {
  const portal = await PortalProcess.create()
  try {
    await portal.start()
    const customer = await register(portal, 1)
    const fund = async (amount: number) =>
      credited(portal, customer, await topUp(portal, customer, amount, 'paid'))
    await fund(price + 250_000)
    const id = await placeOrder(portal, customer)
    expect(await settled(portal, customer, id)).toBe('running')
    const owner = new Owner(portal, customer, id)
    owner.domain = (await owner.site()).domain
    await owner.write('Bài một')
    expect(await owner.titles()).toEqual(['Bài một'])

    await owner.ask('POST', '/restart')
    await owner.becomes('the restart done', ({ restarting }) => !restarting)
    expect(await owner.titles(), 'restart').toEqual(['Bài một'])

    await owner.ask('PUT', '/disk', { disk: 20_480, mariadb_disk_size: 10_240 })
    expect(await owner.titles(), 'disk growth').toEqual(['Bài một'])
    await owner.ask('PUT', '', { size: 2 })
    expect(await owner.titles(), 'another plan').toEqual(['Bài một'])

    expect(await portal.terminate()).toBe(0)
    await portal.start()
    expect(await owner.titles(), 'restart of the portal').toEqual(['Bài một'])

    await owner.ask('POST', '/backups')
    await killAndStart(portal)
    expect(await owner.titles(), 'kill -9').toEqual(['Bài một'])
    const backup = await owner.settledBackup()
    expect(backup.state).toBe('proven')
    await owner.write('Bài hai')
    await owner.ask('POST', `/backups/${backup.id}/restore`)
    await killAndStart(portal)
    await eventually(
      'the restore',
      async () => (await owner.backups())[0]?.restoredAt ?? false,
      120,
    )
    expect(await owner.titles(), 'restore').toEqual(['Bài một'])
    await owner.write('Bài ba')
    await killAndStart(portal)
    expect(await owner.titles(), 'a restore acts once').toEqual(['Bài ba', 'Bài một'])

    // The month ends with too little money in the wallet, and a week later the server is suspended.
    await owner.daysPass(31)
    await owner.becomes('the renewal unpaid', ({ invoice }) => invoice?.status === 'open')
    await owner.daysPass(38)
    await owner.becomes('the suspension', ({ status }) => status === 'suspended')
    expect((await owner.visit('/')).status).toBe(503)
    await fund(1_000_000)
    await owner.becomes('the server running again', ({ status }) => status === 'running')
    expect(await owner.titles(), 'suspension').toEqual(['Bài ba', 'Bài một'])
    expect((await owner.backups()).map((one) => one.id)).toContain(backup.id)
    expect(await portal.terminate()).toBe(0)
    expect(portal.processes()).toEqual([])
  } finally {
    portal.discard()
  }
})
