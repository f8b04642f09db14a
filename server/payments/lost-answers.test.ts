/**
 * A provider acts, and its answer is lost: the customer is not told to pay again, and later steps
 * find the payment.
 */
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { ActOutcome } from '../../contract/operator-acts.ts'
import {
  eventually,
  openTestPortal,
  type TestCustomer,
  type TestPortal,
} from '../../test/portal.ts'
import { newMember } from '../../test/staff.ts'
import { DriverFailure } from '../platform/errors.ts'
import type { TokenDriver } from './driver.ts'

let portal: TestPortal
let trouble: DriverFailure | undefined
beforeAll(async () => {
  portal = await openTestPortal({
    timing: { askGatewaySeconds: [3600] },
    changeDrivers(drivers) {
      const square = drivers.payments.get('square')
      if (square?.kind !== 'token') throw new Error('square charges tokens')
      // The network between us and Square: the charge is made, and its answer is lost when the test
      // says so.
      const lossy: TokenDriver = {
        ...square,
        async charge(order, source) {
          const answer = await square.charge(order, source)
          if (trouble) throw trouble
          return answer
        },
      }
      return { ...drivers, payments: new Map([...drivers.payments, ['square', lossy]]) }
    },
  })
})
afterAll(() => portal.close())

/** The token of a view of the customer by support. */
async function viewOf(an: TestCustomer): Promise<string> {
  const support = await newMember(portal, 'support')
  const reason = 'asked for by phone, ticket 4711'
  const seen = await support.act<ActOutcome>('customer.see', { customer: an.id, reason })
  const ticket = new URL(seen.body.result.link ?? '').hash.slice(1)
  const view = await support.call<{ token: string }>('POST', '/api/operator/view', { ticket })
  expect(view.status, view.text).toBe(200)
  return view.body.result.token
}

const charge = ({ token }: TestCustomer, source = 'cnon:card-nonce-ok') =>
  portal.call<{ transactionCode: string; status: string }>(
    'POST',
    '/api/payments/square/checkout',
    {
      token,
      body: { amount: 2000, locationId: portal.keysOf('square')['locationId'], source_id: source },
    },
  )
const balanceIs = ({ token }: TestCustomer, expected: number) =>
  eventually(
    `a balance of ${expected}`,
    async () =>
      (await portal.call<{ balance: number }>('GET', '/api/v1/auth/me', { token })).body.result
        .balance === expected,
  )

test('the customer is told it is pending, the word credits it, a dispute finds it', async () => {
  const an = await portal.customer({ region: 'AUD' })
  trouble = new DriverFailure('unclear', 'square: the answer is lost')
  const begun = await charge(an)
  trouble = undefined
  expect([begun.status, begun.body.result.status]).toEqual([200, 'pending'])
  await balanceIs(an, 2000)
  const { provider_transaction_id: movement } = await portal.app.db
    .selectFrom('payment')
    .select('provider_transaction_id')
    .where('code', '=', begun.body.result.transactionCode)
    .executeTakeFirstOrThrow()
  await fetch(`${portal.sandboxUrl}/square/dashboard`, {
    method: 'POST',
    redirect: 'manual',
    body: new URLSearchParams({ action: 'dispute', payment: movement ?? '' }),
  })
  await balanceIs(an, 0)
  await portal.ledgerHolds()
})

test('a plain no is told as one, and the payment is failed', async () => {
  const an = await portal.customer({ region: 'AUD' })
  trouble = new DriverFailure('rejected', 'square: no such token')
  const refused = await charge(an)
  trouble = undefined
  expect([refused.status, refused.body.error?.code]).toEqual([422, 'payment_refused'])
})

test('somebody who tries card after card is stopped', async () => {
  const an = await portal.customer({ region: 'AUD' })
  const tries: number[] = []
  for (let n = 0; n < 12; n++) tries.push((await charge(an, 'cnon:card-nonce-declined')).status)
  expect(tries).toEqual([...Array<number>(10).fill(200), 429, 429])
  expect((await charge(await portal.customer({ region: 'AUD' }))).status).toBe(200)
})

test('who comes back from a payment that was cancelled there is told so at once', async () => {
  const an = await portal.customer()
  const wish = { amount: 500_000, type: 2, method: 'VIETQR' } as const
  const { transactionCode } = await portal.topUpBy(an, wish, 'cancelled')
  const status = async (ask = '', of = transactionCode, { token } = an) =>
    (
      await portal.call<{ status: string }>(
        'GET',
        `/api/payments/get-transaction?transactionCode=${of}${ask}`,
        { token },
      )
    ).body.result.status
  // A member of the staff who sees the page as the customer does changes nothing by it.
  const other = await portal.topUpBy(an, wish, 'cancelled')
  const view = { ...an, token: await viewOf(an) }
  expect(await status('&ask=now', other.transactionCode, view)).toBe('pending')
  // payOS sends no webhook here, and the scheduled query comes only in an hour.
  expect(await status()).toBe('pending')
  await eventually('the end', async () => (await status('&ask=now')) === 'failed', 9)
  expect(await status('', other.transactionCode)).toBe('pending')
})
