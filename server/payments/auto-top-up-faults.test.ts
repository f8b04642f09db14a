/**
 * Automatic top-up when something breaks: an answer that is lost, a portal that is killed, and a
 * gateway that never heard of a charge.
 */
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { autoTopUpsOf, path } from '../../test/auto-top-ups.ts'
import { cardsOf } from '../../test/card-holder.ts'
import {
  manualClock,
  openTestPortal,
  type TestCustomer,
  type TestPortal,
} from '../../test/portal.ts'
import { stripeBrowser, testCards, type Browser } from '../../test/stripe-browser.ts'
import { days, minutes } from '../platform/clock.ts'
import { transaction } from '../platform/db.ts'
import { DriverFailure } from '../platform/errors.ts'
import type { CardDriver } from './driver.ts'

let portal: TestPortal
let browser: Browser
// Mid-month, so that a few days later the monthly limit counts the same month.
const clock = manualClock(new Date('2027-03-10T03:00:00Z'))
/** What happens to the next call that charges a card. */
let befalls: 'nothing' | 'crash' | 'lost' | 'away' = 'nothing'
beforeAll(async () => {
  portal = await openTestPortal({
    clock,
    timing: { askGatewaySeconds: [3600] },
    changeDrivers(drivers) {
      const stripe = drivers.payments.get('stripe')
      if (stripe?.kind !== 'card') throw new Error('stripe links cards')
      // The network between us and Stripe, and a portal that is killed.
      const lossy: CardDriver = {
        ...stripe,
        async chargeOffSession(order, card) {
          if (befalls === 'crash') throw new Error('killed before the call')
          const update = await stripe.chargeOffSession(order, card)
          if (befalls !== 'nothing') throw new DriverFailure('unclear', 'stripe: no answer')
          return update
        },
        async lookUp(order, about) {
          if (befalls === 'away') throw new DriverFailure('unavailable', 'stripe: away')
          return await stripe.lookUp(order, about)
        },
      }
      return { ...drivers, payments: new Map([...drivers.payments, ['stripe', lossy]]) }
    },
  })
  browser = stripeBrowser(portal.sandboxUrl, portal.keysOf('stripe')['publishableKey'] ?? '')
})
afterAll(async () => {
  await portal.ledgerHolds()
  await portal.close()
})
const { link, balances, eventsGo } = cardsOf(
  () => portal,
  () => browser,
)
const { read, switchOn, charges, chargesBecome, jobsAreDone, run, sweep, inUsd } = autoTopUpsOf(
  () => portal,
)

test('a charge whose answer is lost is under way, and spent, until it is known', async () => {
  const an = await inUsd()
  const card = await link(an, testCards.visa)
  await eventsGo('late')
  befalls = 'away'
  await switchOn(an, card, { monthLimit: 1000 })
  await chargesBecome(an, ['1000 under_way'])
  await jobsAreDone()
  for (const later of [minutes(1), minutes(3), minutes(30), days(1)]) {
    clock.advance(later)
    await run(an)
    await sweep()
    expect(await charges(an)).toEqual(['1000 under_way'])
  }
  expect((await read(await portal.signIn(an))).spent).toBe(1000)
  befalls = 'nothing'
  await eventsGo('now')
  await chargesBecome(an, ['1000 succeeded'])
  await balances(await portal.signIn(an), 1000)
})

test('a portal that is killed before the call charges once afterwards', async () => {
  const an = await inUsd()
  const card = await link(an, testCards.visa)
  befalls = 'crash'
  await switchOn(an, card)
  await chargesBecome(an, ['1000 under_way'])
  await jobsAreDone()
  befalls = 'nothing'
  expect(await charges(an)).toEqual(['1000 under_way'])
  clock.advance(minutes(3))
  await Promise.all([run(an), run(an)])
  await chargesBecome(an, ['1000 succeeded'])
  await balances(an, 1000)
})

test('one that was never made is not made after a block, a dispute or a stop', async () => {
  const set = (an: { id: string }, to: { off_at: Date; off_reason: string }) =>
    portal.app.db.updateTable('auto_top_up').set(to).where('customer_id', '=', an.id).execute()
  const barred = [
    async (an: { id: string }) =>
      await portal.app.db
        .updateTable('customer')
        .set({ blocked_at: clock.now() })
        .where('id', '=', an.id)
        .execute(),
    (an: { id: string }) => set(an, { off_at: clock.now(), off_reason: 'disputed' }),
    ({ token }: { token: string }) => portal.call('DELETE', path, { token }),
  ]
  for (const bar of barred) {
    const an = await inUsd()
    const card = await link(an, testCards.visa)
    befalls = 'crash'
    await switchOn(an, card)
    await chargesBecome(an, ['1000 under_way'])
    await jobsAreDone()
    befalls = 'nothing'
    await bar(an)
    clock.advance(minutes(3))
    await run(an)
    expect(await charges(an)).toEqual(['1000 under_way'])
    clock.advance(minutes(62))
    await run(an)
    expect(await charges(an)).toEqual(['1000 not_charged'])
  }
})

test('one that was never made is not made once card, amount, consent or need changed', async () => {
  const changed = {
    'another card': async (an: TestCustomer) => await switchOn(an, await link(an, testCards.visa)),
    'another amount': (an: TestCustomer, card: string) => switchOn(an, card, { amount: 700 }),
    'set anew': async (an: TestCustomer, card: string) => {
      await portal.call('DELETE', path, { token: an.token })
      await switchOn(an, card)
    },
    // By hand, by another way than the card.
    'money that came': async (an: TestCustomer) =>
      await transaction(portal.app.db, (tx) =>
        portal.app.ledger.credit(tx, {
          key: randomUUID(),
          customerId: an.id,
          driver: 'stripe',
          amount: 2000n,
          currency: 'USD',
          details: {},
        }),
      ),
  }
  for (const [what, change] of Object.entries(changed)) {
    const an = await inUsd()
    const card = await link(an, testCards.visa)
    befalls = 'crash'
    await switchOn(an, card)
    await chargesBecome(an, ['1000 under_way'])
    await jobsAreDone()
    befalls = 'nothing'
    clock.advance(minutes(1))
    await change(an, card)
    clock.advance(minutes(3))
    await run(an)
    expect(await charges(an), what).toEqual(['1000 under_way'])
    clock.advance(minutes(62))
    await run(an)
    expect(await charges(an), what).toEqual(['1000 not_charged'])
  }
})

test('a charge that an older release settled is brought up by a later look', async () => {
  const an = await inUsd()
  await switchOn(an, await link(an, testCards.visa))
  await chargesBecome(an, ['1000 succeeded'])
  await portal.app.db
    .updateTable('auto_top_up_charge')
    .set({ state: 'under_way', lease_until: clock.now() })
    .where('customer_id', '=', an.id)
    .execute()
  clock.advance(minutes(1))
  await sweep()
  expect(await charges(an)).toEqual(['1000 succeeded'])
  await balances(an, 1000)
})

test('a gateway that never heard of the charge: nothing was spent, and it goes on', async () => {
  const an = await inUsd()
  const card = await link(an, testCards.visa)
  befalls = 'crash'
  await switchOn(an, card)
  await chargesBecome(an, ['1000 under_way'])
  await jobsAreDone()
  befalls = 'nothing'
  clock.advance(minutes(20))
  await run(an)
  expect(await charges(an)).toEqual(['1000 under_way'])
  clock.advance(minutes(45))
  await run(an)
  expect(await charges(an)).toEqual(['1000 not_charged'])
  await run(an)
  expect(await charges(an)).toEqual(['1000 not_charged', '1000 succeeded'])
})
