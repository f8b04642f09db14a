/**
 * Automatic top-up, as a customer with a linked card lives it (decision 136): when the card is
 * charged, how often, and what happens when it is not.
 */
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { CustomerStory } from '../../contract/operator-desk.ts'
import { autoTopUpsOf, path } from '../../test/auto-top-ups.ts'
import { cardsOf } from '../../test/card-holder.ts'
import { offerParking, rent, subscriptionBecomes } from '../../test/parking.ts'
import {
  manualClock,
  openTestPortal,
  type TestCustomer,
  type TestPortal,
} from '../../test/portal.ts'
import { stripeBrowser, testCards, type Browser } from '../../test/stripe-browser.ts'
import { newMember } from '../../test/staff.ts'
import { enter, join } from '../../test/team.ts'
import { days, minutes } from '../platform/clock.ts'

let portal: TestPortal
let browser: Browser
// Mid-month, so that a few days later the monthly limit counts the same month.
const clock = manualClock(new Date('2027-03-10T03:00:00Z'))
beforeAll(async () => {
  portal = await openTestPortal({
    clock,
    timing: { askGatewaySeconds: [3600] },
  })
  browser = stripeBrowser(portal.sandboxUrl, portal.keysOf('stripe')['publishableKey'] ?? '')
  await offerParking(portal)
})
afterAll(async () => {
  await portal.ledgerHolds()
  await portal.close()
})
const { link, paid, balances, dashboard, refOf } = cardsOf(
  () => portal,
  () => browser,
)

const { read, ask, switchOn, charges, chargesBecome, run, sweep, letterComes, inUsd } =
  autoTopUpsOf(() => portal)
/** With a fresh session: the test moved the clock past the old one's end. */
const signedIn = (an: TestCustomer): Promise<TestCustomer> => portal.signIn(an)

test('ten debits at once and a job that runs again charge the card once', async () => {
  const an = await inUsd()
  await paid(an, 2000)
  await switchOn(an, await link(an, testCards.asksOnce))
  expect(await charges(an)).toEqual([])
  await Promise.all(Array.from({ length: 10 }, () => rent(portal, an, 100)))
  await chargesBecome(an, ['1000 succeeded'])
  await balances(an, 2000)
  await Promise.all([run(an), run(an), sweep()])
  expect(await charges(an)).toEqual(['1000 succeeded'])
  const { spent, last } = await read(an)
  expect([spent, last?.state]).toEqual([1000, 'succeeded'])
  // There is exactly one receipt. It says that the charge was automatic, and so does the list.
  await letterComes(an, /charged to your linked card automatically/)
  await letterComes(an, /Receipt: we received 10.00 USD/)
  const { body } = await portal.call<{ description: string }[]>('GET', '/api/payments/stripe', {
    token: an.token,
    headers: { 'accept-language': 'en' },
  })
  expect(body.result.map(({ description }) => description)).toContain('Automatic top-up via Stripe')
  const one = await portal.call<{ description: string }>(
    'GET',
    `/api/payments/get-transaction?transactionCode=${last?.transactionCode}`,
    { token: an.token, headers: { 'accept-language': 'vi' } },
  )
  expect(one.body.result.description).toBe('Tự động nạp ví qua Stripe')
  // A browser cannot confirm it either.
  const confirmed = await portal.call(
    'POST',
    `/api/payments/stripe/${last?.transactionCode}/confirm`,
    {
      token: an.token,
      body: { method_id: 'pm_any' },
    },
  )
  expect(confirmed.status).toBe(404)
})

test('a pause follows; the month’s limit is told once, and the next month goes on', async () => {
  const an = await inUsd()
  await switchOn(an, await link(an, testCards.visa), { below: 100_000, monthLimit: 2500 })
  await chargesBecome(an, ['1000 succeeded'])
  await run(an)
  await sweep()
  expect(await charges(an)).toHaveLength(1)
  clock.advance(minutes(11))
  await run(an)
  expect(await charges(an)).toHaveLength(2)
  // 500 are left, and the wish is 1000.
  for (let again = 0; again < 3; again++) {
    clock.advance(minutes(11))
    await run(an)
  }
  expect(await charges(an)).toHaveLength(2)
  await letterComes(an, /20.00 USD were charged automatically this month/)
  clock.advance(days(25))
  await run(an)
  expect(await charges(an)).toHaveLength(3)
  expect((await read(await signedIn(an))).spent).toBe(1000)
})

test('a renewal that the wallet does not cover is topped up for before it is due', async () => {
  const an = await inUsd()
  await paid(an, 1200)
  const id = await rent(portal, an, 1200)
  await subscriptionBecomes(portal, id, 'active')
  await balances(an, 0)
  await switchOn(an, await link(an, testCards.visa), { below: 0, amount: 500 })
  await sweep()
  expect(await charges(an)).toEqual([])
  clock.advance(days(28) + minutes(5))
  await sweep()
  // The charge is what the renewal needs, which is more than the rule's amount.
  expect(await charges(an)).toEqual(['1200 succeeded'])
  clock.advance(days(3))
  await portal.app.bills.sweep()
  expect(await portal.app.bills.subscription(portal.app.db, id)).toMatchObject({ status: 'active' })
})

test('a renewal that failed is paid by it, before the server is suspended', async () => {
  const an = await inUsd()
  await paid(an, 900)
  const id = await rent(portal, an, 900)
  await subscriptionBecomes(portal, id, 'active')
  const card = await link(an, testCards.visa)
  clock.advance(days(32))
  await portal.app.bills.sweep()
  await subscriptionBecomes(portal, id, 'past_due')
  await switchOn(await signedIn(an), card, { below: 0 })
  await subscriptionBecomes(portal, id, 'active')
  expect(await charges(an)).toEqual(['1000 succeeded'])
})

test('three declines in a row, a day and three days apart, switch it off', async () => {
  const an = await inUsd()
  await switchOn(an, await link(an, testCards.linkedThenDeclined))
  await chargesBecome(an, ['1000 declined'])
  await letterComes(an, /could not charge 10.00 USD to your card Visa •••• 0341/)
  expect((await read(an)).rule?.nextTryAt).toBe(
    new Date(clock.now().getTime() + days(1)).toISOString(),
  )
  await run(an)
  await sweep()
  expect(await charges(an)).toHaveLength(1)
  clock.advance(days(1))
  await sweep()
  expect(await charges(an)).toHaveLength(2)
  clock.advance(days(2))
  await sweep()
  expect(await charges(an)).toHaveLength(2)
  clock.advance(days(1))
  await sweep()
  expect(await charges(an)).toHaveLength(3)
  const { rule, spent } = await read(await signedIn(an))
  expect([rule?.off?.reason, spent]).toEqual(['declined', 0])
  await letterComes(an, /was declined 3 times in a row/)
  // The staff see why.
  const support = await newMember(portal, 'support', { clock })
  const story = await support.call<CustomerStory>('GET', `/api/operator/customers/${an.id}`)
  expect(story.body.result.autoTopUp).toMatchObject({
    card: 'Visa •••• 0341',
    off: { reason: 'declined' },
    lastFailure: { detail: 'requires_payment_method generic_decline' },
  })
  clock.advance(days(9))
  await run(an)
  await sweep()
  expect(await charges(an)).toHaveLength(3)
})

test('a card that is declined delays nothing that the wallet can pay', async () => {
  const an = await inUsd()
  await paid(an, 900)
  const id = await rent(portal, an, 900)
  await subscriptionBecomes(portal, id, 'active')
  const card = await link(an, testCards.linkedThenDeclined)
  clock.advance(days(32))
  await portal.app.bills.sweep()
  const back = await signedIn(an)
  await switchOn(back, card)
  await chargesBecome(an, ['1000 declined'])
  await paid(back, 900)
  await subscriptionBecomes(portal, id, 'active')
})

test('a bank that wants to ask the owner: the owner is told where to confirm', async () => {
  const an = await inUsd()
  await switchOn(an, await link(an, testCards.asksAlways))
  await chargesBecome(an, ['1000 needs_owner'])
  await letterComes(an, /\/payment\?type=card&amount=10\.00/)
  const { last, rule } = await read(an)
  expect([last?.state, last?.reason]).toEqual(['needs_owner', 'needs_confirmation'])
  expect(rule?.nextTryAt).not.toBeNull()
  const { body } = await portal.call<{ data: { event: string; title: string }[] }>(
    'GET',
    '/api/notifications',
    { token: an.token, headers: { 'accept-language': 'vi' } },
  )
  expect(body.result.data.find(({ event }) => event === 'wallet.auto_top_up')?.title).toMatch(
    /^Cần bạn xác nhận khoản nạp/,
  )
})

test('a card that is unlinked, or a chargeback, switches it off', async () => {
  const an = await inUsd()
  await paid(an, 2000)
  const card = await link(an, testCards.mastercard)
  await switchOn(an, card)
  await portal.call('DELETE', `/api/payments/stripe/methods/${card}`, { token: an.token })
  expect((await read(an)).rule?.off?.reason).toBe('card_gone')
  await letterComes(an, /Mastercard •••• 4444 is not linked any more/)

  const binh = await inUsd()
  await switchOn(binh, await link(binh, testCards.visa))
  await chargesBecome(binh, ['1000 succeeded'])
  const { last } = await read(binh)
  await dashboard({ action: 'dispute', payment: await refOf(last?.transactionCode ?? '') })
  await balances(binh, 0)
  expect((await read(binh)).rule?.off?.reason).toBe('disputed')
  clock.advance(minutes(11))
  await run(binh)
  expect(await charges(binh)).toHaveLength(1)
})

test('a chargeback at another gateway switches it off: no linked card pays the debt', async () => {
  const chi = await portal.customer({ region: 'AUD' })
  const paidBySquare = await portal.call<{ transactionCode: string }>(
    'POST',
    '/api/payments/square/checkout',
    {
      token: chi.token,
      body: {
        amount: 2000,
        locationId: portal.keysOf('square')['locationId'],
        source_id: 'cnon:card-nonce-ok',
      },
    },
  )
  await balances(chi, 2000)
  await rent(portal, chi, 1500)
  await balances(chi, 500)
  await switchOn(chi, await link(chi, testCards.visa), { below: 0 })
  const { provider_transaction_id: movement } = await portal.app.db
    .selectFrom('payment')
    .select('provider_transaction_id')
    .where('code', '=', paidBySquare.body.result.transactionCode)
    .executeTakeFirstOrThrow()
  await fetch(`${portal.sandboxUrl}/square/dashboard`, {
    method: 'POST',
    redirect: 'manual',
    body: new URLSearchParams({ action: 'dispute', payment: movement ?? '' }),
  })
  await balances(chi, 0)
  expect((await read(chi)).rule?.off?.reason).toBe('disputed')
  // The renewal falls due, and the wallet is empty.
  clock.advance(days(28) + minutes(5))
  await sweep()
  expect(await charges(chi)).toEqual([])
})

test('who may pay may set it, within the limits and with consent; nobody in Vietnam', async () => {
  const an = await inUsd()
  const card = await link(an, testCards.visa)
  const refusal = async (changes: object, token = an.token) => {
    const { body } = await ask({ token }, card, changes)
    return Object.keys(body.error?.fields ?? {}).join() || body.error?.code
  }
  expect(await refusal({ consent: false })).toBe('consent')
  expect(await refusal({ monthLimit: 999 })).toBe('monthLimit')
  expect(await refusal({ below: -1 })).toBe('below')
  expect(await refusal({ amount: 499 })).toBe('amount')
  expect(await refusal({ amount: 1_000_001, monthLimit: 2_000_000 })).toBe('amount')
  const other = await inUsd()
  expect(await refusal({}, other.token)).toBe('cardId')
  expect(await refusal({}, (await portal.customer({ region: 'VN' })).token)).toBe(
    'method_unavailable',
  )
  for (const [role, status] of [
    ['technical', 403],
    ['read_only', 403],
    ['billing', 200],
  ] as const) {
    const person = await inUsd()
    const entered = await enter(portal, person, await join(portal, an, person, { role }))
    const { token } = entered.body.result
    expect((await ask({ token }, card, { below: 0 })).status).toBe(status)
  }
  expect((await read(an)).rule?.below).toBe(0)
  await portal.call('DELETE', path, { token: an.token })
  expect((await read(an)).rule).toBeNull()
})

test('an account that is closed keeps no wish', async () => {
  const an = await inUsd()
  await switchOn(an, await link(an, testCards.visa), { below: 0 })
  const closed = await portal.call('POST', '/api/v1/account/close', {
    token: an.token,
    body: { password: an.password },
  })
  expect(closed.status, closed.text).toBe(200)
  await run(an)
  const left = await portal.app.db
    .selectFrom('auto_top_up')
    .select('customer_id')
    .where('customer_id', '=', an.id)
    .execute()
  expect([left, await charges(an)]).toEqual([[], []])
})
