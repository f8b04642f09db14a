/** How a person pays with the sandbox's bank app; SePay and Casso report the transfer. */
import { startSandbox } from '../../../../sandbox/index.ts'
import { testDatabase } from '../../../../test/database.ts'
import { conforms, type Adapter } from '../conformance.ts'
import { createBank } from './index.ts'
import { inSandbox, sandboxKeys, settings } from './settings.ts'

const keys = sandboxKeys((purpose) => `a key for ${purpose}`)

const fedBy = (feed: 'sepay' | 'casso'): Adapter => ({
  name: `bank (${feed})`,
  currency: 'VND',
  choices: ['pay'],
  beginCalls: false,
  knowsOpen: false,
  refunds: false,
  showsRefunds: false,
  async start({ portalUrl, closedUrl, silentUrl }) {
    const database = await testDatabase()
    const sandbox = await startSandbox({
      host: '127.0.0.1',
      port: 0,
      databaseUrl: database.url,
      portalUrl,
      gateways: { bank: keys },
      esms: { apiKey: 'k', secretKey: 's' },
      log: () => undefined,
      pace: 0.01,
    })
    const driverFor = (url: string, timeoutMs: number) =>
      createBank(
        settings.parse({
          ...inSandbox(sandbox.url, keys),
          sepayUrl: `${url}/sepay/userapi`,
          timeoutMs,
        }),
      )
    return {
      driver: driverFor(sandbox.url, 10_000),
      unreachable: driverFor(closedUrl, 10_000),
      slow: driverFor(silentUrl, 100),
      async begin(driver, order) {
        if (driver.kind !== 'hosted') throw new Error('a transfer is made on its own page')
        const { checkoutUrl, providerRef } = await driver.begin(order)
        const { qr } = driver.instructions?.(order) ?? {}
        const app = `${sandbox.url}/bank/app`
        return {
          providerRef,
          handed: `${checkoutUrl} ${qr ?? ''}`,
          async open() {
            await fetch(`${app}?qr=${encodeURIComponent(qr ?? '')}`)
          },
          async choose() {
            const shown = await (await fetch(`${app}?qr=${encodeURIComponent(qr ?? '')}`)).text()
            const value = (name: string): string =>
              new RegExp(`name="${name}" value="([^"]*)"`).exec(shown)?.[1] ?? ''
            const body = new URLSearchParams({
              account: value('account'),
              amount: value('amount'),
              content: value('content'),
              feed,
            })
            await fetch(app, { method: 'POST', body })
            return null
          },
        }
      },
      forgeries(genuine) {
        const text = genuine.rawBody.toString('utf8')
        const signature = feed === 'casso' ? 'x-casso-signature' : 'x-sepay-signature'
        return [
          { ...genuine, rawBody: Buffer.from(text.replace('150000', '950000')) },
          { ...genuine, rawBody: Buffer.from(text.replace('MBVCB', 'MBVCC')) },
          { ...genuine, headers: { ...genuine.headers, [signature]: undefined } },
          {
            ...genuine,
            headers: {
              ...genuine.headers,
              [signature]: genuine.headers[signature]?.replaceAll(/[0-9a-f]/g, '0'),
            },
          },
          {
            ...genuine,
            headers: {
              ...genuine.headers,
              'x-sepay-timestamp': '1',
              [signature]: `${genuine.headers[signature] ?? ''}0`,
            },
          },
        ]
      },
      async close() {
        await sandbox.close()
        await database.drop()
      },
    }
  },
})

conforms(fedBy('sepay'))
conforms(fedBy('casso'))
