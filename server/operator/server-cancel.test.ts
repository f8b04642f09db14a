/**
 * The operator cancels a server: it is deleted, the unused part is credited to the wallet, and the
 * owner is told.
 */
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { ActOutcome } from '../../contract/operator-acts.ts'
import { deskOf, reason } from '../../test/desk.ts'
import { runCommand } from '../../test/operator.ts'
import { orderServer, smallestOrder } from '../../test/ordered-servers.ts'
import {
  eventually,
  manualClock,
  openTestPortal,
  type TestCustomer,
  type TestPortal,
} from '../../test/portal.ts'
import { newMember, type TestMember } from '../../test/staff.ts'
import { balancesAt } from '../../test/wallets.ts'
import { days } from '../platform/clock.ts'

const clock = manualClock(new Date())
let portal: TestPortal
let operations: TestMember
beforeAll(async () => {
  portal = await openTestPortal({ clock })
})
afterAll(() => portal.close())

const balanceOf = balancesAt(() => portal)
const { storyOf } = deskOf(() => operations)
const told = 'It sends spam'
const invoicesOf = (customer: TestCustomer) =>
  portal.app.db
    .selectFrom('invoice')
    .select(['kind', 'total', 'status'])
    .where('customer_id', '=', customer.id)
    .orderBy('seq')
    .execute()

// The shell has the wall's clock: the portal's has not moved yet.
test('of much money waits for a second member; the shell does the same', async () => {
  operations = await newMember(portal, 'operations', { clock })
  const an = await portal.customer()
  await portal.topUp(an, 200_000_000)
  const { id } = await orderServer(portal, an, { size: 5, replicate: 8 })
  const before = await balanceOf(an)
  const said = ['--server', id, '--told', told, '--reason', reason, '--json']
  const tried = await runCommand(portal, {}, 'act', 'server.cancel', ...said, '--dry-run')
  expect(JSON.parse(tried.said)).toMatchObject({ state: 'proposed', dryRun: true })
  const asked = await runCommand(portal, {}, 'act', 'server.cancel', ...said)
  const { proposal } = JSON.parse(asked.said) as { proposal: string }
  expect(await balanceOf(an)).toBe(before)
  const path = `/api/operator/proposals/${proposal}`
  const foreseen = await operations.call<ActOutcome>('GET', `${path}/preview`)
  expect(foreseen.body.result.after).toMatchObject({ state: 'deleting', currency: 'VND' })
  expect(await balanceOf(an)).toBe(before)
  expect((await operations.call('POST', `${path}/approve`)).status).toBe(200)
  const back = (await balanceOf(an)) - before
  expect(back).toBeGreaterThan(5_000_000n)
  const [act] = (await storyOf(an.id)).acts
  expect(act).toMatchObject({ act: 'server.cancel', approvedBy: operations.name })
  expect(act?.after?.['amount']).toBe(Number(back))
  await portal.ledgerHolds()

  const small = await orderServer(portal, an)
  const done = await runCommand(
    portal,
    {},
    'act',
    'server.cancel',
    ...said.map((word) => (word === id ? small.id : word)),
  )
  expect([done.code, JSON.parse(done.said)]).toEqual([
    0,
    expect.objectContaining({ state: 'done' }),
  ])
  const credits = (await invoicesOf(an)).filter(({ kind }) => kind === 'credit')
  expect(credits).toHaveLength(2)
  await portal.ledgerHolds()
})

test('once: the unused rest comes back with a credit note, and a letter says why', async () => {
  const an = await portal.customer()
  await portal.topUp(an, 1_000_000)
  const { id } = await orderServer(portal, an)
  clock.advance(days(10))
  operations = await newMember(portal, 'operations', { clock })
  const support = await newMember(portal, 'support', { clock })
  const wish = { server: id, told, reason }
  expect((await support.act('server.cancel', wish)).status).toBe(403)
  expect((await operations.act('server.cancel', { server: id, told })).status).toBe(422)
  const both = await Promise.all([
    operations.act<ActOutcome>('server.cancel', { ...wish, key: 'ticket-4711' }),
    operations.act<ActOutcome>('server.cancel', { ...wish, key: 'ticket-4711' }),
  ])
  expect(both.filter(({ body }) => body.result.repeated)).toHaveLength(1)
  const { after } = both[0].body.result
  const amount = Number(after?.['amount'])
  // About twenty of about thirty days.
  expect(amount / 218_000).toBeGreaterThan(0.6)
  expect(amount / 218_000).toBeLessThan(0.72)
  expect(after).toMatchObject({ state: 'deleting', told, currency: 'VND' })
  expect(await balanceOf(an)).toBe(1_000_000n - 218_000n + BigInt(amount))
  expect(await invoicesOf(an)).toEqual([
    { kind: 'order', total: 218_000n, status: 'paid' },
    { kind: 'credit', total: BigInt(-amount), status: expect.any(String) },
  ])
  // A further act on it is refused, with a sentence.
  const again = await operations.act('server.cancel', wish)
  expect([404, 409]).toContain(again.status)
  await eventually('it is gone', async () =>
    (await storyOf(an.id)).servers.every(
      (server) => server.id !== id || server.status !== 'running',
    ),
  )
  const letter = await eventually('the letter', async () =>
    (await portal.inbox(an.email)).find(({ text }) => text.includes(told)),
  )
  expect(letter.text).toContain(new Intl.NumberFormat('vi').format(amount))
  expect((await storyOf(an.id)).acts[0]).toMatchObject({ act: 'server.cancel', reason })
  await portal.ledgerHolds()
})

test('that was not delivered is none; one that is not there neither', async () => {
  operations = await newMember(portal, 'operations', { clock })
  const an = await portal.customer()
  const placed = await portal.call<{ id: string }>('POST', '/api/wp', {
    token: an.token,
    body: smallestOrder,
  })
  const wish = { server: placed.body.result.id, told, reason }
  const refused = await operations.act('server.cancel', wish)
  expect([refused.status, refused.body.error?.fields?.['server']]).toEqual([
    409,
    expect.stringContaining('give up its order'),
  ])
  expect((await operations.act('server.cancel', { ...wish, server: an.id })).status).toBe(404)
})
