/**
 * The operator's own webhooks: what happens to every customer reaches the provider's programs once,
 * signed, also when no process was there to send it; what fails is sent again, and what was sent of
 * a customer goes with the account.
 */
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import type { ActOutcome } from '../../contract/operator-acts.ts'
import { operatorEventNames, type OperatorWebhook } from '../../contract/operator-webhooks.ts'
import type { Delivery } from '../../contract/webhooks.ts'
import { jobsIdle } from '../../test/idle-jobs.ts'
import { newcomersTo } from '../../test/newcomers.ts'
import { runCommand } from '../../test/operator.ts'
import { orderServer } from '../../test/ordered-servers.ts'
import { eventually, manualClock, type TestPortal } from '../../test/portal.ts'
import { newMember, type TestMember } from '../../test/staff.ts'
import {
  answersWith,
  isSignedBy,
  receiver,
  type TestReceiver,
} from '../../test/webhook-receiver.ts'
import { openWebhookPortal } from '../../test/webhook-world.ts'
import { accountsThatAre } from '../auth/index.ts'
import { days, seconds } from '../platform/clock.ts'
import { transaction } from '../platform/db.ts'
import { dropOfClosed } from './index.ts'

const clock = manualClock()
let portal: TestPortal
let owner: TestMember
let operations: TestMember
beforeAll(async () => {
  portal = await openWebhookPortal(clock)
  owner = await newMember(portal, 'owner', { clock })
  operations = await newMember(portal, 'operations', { clock })
})
const { active, signIn } = newcomersTo(() => portal)
const added: string[] = []
afterEach(async () => {
  for (const webhook of added.splice(0))
    await owner.act('outgoing_webhook.remove', { webhook, reason: 'the story is over' })
})
afterAll(() => portal.close())

const reason = 'the accounting program asks for it'
const add = async (url: string, events: readonly string[]) => {
  const made = await owner.act<ActOutcome>('outgoing_webhook.add', { url, events, reason })
  expect(made.status, made.text).toBe(200)
  const { after, secret = '' } = made.body.result
  const id = String(after?.['id'])
  added.push(id)
  return { id, secret }
}
const page = async (id: string) =>
  (
    await operations.call<{ webhook: OperatorWebhook; deliveries: Delivery[] }>(
      'GET',
      `/api/operator/outgoing-webhooks/${id}/deliveries`,
    )
  ).body.result
const settledAs = (id: string, delivery: string, state: Delivery['state']) =>
  eventually(`the delivery is ${state}`, async () =>
    (await page(id)).deliveries.find((one) => one.id === delivery && one.state === state),
  )
/** The look of each minute, now. */
const look = () =>
  transaction(portal.app.db, (tx) => portal.app.jobs.add(tx, 'find-due-webhooks', {}))
const tryOut = async (id: string): Promise<string> => {
  const { body } = await operations.act<ActOutcome>('outgoing_webhook.test', { webhook: id })
  return String(body.result.after?.['delivery'])
}
interface Told {
  readonly type: string
  readonly data: Readonly<Record<string, unknown>> & { readonly customer_id: string | null }
}
const told = ({ calls }: TestReceiver): Told[] => calls.map(({ body }) => JSON.parse(body) as Told)
const toldOf = (one: TestReceiver, type: string) => told(one).filter((each) => each.type === type)

/** A payment of 500 000 at payOS for which 100 000 came; answers its transaction code. */
async function paidAnotherAmount(token: string): Promise<string> {
  const body = { amount: 500_000, type: 2, method: 'VIETQR' }
  const begun = await portal.call<{ transactionCode: string }>('POST', '/api/payments/checkout', {
    token,
    body,
  })
  const code = begun.body.result.transactionCode
  const { reference } = await portal.app.db
    .selectFrom('payment')
    .select('reference')
    .where('code', '=', code)
    .executeTakeFirstOrThrow()
  const payos = portal.drivers.payments.get('payos')
  if (!payos) throw new Error('there is no payOS')
  await portal.app.topUps.settlement.settle(payos, {
    eventId: 'another-amount',
    reference,
    providerTransactionId: 'another-amount',
    status: 'succeeded',
    amount: 100_000n,
    currency: 'VND',
    occurredAt: null,
    detail: '',
  })
  return code
}

describe('what happens', () => {
  test('to a customer who registers, tops up and orders is told once each, signed', async () => {
    const [ours, strangers] = [await receiver(), await receiver()]
    const { id, secret } = await add(ours.url, operatorEventNames)
    const other = await portal.customer()
    await portal.call('POST', '/api/v1/account/webhooks', {
      token: other.token,
      body: { url: strangers.url, events: ['wallet.credited', 'invoice.paid', 'wordpress.status'] },
    })
    const person = await active()
    const an = { ...person, token: await signIn(person) }
    await portal.topUp(an, 1_000_000)
    const server = await orderServer(portal, an)
    const isTold = (type: string, of: string) =>
      eventually(`${type} is told`, async () =>
        toldOf(ours, type).find(({ data }) => JSON.stringify(data).includes(of)),
      )
    await isTold('customer.registered', `"customer":{"id":"${an.id}","region_code":"VN"}`)
    await isTold('wallet.credited', '1000000')
    await isTold('invoice.create', 'hosted_invoice_url')
    await isTold('invoice.paid', server.id)
    await isTold('wordpress.status', '"status":"running"')
    expect(told(ours).every(({ data }) => data.customer_id === an.id)).toBe(true)
    expect(ours.calls.every((call) => isSignedBy(secret, call))).toBe(true)
    // Each event is sent once, under an id of its own.
    const ids = ours.calls.map(({ headers }) => headers['webhook-id'])
    expect(new Set(ids).size).toBe(ids.length)
    expect(toldOf(ours, 'customer.registered')).toHaveLength(1)
    expect(toldOf(ours, 'wallet.credited')).toHaveLength(1)
    expect(toldOf(ours, 'invoice.paid')).toHaveLength(1)
    // A customer's address gets that customer's events only, and nobody else sees the operator's
    // addresses.
    expect(strangers.calls).toEqual([])
    const asked = `/api/v1/account/webhooks/${id}`
    for (const [method, path] of [
      ['GET', `${asked}/deliveries`],
      ['PUT', asked],
      ['DELETE', asked],
      ['POST', `${asked}/test`],
    ] as const) {
      const body = method === 'PUT' ? { enabled: false } : undefined
      expect((await portal.call(method, path, { token: an.token, body })).status).toBe(404)
    }
    const listed = await portal.call('GET', '/api/v1/account/webhooks', { token: an.token })
    expect(listed.body.result).toEqual([])
  })

  test('that is not sent to customers is told: tickets, requests, money, approvals', async () => {
    const ours = await receiver()
    await add(ours.url, operatorEventNames)
    const an = await portal.customer()
    const { token } = an
    const ticket = await portal.call<{ id: string }>('POST', '/api/tickets', {
      token,
      body: { subject: 'Slow pages', text: 'Since this morning' },
    })
    expect(ticket.status, ticket.text).toBe(201)
    const answer = `/api/tickets/${ticket.body.result.id}/messages`
    expect((await portal.call('POST', answer, { token, body: { text: 'Still' } })).status).toBe(201)
    const asked = await portal.call('POST', '/api/v1/account/data-requests', {
      token,
      body: { kind: 'erasure', text: 'Please erase the old address' },
    })
    expect(asked.status, asked.text).toBe(201)
    await fetch(`${portal.sandboxUrl}/bank/app`, {
      method: 'POST',
      body: new URLSearchParams({
        account: portal.keysOf('bank')['accountNumber'] ?? '',
        amount: '77000',
        content: 'tien thue web thang 11',
      }),
    })
    // The same for money that names a payment by its name at the gateway.
    const code = await paidAnotherAmount(token)
    const wish = { customer: an.id, currency: 'VND', told: 'Goodwill', reason }
    const proposed = await owner.act<ActOutcome>('money.credit', { ...wish, amount: 900_000_000 })
    const { proposal } = proposed.body.result
    await owner.call('POST', `/api/operator/proposals/${proposal}/reject`, { reason })
    await eventually('all is told', async () => toldOf(ours, 'proposal.decided').length > 0)
    expect(toldOf(ours, 'ticket.opened')[0]?.data).toMatchObject({
      customer_id: an.id,
      ticket: { subject: 'Slow pages', state: 'open' },
    })
    expect(toldOf(ours, 'ticket.customer_wrote')).toHaveLength(1)
    expect(toldOf(ours, 'data_request.received')[0]?.data).toMatchObject({
      customer_id: an.id,
      data_request: { kind: 'erasure' },
    })
    expect(toldOf(ours, 'proposal.made')[0]?.data).toMatchObject({
      customer_id: an.id,
      proposal: { id: proposal, act: 'money.credit' },
    })
    expect(toldOf(ours, 'proposal.decided')[0]?.data).toMatchObject({
      proposal: { id: proposal, approved: false },
    })
    const money = await eventually('the money is told', async () => {
      const all = toldOf(ours, 'payment.in_suspense').map(({ data }) => data)
      return all.length === 2 && all
    })
    expect(money).toContainEqual(
      expect.objectContaining({
        customer_id: null,
        suspense: expect.objectContaining({
          amount: 77_000,
          currency: 'VND',
          gateway: 'bank',
          transaction_code: null,
        }) as unknown,
      }),
    )
    expect(money).toContainEqual(
      expect.objectContaining({
        suspense: expect.objectContaining({ gateway: 'payos', transaction_code: code }) as unknown,
      }),
    )
    // The event names no person; the recipient finds them at the desk.
    expect(JSON.stringify(told(ours))).not.toContain(an.email)
  })

  test('is sent afterwards where everything ended between the commit and the call', async () => {
    const ours = await receiver()
    const { id, secret } = await add(ours.url, ['proposal.made'])
    const an = await portal.customer()
    const words = ['act', 'money.credit', '--customer', an.id, '--amount', '900000000']
    words.push('--currency', 'VND', '--told', 'Goodwill', '--reason', reason)
    await portal.reopen({ timing: { webhookSeconds: [0, 0, 0] } }, async () => {
      // A rolled-back act sends no event.
      expect((await runCommand(portal, {}, ...words, '--dry-run')).code).toBe(0)
      const done = await runCommand(portal, {}, ...words)
      expect([done.code, done.said]).toEqual([0, expect.stringContaining('proposal')])
      expect(ours.calls).toEqual([])
    })
    await eventually('the delivery is there', async () => (await page(id)).deliveries.length > 0)
    await look()
    const call = await eventually('it is told', async () => ours.calls[0])
    expect(isSignedBy(secret, call)).toBe(true)
    await settledAs(id, String(call.headers['webhook-id']), 'delivered')
    expect(ours.calls).toHaveLength(1)
  })
})

describe('a receiver that fails', () => {
  test('is called again, and what failed is sent once more, one or all of it', async () => {
    const ours = await receiver()
    const { id } = await add(ours.url, ['wallet.credited'])
    ours.answer = (call, response) =>
      answersWith(ours.calls.length < 3 ? 503 : 200, 'not now')(call, response)
    const first = await settledAs(id, await tryOut(id), 'delivered')
    expect(first.attempts.map(({ status }) => status)).toEqual([503, 503, 200])
    ours.answer = answersWith(500, 'broken')
    const failed = await Promise.all([tryOut(id), tryOut(id), tryOut(id)])
    for (const one of failed) await settledAs(id, one, 'failed')
    ours.calls.length = 0
    ours.answer = answersWith(200)
    const [one, ...others] = failed
    const again = { webhook: id, delivery: one }
    expect((await operations.act('outgoing_webhook.resend', again)).status).toBe(200)
    await settledAs(id, one, 'delivered')
    const since = clock.now().toISOString()
    const all = await operations.act<ActOutcome>('outgoing_webhook.resend_failed', {
      webhook: id,
      since,
      reason,
    })
    expect(all.body.result.after).toMatchObject({ sent: 2, isMore: false })
    for (const each of others) await settledAs(id, each, 'delivered')
    expect(ours.calls).toHaveLength(3)
    expect(new Set(ours.calls.map(({ headers }) => headers['webhook-id']))).toEqual(new Set(failed))
    // Deliveries that failed before the moment stay failed.
    const later = new Date(clock.now().getTime() + 1).toISOString()
    const none = { webhook: id, since: later, reason }
    const nothing = await operations.act<ActOutcome>('outgoing_webhook.resend_failed', none)
    expect(nothing.body.result.after).toMatchObject({ sent: 0 })
  })

  test('by its silence is left alone for half a minute, and told all after it', async () => {
    const ours = await receiver()
    ours.answer = () => undefined
    const { id } = await add(ours.url, ['wallet.credited'])
    const waiting = [await tryOut(id), await tryOut(id), await tryOut(id)]
    const called = await eventually('the call is over', async () =>
      (await page(id)).deliveries.find(({ attempts }) => attempts.length > 0),
    )
    expect(called.attempts).toMatchObject([{ status: null, error: 'timeout' }])
    ours.answer = answersWith(200)
    await look()
    await jobsIdle(portal.app.db)
    expect(ours.calls).toHaveLength(1)
    const until = clock.now().getTime() + seconds(30)
    for (const { nextAt } of (await page(id)).deliveries)
      expect(Date.parse(nextAt ?? '')).toBe(until)
    clock.advance(seconds(30))
    await look()
    for (const one of waiting) await settledAs(id, one, 'delivered')
    expect(ours.calls).toHaveLength(4)
  }, 60_000)

  test('is switched off after five days, and who may act is written to', async () => {
    const ours = await receiver()
    ours.answer = answersWith(500)
    const { id } = await add(ours.url, ['wallet.credited'])
    await settledAs(id, await tryOut(id), 'failed')
    clock.advance(days(5))
    // Sessions at the desk have ended meanwhile.
    owner = await newMember(portal, 'owner', { clock })
    operations = await newMember(portal, 'operations', { clock })
    await settledAs(id, await tryOut(id), 'failed')
    expect((await page(id)).webhook.disabled?.reason).toBe('failing')
    for (const { email } of [owner, operations])
      await eventually('the letter is there', async () =>
        (await portal.inbox(email)).some(
          ({ text }) => text.includes(ours.url) && text.includes(`/operator/outgoing/${id}`),
        ),
      )
    ours.answer = answersWith(200)
    const refused = await operations.act('outgoing_webhook.test', { webhook: id })
    expect(refused.status).toBe(409)
    const on = await operations.act('outgoing_webhook.resume', { webhook: id, reason })
    expect(on.status).toBe(200)
    await settledAs(id, await tryOut(id), 'delivered')
    await operations.act('outgoing_webhook.pause', { webhook: id, reason })
    expect((await page(id)).webhook.disabled?.reason).toBe('owner')
  })
})

describe('an address', () => {
  test.each([
    'https://10.0.0.1/hook',
    'https://169.254.169.254/latest/meta-data',
    'https://[::1]/hook',
    'https://192.168.1.1/',
    'https://localhost/hook',
    'https://user:secret@hooks.example/',
    'ftp://hooks.example/',
  ])('%s is refused', async (url) => {
    const events = ['wallet.credited']
    const answer = await owner.act('outgoing_webhook.add', { url, events, reason })
    expect([answer.status, Object.keys(answer.body.error?.fields ?? {})]).toEqual([422, ['url']])
    const word = ['act', 'outgoing_webhook.add', '--url', url, '--events', 'wallet.credited']
    if (url.startsWith('https://10.'))
      expect((await runCommand(portal, {}, ...word, '--reason', reason)).code).toBe(1)
  })

  test('is added by an owner, whose secret is told once; every owner hears of it', async () => {
    const [ours, others] = [await receiver(), await receiver()]
    const key = `added-${process.pid}-once`
    const body = { url: ours.url, events: ['wallet.credited'], reason, key }
    const made = await owner.act<ActOutcome>('outgoing_webhook.add', body)
    const { after, secret = '' } = made.body.result
    const id = String(after?.['id'])
    added.push(id)
    expect(secret).toMatch(/^whsec_/)
    const repeat = await owner.act<ActOutcome>('outgoing_webhook.add', body)
    expect(repeat.body.result).toMatchObject({ repeated: true, after: { id } })
    expect(repeat.text).not.toContain(secret)
    expect((await operations.act('outgoing_webhook.add', body)).status).toBe(403)
    await eventually('the letter is there', async () =>
      (await portal.inbox(owner.email)).some(({ text }) => text.includes(ours.url)),
    )
    const changed = await owner.act<ActOutcome>('outgoing_webhook.change', {
      webhook: id,
      url: others.url,
      reason,
    })
    expect(changed.body.result.after).toMatchObject({
      url: others.url,
      events: ['wallet.credited'],
    })
    const renewed = await owner.act<ActOutcome>('outgoing_webhook.renew_secret', {
      webhook: id,
      reason,
    })
    const { secret: newer = '' } = renewed.body.result
    await settledAs(id, await tryOut(id), 'delivered')
    const [call] = others.calls
    expect([secret, newer].map((by) => call && isSignedBy(by, call))).toEqual([true, true])
    // Neither the trail nor a list contains a secret.
    const trail = await owner.call('GET', '/api/operator/trail')
    const list = await owner.call('GET', '/api/operator/outgoing-webhooks')
    for (const text of [trail.text, list.text])
      expect([secret, newer].some((one) => text.includes(one))).toBe(false)
    expect(trail.text).toContain('outgoing_webhook.renew_secret')
  })

  test('is added by a command, which tells the secret and tries it before', async () => {
    const word = ['act', 'outgoing_webhook.add', '--url', 'https://hooks.example/portal']
    word.push('--events', 'wallet.credited,dispute.opened', '--reason', reason, '--json')
    const count = async () =>
      (await owner.call<unknown[]>('GET', '/api/operator/outgoing-webhooks')).body.result.length
    const before = await count()
    const tried = await runCommand(portal, {}, ...word, '--dry-run')
    expect([tried.code, await count()]).toEqual([0, before])
    expect(tried.said).not.toContain('whsec_')
    const done = await runCommand(portal, {}, ...word)
    expect([done.code, await count()]).toEqual([0, before + 1])
    const { secret, after } = JSON.parse(done.said) as { secret: string; after: { id: string } }
    expect(secret).toMatch(/^whsec_/)
    added.push(after.id)
  })
})

test('what was told of a customer goes with the account; that it is closed is told', async () => {
  const ours = await receiver()
  const { id } = await add(ours.url, operatorEventNames)
  const [an, other] = [await portal.customer(), await portal.customer()]
  for (const { token } of [an, other])
    await portal.call('POST', '/api/tickets', {
      token,
      body: { subject: 'Moving away', text: 'Soon' },
    })
  await eventually('both are told', async () => toldOf(ours, 'ticket.opened').length === 2)
  await eventually('all is over', async () =>
    (await page(id)).deliveries.every(({ state }) => state === 'delivered'),
  )
  const closed = await portal.call('POST', '/api/v1/account/close', {
    token: an.token,
    body: { password: an.password },
  })
  expect(closed.status, closed.text).toBe(200)
  await eventually('it is told', async () => toldOf(ours, 'customer.closed').length === 1)
  expect(toldOf(ours, 'customer.closed')[0]?.data).toEqual({ customer_id: an.id })
  const events = async (of: string) =>
    (await page(id)).deliveries.filter(({ body }) => body.includes(of)).map(({ event }) => event)
  expect(await events(an.id)).toEqual(['customer.closed'])
  expect(await events(other.id)).toEqual(['ticket.opened'])
})

test('what waits when an account is closed is sent, and goes when it is over', async () => {
  const ours = await receiver()
  // It answers when the test lets it.
  let letAnswer = (): void => undefined
  ours.answer = (call, response) => (letAnswer = () => answersWith(200)(call, response))
  const { id } = await add(ours.url, ['ticket.opened'])
  const an = await portal.customer()
  await portal.call('POST', '/api/tickets', {
    token: an.token,
    body: { subject: 'Moving away', text: 'Now' },
  })
  await eventually('it is called', async () => ours.calls.length === 1)
  await portal.call('POST', '/api/v1/account/close', {
    token: an.token,
    body: { password: an.password },
  })
  const tidy = () => dropOfClosed(portal.app.db, accountsThatAre(portal.app.db, 'closed'))
  await tidy()
  const [waits] = (await page(id)).deliveries
  expect(waits?.state).toBe('waiting')
  letAnswer()
  await settledAs(id, waits?.id ?? '', 'delivered')
  await tidy()
  expect((await page(id)).deliveries).toEqual([])
})
