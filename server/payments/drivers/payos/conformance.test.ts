/**
 * How a person pays at the payOS stand-in. payOS reports transfers only, so `pay` is the only
 * choice that a webhook follows.
 */
import { startSandbox } from '../../../../sandbox/index.ts'
import { testDatabase } from '../../../../test/database.ts'
import { conforms, type Adapter } from '../conformance.ts'
import type { HostedDriver } from '../../driver.ts'
import { createPayos } from './index.ts'
import { settings } from './settings.ts'
import { signature } from './sign.ts'

const channel = {
  clientId: 'test-client',
  apiKey: 'test-api-key',
  checksumKey: '0123456789abcdef'.repeat(4),
}

const adapter: Adapter = {
  name: 'payos',
  currency: 'VND',
  choices: ['pay'],
  beginCalls: true,
  knowsOpen: true,
  refunds: false,
  showsRefunds: false,
  async start({ portalUrl, closedUrl, silentUrl }) {
    const database = await testDatabase()
    const sandbox = await startSandbox({
      host: '127.0.0.1',
      port: 0,
      databaseUrl: database.url,
      portalUrl,
      gateways: { payos: channel },
      esms: { apiKey: 'k', secretKey: 's' },
      log: () => undefined,
      pace: 0.01,
    })
    const driverFor = (url: string, timeoutMs: number): HostedDriver =>
      createPayos(
        settings.parse({
          ...channel,
          baseUrl: url,
          pageUrl: `${sandbox.url}/payos/web`,
          timeoutMs,
        }),
      )
    async function page(checkoutUrl: string): Promise<string> {
      const response = await fetch(checkoutUrl)
      const token = /name="token" value="([^"]+)"/.exec(await response.text())?.[1]
      if (token === undefined) throw new Error(`no payment page: ${response.status}`)
      return token
    }
    return {
      driver: driverFor(sandbox.url, 10_000),
      unreachable: driverFor(closedUrl, 10_000),
      slow: driverFor(silentUrl, 100),
      async begin(driver, order) {
        if (driver.kind !== 'hosted') throw new Error('payos pays on its own page')
        const { checkoutUrl, providerRef } = await driver.begin(order)
        return {
          providerRef,
          handed: checkoutUrl,
          async open() {
            await page(checkoutUrl)
          },
          async choose() {
            const body = new URLSearchParams({ token: await page(checkoutUrl), outcome: 'paid' })
            const confirm = new URL('/payos/web/confirm', checkoutUrl)
            return (await fetch(confirm, { method: 'POST', body, redirect: 'manual' })).headers.get(
              'location',
            )
          },
        }
      },
      forgeries(genuine) {
        const webhook = JSON.parse(genuine.rawBody.toString()) as {
          data: Record<string, unknown>
          signature: string
        }
        const { data } = webhook
        const bodies: unknown[] = [
          ...Object.keys(data).map((name) => ({
            ...webhook,
            data: { ...data, [name]: 'changed' },
          })),
          { ...webhook, data: { ...data, amount: 1 } },
          { ...webhook, data: { ...data, more: 1 } },
          { ...webhook, data: null },
          { ...webhook, data: [] },
          { ...webhook, signature: undefined },
          { ...webhook, signature: '' },
          { ...webhook, signature: '0'.repeat(64) },
          { ...webhook, signature: [webhook.signature] },
          { ...webhook, signature: signature(data, 'another key') },
          data,
          null,
        ]
        return bodies.map((body) => ({ ...genuine, rawBody: Buffer.from(JSON.stringify(body)) }))
      },
      async close() {
        await sandbox.close()
        await database.drop()
      },
    }
  },
}

conforms(adapter)
