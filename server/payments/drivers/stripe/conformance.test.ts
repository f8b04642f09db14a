/** How a person links a card and pays with it at the Stripe stand-in. */
import { createHmac } from 'node:crypto'
import { startSandbox } from '../../../../sandbox/index.ts'
import { testDatabase } from '../../../../test/database.ts'
import { stripeBrowser, testCards } from '../../../../test/stripe-browser.ts'
import { DriverFailure } from '../../../platform/errors.ts'
import { conforms, type Adapter } from '../conformance.ts'
import { createStripe } from './index.ts'
import { inSandbox, sandboxKeys, settings } from './settings.ts'

const keys = sandboxKeys((purpose) => `key for ${purpose}`)

const signed = (
  body: Buffer | string,
  at = Math.floor(Date.now() / 1000),
  secret = keys.webhookSecret,
): string =>
  `t=${at},v1=${createHmac('sha256', secret).update(`${at}.`).update(body).digest('hex')}`

const adapter: Adapter = {
  name: 'stripe',
  currency: 'AUD',
  // A declined card leaves the payment open.
  choices: ['pay', 'suspicious', 'cancel'],
  beginCalls: true,
  knowsOpen: true,
  refunds: true,
  showsRefunds: true,
  offSession: true,
  async start({ portalUrl, closedUrl, silentUrl }) {
    const database = await testDatabase()
    const sandbox = await startSandbox({
      host: '127.0.0.1',
      port: 0,
      databaseUrl: database.url,
      portalUrl,
      gateways: { stripe: keys },
      esms: { apiKey: 'k', secretKey: 's' },
      log: () => undefined,
      pace: 0.01,
    })
    const driverFor = (apiUrl: string, timeoutMs: number) =>
      createStripe(settings.parse({ ...inSandbox(sandbox.url, keys), apiUrl, timeoutMs }))
    const browser = stripeBrowser(sandbox.url, keys.publishableKey)
    const driver = driverFor(sandbox.url, 10_000)
    const linked = new Map<string, { customerRef: string; cardId: string }>()
    /** The buyer of an order, with a card that is linked, and paid with or refused. */
    async function cardOf(buyer: Parameters<typeof driver.openCustomer>[0], number: string) {
      const known = linked.get(`${buyer.id} ${number}`)
      if (known) return known
      const customerRef = await driver.openCustomer(buyer)
      const { clientSecret } = await driver.setUp(customerRef)
      const { payment_method } = await browser.confirm(clientSecret, { number })
      const made = { customerRef, cardId: payment_method ?? '' }
      linked.set(`${buyer.id} ${number}`, made)
      return made
    }
    const numbers = {
      pays: testCards.asksOnce,
      declines: testCards.linkedThenDeclined,
      asks: testCards.asksAlways,
    }
    return {
      driver,
      linkedCard: (buyer, which) => cardOf(buyer, numbers[which]),
      unreachable: driverFor(closedUrl, 10_000),
      slow: driverFor(silentUrl, 100),
      async begin(driver, order) {
        if (driver.kind !== 'card') throw new Error('Stripe takes cards')
        const { clientSecret, providerRef } = await driver.beginCard(
          order,
          await cardOf(order.buyer, testCards.visa),
        )
        return {
          providerRef,
          handed: clientSecret,
          open: async () => undefined,
          async choose(choice) {
            if (choice === 'cancel') {
              const answer = await fetch(
                `${sandbox.url}/v1/payment_intents/${providerRef}/cancel`,
                {
                  method: 'POST',
                  headers: { authorization: `Bearer ${keys.secretKey}` },
                },
              )
              if (!answer.ok) throw new DriverFailure('rejected', 'not cancelled')
              return null
            }
            const refused =
              choice === 'suspicious'
                ? await cardOf(order.buyer, testCards.linkedThenDeclined)
                : null
            await browser.confirm(clientSecret, refused && { id: refused.cardId })
            return null
          },
        }
      },
      forgeries(genuine) {
        const text = genuine.rawBody.toString('utf8')
        const other = Buffer.from(text.replace('evt_', 'evt_0'))
        const with_ = (signature: string | undefined, rawBody = genuine.rawBody) => ({
          ...genuine,
          rawBody,
          headers: { ...genuine.headers, 'stripe-signature': signature },
        })
        return [
          with_(genuine.headers['stripe-signature'], other),
          with_(undefined),
          with_(signed(genuine.rawBody, undefined, 'whsec_another')),
          with_(signed(genuine.rawBody, Math.floor(Date.now() / 1000) - 400)),
          with_(`${signed(genuine.rawBody)}0`.replace('v1=', 'v1=0')),
        ]
      },
      forgetRefundIds: () => database.run('delete from sandbox.stripe_answers'),
      async close() {
        await sandbox.close()
        await database.drop()
      },
    }
  },
}

conforms(adapter)
