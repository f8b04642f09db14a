/** Outgoing webhooks: a customer's events reach the customer's addresses, signed. */
import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Webhook } from '../../contract/webhooks.ts'
import { eventually, manualClock, type TestCustomer, type TestPortal } from '../../test/portal.ts'
import {
  answersWith,
  isSignedBy,
  receiver,
  type TestReceiver,
} from '../../test/webhook-receiver.ts'
import { openWebhookPortal, webhooksOf, type Made } from '../../test/webhook-world.ts'
import { createAccountActs } from '../auth/index.ts'
import { createEndPrograms } from '../customer-programs.ts'
import { endTeam } from '../customer-team.ts'
import { days, hours, seconds } from '../platform/clock.ts'
import { transaction } from '../platform/db.ts'
import { createEventOutbox } from '../realtime/index.ts'
import { dropOldDeliveries } from './index.ts'
import { signedHeaders } from './signature.ts'

const clock = manualClock()
let portal: TestPortal
beforeAll(async () => {
  portal = await openWebhookPortal(clock)
})
afterAll(() => portal.close())

const { webhooks, addressOf, page, tryOut, settledAs, travel } = webhooksOf(() => portal, clock)

test('a call is signed as the specification’s own example is', () => {
  // From the libraries of Standard Webhooks.
  expect(
    signedHeaders(['whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'], {
      id: 'msg_p5jXN8AQM9LWM0D4loKWxJek',
      at: new Date(1_614_265_330_000),
      body: '{"test": 2432232314}',
    }),
  ).toEqual({
    'webhook-id': 'msg_p5jXN8AQM9LWM0D4loKWxJek',
    'webhook-timestamp': '1614265330',
    'webhook-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
  })
})

describe('what happens', () => {
  test('is told to whoever wants to know it, signed, and is on the page', async () => {
    const [an, other] = [await portal.customer(), await portal.customer()]
    const [wants, wantsElse, stranger] = [await receiver(), await receiver(), await receiver()]
    wants.answer = answersWith(200, 'thank you, noted')
    const { id, secret } = await addressOf(an, wants.url)
    await addressOf(an, wantsElse.url, ['dns.status'])
    await addressOf(other, stranger.url)
    await portal.topUp(an, 250_000)
    const [call] = await eventually('it is told', async () => wants.calls.length > 0 && wants.calls)
    expect(call && isSignedBy(secret, call)).toBe(true)
    const told = JSON.parse(call?.body ?? '') as { type: string; data: object; timestamp: string }
    expect(told.type).toBe('wallet.credited')
    expect(told.timestamp).toBe(clock.now().toISOString())
    expect(JSON.stringify(told.data)).toContain('250000')
    const delivery = String(call?.headers['webhook-id'])
    const shown = await settledAs(an, id, delivery, 'delivered')
    expect(shown).toMatchObject({
      event: 'wallet.credited',
      body: call?.body,
      answer: 'thank you, noted',
      attempts: [{ status: 200, error: null }],
      nextAt: null,
    })
    expect([wantsElse.calls.length, stranger.calls.length]).toEqual([0, 0])
    // Neither the page nor a delivery is visible to another customer.
    expect((await webhooks(other, 'GET', `/${id}/deliveries`)).status).toBe(404)
    const replay = `/${id}/deliveries/${delivery}/replay`
    expect((await webhooks(other, 'POST', replay)).status).toBe(404)
  })

  test('is told once to each of two addresses, an invoice with its link', async () => {
    const an = await portal.customer()
    const [one, two] = [await receiver(), await receiver()]
    await addressOf(an, one.url, ['invoice.create'])
    await addressOf(an, two.url, ['invoice.create', 'wordpress.status'])
    const placed = await portal.call('POST', '/api/wp', {
      token: an.token,
      body: {
        size: 1,
        region: 1,
        disk: 10_240,
        mariadb_disk_size: 10_240,
        user: 'an',
        password: 'Mat-khau-9!',
        replicate: 1,
      },
    })
    expect(placed.status, placed.text).toBe(201)
    const invoices = ({ calls }: TestReceiver) =>
      calls.filter(({ body }) => body.includes('"invoice.create"'))
    await eventually('both are told', async () => invoices(one).length + invoices(two).length === 2)
    expect(invoices(one)[0]?.body).toMatch(/"hosted_invoice_url":"http[^"]+\/invoice\/hosted\//)
    expect(one.calls.every(({ body }) => body.includes('"invoice.create"'))).toBe(true)
    expect(invoices(one)[0]?.headers['webhook-id']).not.toBe(
      invoices(two)[0]?.headers['webhook-id'],
    )
  })
})

describe('many events', () => {
  /** As a command writes them: no process gets a notice. */
  const publish = (who: TestCustomer, count: number) =>
    transaction(portal.app.db, (tx) =>
      createEventOutbox(clock, () => undefined).publishEvents(
        tx,
        Array.from({ length: count }, (_, place) => ({
          customerId: who.id,
          event: 'dns.status' as const,
          payload: { domain: { id: String(place), name: 'a.vn', status: 'active' } },
        })),
      ),
    )

  test('that another process wrote are told once each, one call at a time', async () => {
    const an = await portal.customer()
    const one = await receiver()
    const { id } = await addressOf(an, one.url, ['dns.status'])
    let [now, most] = [0, 0]
    one.answer = (call, response) => {
      now += 1
      most = Math.max(most, now)
      setImmediate(() => {
        now -= 1
        answersWith(200)(call, response)
      })
    }
    await publish(an, 120)
    await eventually('all are told', async () => one.calls.length >= 120, 40)
    const places = one.calls.map(({ body }) => Number(/"id":"(\d+)"/.exec(body)?.[1]))
    expect(places).toEqual(Array.from({ length: 120 }, (_, place) => place))
    expect(most).toBe(1)
    await eventually('all are over', async () => {
      const { rows } = await sql<{ n: bigint }>`select count(*) as n from webhook_delivery
        where endpoint_id = ${id} and state = 'delivered'`.execute(portal.app.db)
      return rows[0]?.n === 120n
    })
  }, 90_000)

  test('of a process that went away in the middle are found by the next look', async () => {
    const an = await portal.customer()
    const one = await receiver()
    const { id } = await addressOf(an, one.url)
    const claimedUntil = (when: string) =>
      sql`update webhook_endpoint set claimed_until = now() + ${when}::interval
        where id = ${id}`.execute(portal.app.db)
    // Somebody has claimed it, and is gone: the job of this test does nothing.
    await claimedUntil('1 hour')
    const delivery = await tryOut(an, id)
    const look = () =>
      transaction(portal.app.db, (tx) => portal.app.jobs.add(tx, 'find-due-webhooks', {}))
    await look()
    await eventually('both jobs are done', async () => {
      const { rows } = await sql`select from pgboss.job
        where name in ('find-due-webhooks', 'send-webhooks')
          and state in ('created', 'active')`.execute(portal.app.db)
      return rows.length === 0
    })
    expect(one.calls).toEqual([])
    await claimedUntil('-1 second')
    await look()
    await settledAs(an, id, delivery, 'delivered')
    expect(one.calls).toHaveLength(1)
  })
})

describe('the secret', () => {
  test('is changed with a day in which both sign, and is told once each', async () => {
    let an = await portal.customer()
    const one = await receiver()
    const { id, secret } = await addressOf(an, one.url)
    const rotated = await webhooks<Made>(an, 'POST', `/${id}/secret`)
    const { secret: newer, webhook } = rotated.body.result
    expect(webhook.earlierSecretUntil).not.toBeNull()
    expect(newer).not.toBe(secret)
    // Neither of the two ends before its time.
    const third = await webhooks(an, 'POST', `/${id}/secret`)
    expect([third.status, third.body.error?.code]).toEqual([409, 'conflict'])
    await settledAs(an, id, await tryOut(an, id), 'delivered')
    expect([secret, newer].map((by) => isSignedBy(by, one.calls[0]!))).toEqual([true, true])
    an = await travel(an, hours(24))
    await settledAs(an, id, await tryOut(an, id), 'delivered')
    expect([secret, newer].map((by) => isSignedBy(by, one.calls[1]!))).toEqual([false, true])
    const listed = await webhooks<Webhook[]>(an, 'GET')
    expect(listed.text).not.toContain(newer)
    const { secret: sealed } = await portal.app.db
      .selectFrom('webhook_endpoint')
      .select('secret')
      .where('id', '=', id)
      .executeTakeFirstOrThrow()
    expect(sealed.toString('latin1')).not.toContain(newer)
  })
})

describe('addresses', () => {
  test('are changed, switched off and deleted; ten are the most', async () => {
    const an = await portal.customer()
    const [one, two] = [await receiver(), await receiver()]
    const { id } = await addressOf(an, one.url)
    const changed = await webhooks<Webhook>(an, 'PUT', `/${id}`, { url: two.url })
    expect(changed.body.result).toMatchObject({ url: two.url, events: ['wallet.credited'] })
    await settledAs(an, id, await tryOut(an, id), 'delivered')
    expect([one.calls.length, two.calls.length]).toEqual([0, 1])
    // An intruder at an open session could receive all events.
    const told = await eventually('two letters', async () => {
      const letters = (await portal.inbox(an.email)).map(({ text }) => text)
      const found = letters.filter((text) => text.includes('địa chỉ webhook mới'))
      return found.length === 2 && found.join()
    })
    for (const { url } of [one, two]) expect(told).toContain(url)
    const off = await webhooks<Webhook>(an, 'PUT', `/${id}`, { enabled: false })
    expect(off.body.result.disabled?.reason).toBe('owner')
    expect((await webhooks(an, 'DELETE', `/${id}`)).status).toBe(200)
    expect((await webhooks(an, 'GET', `/${id}/deliveries`)).status).toBe(404)
    expect((await webhooks(an, 'POST', '', { url: one.url, events: [] })).status).toBe(422)
    expect((await webhooks(an, 'POST', '', { url: one.url, events: ['nothing'] })).status).toBe(422)
    for (let n = 0; n < 10; n++) await addressOf(an, one.url)
    const tooMany = await webhooks(an, 'POST', '', { url: one.url, events: ['dns.status'] })
    expect([tooMany.status, tooMany.body.error?.code]).toEqual([409, 'conflict'])
  })

  test('of a customer who is blocked are called no more', async () => {
    const an = await portal.customer()
    const one = await receiver()
    const { id } = await addressOf(an, one.url)
    const acts = createAccountActs({
      clock,
      endLive: async () => undefined,
      endPrograms: createEndPrograms(clock),
      endTeam,
    })
    await transaction(portal.app.db, (tx) => acts.block(tx, an.id))
    const row = await portal.app.db
      .selectFrom('webhook_endpoint')
      .select('disabled_reason')
      .where('id', '=', id)
      .executeTakeFirstOrThrow()
    expect(row.disabled_reason).toBe('safety')
  })

  test('have their deliveries kept for thirty days', async () => {
    let an = await portal.customer()
    const one = await receiver()
    const { id } = await addressOf(an, one.url)
    await settledAs(an, id, await tryOut(an, id), 'delivered')
    an = await travel(an, days(30))
    await dropOldDeliveries(portal.app.db, clock)
    expect((await page(an, id)).deliveries).toHaveLength(1)
    clock.advance(seconds(1))
    await dropOldDeliveries(portal.app.db, clock)
    expect((await page(an, id)).deliveries).toEqual([])
  })
})
