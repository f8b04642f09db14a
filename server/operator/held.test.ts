/** A server that the operator suspends by hand: what its owner reads, and what a payment does. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Server } from '../../contract/wordpress.ts'
import { reason } from '../../test/desk.ts'
import { jobsIdle } from '../../test/idle-jobs.ts'
import { orderServer } from '../../test/ordered-servers.ts'
import {
  eventually,
  manualClock,
  openTestPortal,
  type TestCustomer,
  type TestPortal,
} from '../../test/portal.ts'
import { newMember } from '../../test/staff.ts'
import { days } from '../platform/clock.ts'

const clock = manualClock(new Date())
let portal: TestPortal
beforeAll(async () => {
  portal = await openTestPortal({ clock })
})
afterAll(() => portal.close())

const told = 'A page imitates a bank'

/** Signs in again, because sessions end while the clock is moved. */
async function signedIn(customer: TestCustomer): Promise<TestCustomer> {
  const { email, password } = customer
  const { body } = await portal.call<{ token: { accessToken: string } }>(
    'POST',
    '/api/v1/auth/login',
    { body: { email, password } },
  )
  return { ...customer, token: body.result.token.accessToken }
}
async function serverOf(customer: TestCustomer, id: string): Promise<Server> {
  const { token } = await signedIn(customer)
  return (await portal.call<Server>('GET', `/api/wp/${id}`, { token })).body.result
}
const letterWith = (customer: TestCustomer, ...words: readonly string[]) =>
  eventually(`a letter with ${words.join(', ')}`, async () =>
    (await portal.inbox(customer.email)).find(({ text }) =>
      words.every((word) => text.includes(word)),
    ),
  )

test('its owner reads why, also while it is unpaid, until it is released', async () => {
  const an = await portal.customer()
  await portal.topUp(an, 218_000)
  const { id } = await orderServer(portal, an)
  expect((await serverOf(an, id)).held).toBeNull()
  clock.advance(days(20))
  const since = clock.now().toISOString()
  const operations = await newMember(portal, 'operations', { clock })
  const held = await operations.act('work.hold_server', { server: id, told, reason })
  expect(held.status).toBe(200)
  expect((await serverOf(an, id)).held).toEqual({ since, reason: told })
  // Nobody takes letters here: an answer to this one would reach nobody.
  const letter = await letterWith(an, told, `/support?about=server.${id}`)
  expect(letter.text).not.toContain('trả lời thư')

  // Unpaid as well: no letter promises that a payment brings it back.
  for (const count of [11, 3, 4, 20]) {
    clock.advance(days(count))
    await portal.app.bills.sweep()
  }
  const stays = 'chỉ hoạt động lại khi được chúng tôi mở lại'
  await letterWith(an, 'chưa được trả', stays)
  await letterWith(an, 'được giữ đến ngày', stays)
  await letterWith(an, 'vẫn chưa được thanh toán', stays)
  const promises = (await portal.inbox(an.email)).filter(({ text }) =>
    /sẽ tự hoạt động lại|bị tạm ngưng ngày/.test(text),
  )
  expect(promises).toEqual([])

  await portal.topUp(await signedIn(an), 218_000)
  await jobsIdle(portal.app.db)
  expect(await serverOf(an, id)).toMatchObject({
    status: 'suspended',
    held: { since, reason: told },
    invoice: { status: 'paid' },
  })
  const again = await newMember(portal, 'operations', { clock })
  const released = await again.act('work.release_server', { server: id, reason })
  expect(released.status).toBe(200)
  await eventually('it runs', async () => (await serverOf(an, id)).status === 'running')
  expect((await serverOf(an, id)).held).toBeNull()
})
