/** How the Square stand-in charges a token of Square's form. */
import { createHmac } from 'node:crypto'
import { startSandbox } from '../../../../sandbox/index.ts'
import { testDatabase } from '../../../../test/database.ts'
import { conforms, type Adapter } from '../conformance.ts'
import { createSquare } from './index.ts'
import { inSandbox, sandboxKeys, settings } from './settings.ts'

const keys = sandboxKeys((purpose) => `a-key-for-${purpose}`)

const adapter: Adapter = {
  name: 'square',
  currency: 'AUD',
  choices: ['pay', 'fail'],
  beginCalls: false,
  knowsOpen: false,
  refunds: true,
  showsRefunds: true,
  async start({ portalUrl, closedUrl, silentUrl }) {
    const database = await testDatabase()
    const sandbox = await startSandbox({
      host: '127.0.0.1',
      port: 0,
      databaseUrl: database.url,
      portalUrl,
      gateways: { square: keys },
      esms: { apiKey: 'k', secretKey: 's' },
      log: () => undefined,
      pace: 0.01,
    })
    const webhookUrl = `${portalUrl}/api/webhooks/square`
    const driverFor = (url: string, timeoutMs: number) =>
      createSquare(
        settings.parse({ ...inSandbox(sandbox.url, keys), apiUrl: `${url}/square`, timeoutMs }),
        { webhookUrl },
      )
    const signature = (body: Buffer, key = keys.webhookKey, url = webhookUrl): string =>
      createHmac('sha256', key).update(url).update(body).digest('base64')
    return {
      driver: driverFor(sandbox.url, 10_000),
      unreachable: driverFor(closedUrl, 10_000),
      slow: driverFor(silentUrl, 100),
      async begin(driver, order) {
        if (driver.kind !== 'token') throw new Error('Square takes tokens')
        const charge = async (sourceId: string) =>
          await driver.charge(order, { sourceId, verificationToken: null })
        // Nothing begins before the charge; a currency that is not Square's is refused by it.
        if (!driver.currencies.includes(order.currency)) await charge('cnon:card-nonce-ok')
        return {
          providerRef: null,
          handed: order.code,
          open: async () => undefined,
          async choose(choice) {
            await charge(choice === 'pay' ? 'cnon:card-nonce-ok' : 'cnon:card-nonce-declined')
            return null
          },
        }
      },
      forgeries(genuine) {
        const with_ = (given: string | undefined, rawBody = genuine.rawBody) => ({
          ...genuine,
          rawBody,
          headers: { ...genuine.headers, 'x-square-hmacsha256-signature': given },
        })
        const other = Buffer.from(genuine.rawBody.toString('utf8').replace('15000', '95000'))
        return [
          with_(genuine.headers['x-square-hmacsha256-signature'], other),
          with_(undefined),
          with_(signature(genuine.rawBody, 'another key')),
          with_(
            signature(genuine.rawBody, undefined, 'https://elsewhere.example/api/webhooks/square'),
          ),
        ]
      },
      forgetRefundIds: () =>
        database.run("update sandbox.square_objects set key = null where kind = 'refund'"),
      async close() {
        await sandbox.close()
        await database.drop()
      },
    }
  },
}

conforms(adapter)
