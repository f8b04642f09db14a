/**
 * Money that goes back to a card: refunds and chargebacks, in whatever order Stripe tells of them.
 */
import { createHmac } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { cardsOf } from '../../test/card-holder.ts'
import { eventually, openTestPortal, type TestPortal } from '../../test/portal.ts'
import { stripeBrowser, type Browser } from '../../test/stripe-browser.ts'

let portal: TestPortal
let browser: Browser
beforeAll(async () => {
  // No scheduled query reaches the gateway unless a test asks for one.
  portal = await openTestPortal({ timing: { askGatewaySeconds: [3600] } })
  browser = stripeBrowser(portal.sandboxUrl, portal.keysOf('stripe')['publishableKey'] ?? '')
})
afterAll(() => portal.close())
const { balanceOf, amounts, balances, dashboard, eventsGo, paid } = cardsOf(
  () => portal,
  () => browser,
)

describe('money that goes back', () => {
  test('a refund and its event leave the wallet once; a refused one comes back', async () => {
    const an = await portal.customer({ region: 'AUD' })
    const { code } = await paid(an)
    await portal.app.topUps.refunds.begin(code, 500n, 'asked for')
    await balances(an, 1500)
    const refund = await eventually('the refund is done', async () =>
      portal.app.db
        .selectFrom('payment_refund as r')
        .innerJoin('payment as p', 'p.id', 'r.payment_id')
        .select('r.provider_refund_id')
        .where('p.code', '=', code)
        .where('r.status', '=', 'done')
        .executeTakeFirst(),
    )
    expect(await amounts(an)).toEqual([2000, -500])
    await dashboard({ action: 'fail_refund', refund: refund.provider_refund_id ?? '' })
    await balances(an, 2000)
    await portal.ledgerHolds()
  })

  test("a dashboard's refund takes the credit back, in parts and twice told", async () => {
    const an = await portal.customer({ region: 'AUD' })
    const { payment } = await paid(an)
    await eventsGo('twice')
    await dashboard({ action: 'refund', payment, amount: '300' })
    await balances(an, 1700)
    await dashboard({ action: 'refund', payment })
    await balances(an, 0)
    await eventsGo('now')
    expect(await amounts(an)).toEqual([2000, -300, -1700])
    await portal.ledgerHolds()
  })

  test('a chargeback takes the credit back, and gives it again when it is won', async () => {
    const an = await portal.customer({ region: 'AUD' })
    const { payment } = await paid(an)
    await dashboard({ action: 'dispute', payment })
    await balances(an, 0)
    const page = await (await fetch(`${portal.sandboxUrl}/stripe/dashboard`)).text()
    const dispute = /name="dispute" value="(dp_\w+)"/.exec(page)?.[1] ?? ''
    await dashboard({ action: 'win', dispute })
    await balances(an, 2000)
    expect(await amounts(an)).toEqual([2000, -2000, 2000])
    await portal.ledgerHolds()
  })

  test('updates in the wrong order end alike: what came too early is told again', async () => {
    const an = await portal.customer({ region: 'AUD' })
    const { payment } = await paid(an)
    const tell = async (id: string, type: string): Promise<number> => {
      const dispute = {
        id: 'dp_order',
        amount: 2000,
        currency: 'aud',
        payment_intent: payment,
        reason: 'fraudulent',
        created: 1_700_000_000,
      }
      const body = JSON.stringify({
        id,
        object: 'event',
        type: `charge.dispute.${type}`,
        data: { object: dispute },
      })
      const at = Math.floor(Date.now() / 1000)
      const secret = portal.keysOf('stripe')['webhookSecret'] ?? ''
      const mac = createHmac('sha256', secret).update(`${at}.${body}`).digest('hex')
      return (
        await portal.call('POST', '/api/webhooks/stripe', {
          body,
          headers: { 'stripe-signature': `t=${at},v1=${mac}` },
        })
      ).status
    }
    expect(await tell('evt_2', 'funds_reinstated')).toBe(409)
    expect(await balanceOf(an)).toBe(2000)
    expect(await tell('evt_1', 'funds_withdrawn')).toBe(200)
    expect(await tell('evt_1', 'funds_withdrawn')).toBe(200)
    expect(await balanceOf(an)).toBe(0)
    expect(await tell('evt_2', 'funds_reinstated')).toBe(200)
    expect(await tell('evt_2', 'funds_reinstated')).toBe(200)
    expect(await amounts(an)).toEqual([2000, -2000, 2000])
    await portal.ledgerHolds()
  })

  test('of a short wallet a chargeback takes what is there, and the rest is owed', async () => {
    const an = await portal.customer({ region: 'AUD' })
    const { code, payment } = await paid(an)
    // A part of the money was refunded to another source: the wallet holds less than the bank
    // takes.
    const other = await paid(an, 1000)
    await portal.app.topUps.refunds.begin(code, 2000n, 'spent elsewhere')
    await balances(an, 1000)
    expect(payment).not.toBe(other.payment)
    await portal.app.db.transaction().execute(async (tx) => {
      await portal.app.ledger.withhold(tx, {
        key: `test:${an.id}`,
        customerId: an.id,
        driver: 'stripe',
        amount: 400n,
        currency: 'AUD',
        details: { provider: 'Stripe' },
      })
    })
    await dashboard({ action: 'dispute', payment: other.payment })
    await balances(an, 0)
    const owed = await portal.app.db
      .selectFrom('ledger_account')
      .select('balance')
      .where('code', '=', 'receivable:stripe:AUD')
      .executeTakeFirstOrThrow()
    expect(owed.balance < 0n ? -owed.balance : owed.balance).toBe(400n)
    await portal.ledgerHolds()
  })
})
