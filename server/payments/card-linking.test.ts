/** Where cards are taken, and how a customer and a browser link them. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { cardsOf } from '../../test/card-holder.ts'
import { openTestPortal, type TestCustomer, type TestPortal } from '../../test/portal.ts'
import { stripeBrowser, testCards, type Browser } from '../../test/stripe-browser.ts'

let portal: TestPortal
let browser: Browser
beforeAll(async () => {
  // No scheduled query reaches the gateway unless a test asks for one.
  portal = await openTestPortal({ timing: { askGatewaySeconds: [3600] } })
  browser = stripeBrowser(portal.sandboxUrl, portal.keysOf('stripe')['publishableKey'] ?? '')
})
afterAll(() => portal.close())
const { secretOf, attach, link, begin, confirm } = cardsOf(
  () => portal,
  () => browser,
)

interface Linked {
  id: string
  card: { brand: string; last4: string; exp_month: number; exp_year: number }
  default: boolean
}
const listed = async ({ token }: TestCustomer): Promise<Linked[]> =>
  (await portal.call<Linked[]>('GET', '/api/payments/stripe/methods', { token })).body.result
const shown = async (customer: TestCustomer): Promise<string[]> =>
  (await listed(customer))
    .map(({ card, default: chosen }) => `${card.brand} ${card.last4}${chosen ? ' default' : ''}`)
    .toSorted()

describe('linking a card', () => {
  test('the linked cards have brand and last digits, and the newest is the default', async () => {
    const an = await portal.customer({ region: 'AUD' })
    expect(await shown(an)).toEqual([])
    for (const number of [testCards.visa, testCards.mastercard, testCards.amex, testCards.jcb])
      await link(an, number)
    expect(await shown(an)).toEqual([
      'amex 0005',
      'jcb 0505 default',
      'mastercard 4444',
      'visa 4242',
    ])
    const visa = (await listed(an)).find(({ card }) => card.brand === 'visa')
    expect(visa?.card).toEqual({ brand: 'visa', last4: '4242', exp_month: 12, exp_year: 2034 })
    expect((await attach(an, visa?.id ?? '')).status).toBe(200)
    expect(await shown(an)).toContain('visa 4242 default')
  })

  test('the form opened again makes no other setup; a linked card used its own up', async () => {
    const an = await portal.customer({ region: 'AUD' })
    const first = await secretOf(an)
    expect(await secretOf(an)).toBe(first)
    expect((await browser.confirm(first, { number: testCards.visa })).error).toBeUndefined()
    const second = await secretOf(an)
    expect(second).not.toBe(first)
    expect(await secretOf(await portal.customer({ region: 'AUD' }))).not.toBe(second)
  })

  test('a page goes on where the one before ended, also when its cards are gone', async () => {
    const an = await portal.customer({ region: 'AUD' })
    for (const number of [testCards.visa, testCards.mastercard, testCards.amex, testCards.jcb])
      await link(an, number)
    const page = (cursor: string | null) =>
      portal.call<Linked[]>(
        'GET',
        `/api/payments/stripe/methods?limit=2${cursor === null ? '' : `&cursor=${cursor}`}`,
        { token: an.token },
      )
    const all = (await listed(an)).map(({ id }) => id)
    const first = await page(null)
    expect(first.body.result.map(({ id }) => id)).toEqual(all.slice(0, 2))
    await portal.call('DELETE', `/api/payments/stripe/methods/${all[1]}`, { token: an.token })
    const second = await page(first.body.page?.next ?? null)
    expect(second.body.result.map(({ id }) => id)).toEqual(all.slice(2))
    expect(second.body.page?.next).toBeNull()
    expect((await page('bm90IG91cnM')).status).toBe(422)
  })

  test('an unlinked card is gone, and cannot be unlinked again', async () => {
    const an = await portal.customer({ region: 'USD' })
    const id = await link(an, testCards.visa)
    const unlink = () =>
      portal.call('DELETE', `/api/payments/stripe/methods/${id}`, { token: an.token })
    expect((await unlink()).status).toBe(200)
    expect(await shown(an)).toEqual([])
    expect((await unlink()).status).toBe(404)
  })

  test("another customer's card is not listed, attached, unlinked or paid with", async () => {
    const [an, binh] = [
      await portal.customer({ region: 'AUD' }),
      await portal.customer({ region: 'AUD' }),
    ]
    const id = await link(an, testCards.visa)
    await link(binh, testCards.mastercard)
    expect(await shown(binh)).toEqual(['mastercard 4444 default'])
    const { code } = await begin(binh)
    for (const strange of [id, 'pm_none', '../customers', "' or 1=1", 'cus_1']) {
      const answers = [
        await attach(binh, strange),
        await portal.call('DELETE', `/api/payments/stripe/methods/${encodeURIComponent(strange)}`, {
          token: binh.token,
        }),
        await confirm(binh, code, strange),
      ]
      expect(answers.map(({ status }) => [strange, status])).toEqual(
        [404, 404, 404].map((status) => [strange, status]),
      )
    }
    expect(await shown(an)).toEqual(['visa 4242 default'])
  })

  test('a card that the bank refuses is not linked', async () => {
    const an = await portal.customer({ region: 'AUD' })
    for (const [number, code] of [
      [testCards.declined, 'card_declined'],
      [testCards.insufficient, 'card_declined'],
      [testCards.expired, 'expired_card'],
    ] as const)
      expect((await browser.confirm(await secretOf(an), { number })).error).toMatchObject({
        type: 'card_error',
        code,
      })
    const refused = await browser.confirm(
      await secretOf(an),
      { number: testCards.asksOnce },
      'refuse',
    )
    expect(refused.error?.code).toBe('setup_intent_authentication_failure')
    expect(await shown(an)).toEqual([])
    expect(
      (await browser.confirm(await secretOf(an), { number: testCards.asksOnce }, 'confirm')).status,
    ).toBe('succeeded')
    expect(await shown(an)).toEqual(['visa 3155'])
  })

  test('a customer unknown to the provider under that id is found or made again', async () => {
    const an = await portal.customer({ region: 'AUD' })
    await link(an, testCards.visa)
    await portal.app.db
      .updateTable('card_customer')
      .set({ reference: 'cus_gone' })
      .where('customer_id', '=', an.id)
      .execute()
    expect(await shown(an)).toEqual(['visa 4242 default'])
    await link(an, testCards.jcb)
    expect(await shown(an)).toContain('jcb 0505 default')
  })

  test('two calls at once make one customer at the provider', async () => {
    const an = await portal.customer({ region: 'AUD' })
    await Promise.all([secretOf(an), secretOf(an), secretOf(an)])
    const rows = await portal.app.db
      .selectFrom('card_customer')
      .selectAll()
      .where('customer_id', '=', an.id)
      .execute()
    expect(rows).toHaveLength(1)
  })
})

test('the portal says where cards are taken; its pages load the provider’s form only', async () => {
  const answer = await portal.call<{
    cards: { provider: string; publishableKey: string; scriptUrl: string }
    square: { applicationId: string; locationId: string } | null
    payments: Record<string, { cards: boolean }>
  }>('GET', '/api/config')
  const { cards, square, payments } = answer.body.result
  expect(cards).toEqual({
    provider: 'stripe',
    publishableKey: portal.keysOf('stripe')['publishableKey'],
    scriptUrl: `${portal.sandboxUrl}/stripe/v3/stripe.js`,
  })
  expect(square).toEqual({
    applicationId: portal.keysOf('square')['applicationId'],
    locationId: portal.keysOf('square')['locationId'],
  })
  expect(Object.entries(payments).map(([region, of]) => [region, of.cards])).toEqual([
    ['VN', false],
    ['USD', true],
    ['EURO', true],
    ['AUD', true],
  ])
  const policy = answer.headers.get('content-security-policy') ?? ''
  expect(policy).toContain(`script-src 'self' ${portal.sandboxUrl};`)
  expect(policy).toContain(`frame-src 'self' ${portal.sandboxUrl};`)
  expect(policy).not.toContain('stripe.com')
})
