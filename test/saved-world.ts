/** A portal with a customer, their money and their server, to be saved and restored. */
import fs from 'node:fs'
import http from 'node:http'
import path from 'node:path'
import { expect } from 'vitest'
import { openSecrets } from '../server/platform/secrets.ts'
import {
  eventually,
  openTestPortal,
  type TestCustomer,
  type TestPortal,
  type TestPortalOptions,
} from './portal.ts'

export interface SavedWorld {
  readonly portal: TestPortal
  readonly an: TestCustomer
  readonly siteId: string
  readonly invoiceLink: string
  /** Signed before the save. */
  readonly statement: string
  /** Rejects unless the customer's call is answered with 200. */
  get(address: string): Promise<Record<string, unknown>>
  /** A page of the customer's site. */
  visit(target: string): Promise<{ status: number; text: string }>
  statementNow(): Promise<string>
}

const order = {
  size: 1,
  region: 1,
  disk: 10_240,
  mariadb_disk_size: 10_240,
  user: 'an',
  password: 'Mat-khau-9!',
  replicate: 1,
}

/** The site's `wp-content/written.txt` contains its owner's text. */
export async function openSavedWorld(options: TestPortalOptions): Promise<SavedWorld> {
  const portal = await openTestPortal({
    ...options,
    env: { PORTAL_SECRET: 'a secret for tests, forty characters long', ...options.env },
  })
  // Like every database of a portal that was started.
  await openSecrets(portal.app.db, portal.rootSecret, undefined)
  const an = await portal.customer()
  await portal.topUp(an, 900_000)
  await eventually(
    'the money',
    async () => (await portal.app.ledger.balanceOf(portal.app.db, an.id)).balance === 900_000n,
  )
  const get: SavedWorld['get'] = async (address) => {
    const answer = await portal.call<Record<string, unknown>>('GET', address, { token: an.token })
    expect(answer.status, answer.text).toBe(200)
    return answer.body.result
  }
  const placed = await portal.call<{ id: string }>('POST', '/api/wp', {
    token: an.token,
    body: order,
  })
  const siteId = placed.body.result.id
  const server = await eventually(
    'the server running',
    async () => {
      const shown = await get(`/api/wp/${siteId}`)
      return shown['status'] === 'running' && shown
    },
    90,
  )
  const content = path.join(portal.dataDir, 'sites', siteId, 'wordpress/wp-content')
  fs.writeFileSync(path.join(content, 'written.txt'), 'what the customer wrote')
  const statementNow = async (): Promise<string> =>
    (await portal.call('GET', '/api/payments/stripe/statement', { token: an.token })).text
  return {
    portal,
    an,
    siteId,
    invoiceLink: (server['invoice'] as { hosted_invoice_url: string }).hosted_invoice_url,
    statement: await statementNow(),
    get,
    statementNow,
    visit: (target) =>
      new Promise((resolve, reject) => {
        const asked = {
          host: '127.0.0.1',
          port: portal.config.SITES_PORT,
          path: target,
          headers: { host: String(server['domain']) },
          agent: false,
        }
        http
          .get(asked, (answer) => {
            let text = ''
            answer.on('data', (chunk: Buffer) => (text += chunk.toString()))
            answer.on('end', () => resolve({ status: answer.statusCode ?? 0, text }))
          })
          .on('error', reject)
      }),
  }
}
