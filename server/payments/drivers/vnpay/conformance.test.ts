/** How a person pays at the VNPay stand-in. */
import { startSandbox } from '../../../../sandbox/index.ts'
import { testDatabase } from '../../../../test/database.ts'
import { conforms, type Adapter, type Choice } from '../conformance.ts'
import type { HostedDriver } from '../../driver.ts'
import { createVnpay } from './index.ts'
import { settings } from './settings.ts'

const terminal = { tmnCode: 'DEMO0001', secret: 'TESTSECRET0123456789ABCDEFGHIJKL' }
const outcomes: Readonly<Record<Choice, string>> = {
  pay: 'paid',
  fail: 'insufficient',
  cancel: 'cancelled',
  suspicious: 'suspicious',
}

const adapter: Adapter = {
  name: 'vnpay',
  currency: 'VND',
  choices: ['pay', 'fail', 'cancel', 'suspicious'],
  beginCalls: false,
  knowsOpen: true,
  refunds: true,
  showsRefunds: true,
  async start({ portalUrl, closedUrl, silentUrl }) {
    const database = await testDatabase()
    const sandbox = await startSandbox({
      host: '127.0.0.1',
      port: 0,
      databaseUrl: database.url,
      portalUrl,
      gateways: { vnpay: terminal },
      esms: { apiKey: 'k', secretKey: 's' },
      log: () => undefined,
      pace: 0.01,
    })
    const driverFor = (url: string, timeoutMs: number): HostedDriver =>
      createVnpay(
        settings.parse({
          ...terminal,
          payUrl: `${sandbox.url}/vnpay/paymentv2/vpcpay.html`,
          apiUrl: `${url}/vnpay/merchant_webapi/api/transaction`,
          timeoutMs,
        }),
      )
    async function page(checkoutUrl: string): Promise<string> {
      const response = await fetch(checkoutUrl)
      const token = /name="token" value="([^"]+)"/.exec(await response.text())?.[1]
      if (token === undefined) throw new Error(`no payment page: ${response.url}`)
      return token
    }
    return {
      driver: driverFor(sandbox.url, 10_000),
      unreachable: driverFor(closedUrl, 10_000),
      slow: driverFor(silentUrl, 100),
      async begin(driver, order) {
        if (driver.kind !== 'hosted') throw new Error('vnpay pays on its own page')
        const { checkoutUrl, providerRef } = await driver.begin(order)
        return {
          providerRef,
          handed: checkoutUrl,
          async open() {
            await page(checkoutUrl)
          },
          async choose(choice) {
            const body = new URLSearchParams({
              token: await page(checkoutUrl),
              outcome: outcomes[choice],
            })
            const confirm = new URL('/vnpay/paymentv2/Transaction/Confirm.html', checkoutUrl)
            return (await fetch(confirm, { method: 'POST', body, redirect: 'manual' })).headers.get(
              'location',
            )
          },
        }
      },
      forgeries(genuine) {
        const changed = (name: string, value: string | null): URLSearchParams => {
          const query = new URLSearchParams(genuine.query)
          if (value === null) query.delete(name)
          else query.set(name, value)
          return query
        }
        const names = [...genuine.query.keys()]
        return [
          ...names.map((name) => changed(name, '1')),
          ...names.map((name) => changed(name, null)),
          changed('vnp_SecureHash', '0'.repeat(128)),
        ].map((query) => ({ ...genuine, query }))
      },
      forgetRefundIds: () => database.run('delete from sandbox.vnpay_requests'),
      async close() {
        await sandbox.close()
        await database.drop()
      },
    }
  },
}

conforms(adapter)
