/** How a person pays at the Alepay stand-in. */
import { startSandbox } from '../../../../sandbox/index.ts'
import { testDatabase } from '../../../../test/database.ts'
import { conforms, type Adapter, type Choice } from '../conformance.ts'
import type { HostedDriver } from '../../driver.ts'
import { createAlepay } from './index.ts'
import { settings } from './settings.ts'

const merchant = {
  tokenKey: 'TESTTOKENKEY0123456789ABCDEFGH',
  checksumKey: 'TESTCHECKSUMKEY0123456789ABCDEF',
}
const outcomes: Readonly<Record<Choice, string>> = {
  pay: 'paid',
  fail: 'declined',
  cancel: 'cancelled',
  suspicious: 'review',
}

const adapter: Adapter = {
  name: 'alepay',
  currency: 'VND',
  choices: ['pay', 'fail', 'cancel', 'suspicious'],
  beginCalls: true,
  knowsOpen: true,
  refunds: true,
  // the status that a given-back payment has is not published
  showsRefunds: false,
  async start({ portalUrl, closedUrl, silentUrl }) {
    const database = await testDatabase()
    const sandbox = await startSandbox({
      host: '127.0.0.1',
      port: 0,
      databaseUrl: database.url,
      portalUrl,
      gateways: { alepay: merchant },
      esms: { apiKey: 'k', secretKey: 's' },
      log: () => undefined,
      pace: 0.01,
    })
    const driverFor = (url: string, timeoutMs: number): HostedDriver =>
      createAlepay(
        settings.parse({ ...merchant, baseUrl: `${url}/alepay/api/v3/checkout`, timeoutMs }),
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
        if (driver.kind !== 'hosted') throw new Error('alepay pays on its own page')
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
            const confirm = new URL('/alepay/checkout/confirm', checkoutUrl)
            return (await fetch(confirm, { method: 'POST', body, redirect: 'manual' })).headers.get(
              'location',
            )
          },
        }
      },
      forgeries(genuine) {
        const { transactionInfo, checksum } = JSON.parse(genuine.rawBody.toString()) as {
          transactionInfo: Record<string, unknown>
          checksum: string
        }
        const webhook = (changes: Record<string, unknown>, sum: unknown = checksum) =>
          JSON.stringify({ transactionInfo: { ...transactionInfo, ...changes }, checksum: sum })
        return [
          webhook({ amount: 1 }),
          webhook({ orderCode: 'ANOTHER' }),
          webhook({ transactionCode: 'ALE0000000' }),
          webhook({ amount: -150_000 }),
          webhook({}, null),
          webhook({}, ''),
          webhook({}, '0'.repeat(32)),
          webhook({}, [checksum]),
          JSON.stringify({ transactionInfo }),
          JSON.stringify({ transactionInfo: null, checksum }),
          JSON.stringify([checksum]),
          'null',
          '{',
        ].map((body) => ({ ...genuine, rawBody: Buffer.from(body) }))
      },
      async close() {
        await sandbox.close()
        await database.drop()
      },
    }
  },
}

conforms(adapter)
