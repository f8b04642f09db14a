/**
 * One suite for every payment driver, against its gateway's stand-in. A new driver writes an
 * Adapter ("how a person pays at this sandbox") and calls `conforms(adapter)` in its own test file.
 * The tests go from plain cases to odd ones. Everything is real HTTP on loopback.
 */
import { createServer } from 'node:http'
import { randomBytes, randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  ForgedWebhook,
  type PaymentUpdate,
  type WebhookRequest,
  type PaymentDriver,
  type PaymentOrder,
  type ProviderStatus,
} from '../driver.ts'
import {
  failure,
  listen,
  Portal,
  refundBy,
  shut,
  type Adapter,
  type Begun,
  type Choice,
  type Counter,
} from './portal.conformance.ts'
import { offSessionConforms } from './off-session.conformance.ts'
import { refundsConform } from './refunds.conformance.ts'

export type { Adapter, Choice }

const channelsOf = (driver: PaymentDriver): readonly string[] =>
  driver.kind === 'hosted' ? driver.channels : ['']
/** A code as the module makes them: 26 of 0-9 and A-Z. */
const newCode = (): string => `T${randomBytes(12).toString('hex').toUpperCase()}A`

export function conforms(adapter: Adapter): void {
  const portal = new Portal()
  const silent = createServer(() => undefined)
  let counter: Counter
  let portalUrl = ''

  const order = (changes: Partial<PaymentOrder> = {}): PaymentOrder => {
    const code = newCode()
    return {
      code,
      reference: counter.driver.referenceOf?.(code) ?? code,
      amount: adapter.currency === 'VND' ? 150_000n : 15_000n,
      currency: adapter.currency,
      channel: channelsOf(counter.driver)[0] ?? '',
      language: 'vi',
      ip: '203.0.113.10',
      returnUrl: `${portalUrl}/back?from=here`,
      transferUrl: `${portalUrl}/transfer`,
      createdAt: new Date(),
      expiresAt: new Date(Date.now() + 900_000),
      providerRef: null,
      buyer: {
        id: randomUUID(),
        name: 'Nguyễn Thị Ánh',
        email: 'anh@example.vn',
        phone: '+84912345678',
      },
      ...changes,
    }
  }
  async function begun(
    changes: Partial<PaymentOrder> = {},
  ): Promise<{ order: PaymentOrder; begun: Begun }> {
    const made = order(changes)
    portal.orders.set(made.reference, made)
    const payment = await counter.begin(counter.driver, made)
    const known = { ...made, providerRef: payment.providerRef }
    portal.orders.set(made.reference, known)
    return { order: known, begun: payment }
  }
  async function paid(): Promise<{
    order: PaymentOrder
    update: PaymentUpdate
    request: WebhookRequest
  }> {
    const { order: made, begun: payment } = await begun()
    await payment.choose('pay')
    const [webhook] = await portal.webhooks(made.reference)
    if (webhook === undefined) throw new Error('no webhook came')
    return { order: made, ...webhook }
  }

  beforeAll(async () => {
    portalUrl = await listen(portal.server)
    const silentUrl = await listen(silent)
    const closed = createServer()
    const closedUrl = await listen(closed)
    await shut(closed)
    counter = await adapter.start({ portalUrl, silentUrl, closedUrl })
    portal.driver = counter.driver
  })
  afterAll(async () => {
    await counter?.close()
    await shut(portal.server)
    await shut(silent)
  })

  describe(`${adapter.name}: paying`, () => {
    const expected: Readonly<Record<Choice, ProviderStatus>> = {
      pay: 'succeeded',
      fail: 'failed',
      cancel: 'failed',
      suspicious: 'pending',
    }

    it.each(adapter.choices.map((choice) => [choice, expected[choice]] as const))(
      'a person who chooses "%s": the notice says %s',
      async (choice, status) => {
        const { order: made, begun: payment } = await begun()
        const address = await payment.choose(choice)
        const landed = address === null ? null : new URL(address)
        if (landed) {
          expect(`${landed.origin}${landed.pathname}`).toBe(`${portalUrl}/back`)
          expect(landed.searchParams.get('from')).toBe('here')
        }
        const [webhook] = await portal.webhooks(made.reference)
        expect(webhook?.update).toMatchObject({
          reference: made.reference,
          status,
          amount: made.amount,
          currency: made.currency,
        })
        expect(webhook?.update.eventId).not.toBe('')
        if (status === 'succeeded')
          expect(webhook?.update.providerTransactionId).toEqual(expect.stringMatching(/./))
        if (status === 'failed') expect(webhook?.update.providerTransactionId ?? null).toBeNull()
        expect((await counter.driver.lookUp(made))?.status).toBe(status)
      },
    )

    it('can be paid through every channel and in both languages', async () => {
      for (const channel of channelsOf(counter.driver)) {
        for (const language of ['en', 'vi'] as const) {
          const { order: made, begun: payment } = await begun({ channel, language })
          await payment.choose('pay')
          expect((await portal.webhooks(made.reference))[0]?.update.status).toBe('succeeded')
        }
      }
    })

    it('names the moment of the payment in whatever zone', async () => {
      const before = Date.now()
      const { update } = await paid()
      expect(Math.abs((update.occurredAt?.getTime() ?? 0) - before)).toBeLessThan(60_000)
    })

    it('begins no second payment when asked twice', async () => {
      const { order: made, begun: first } = await begun()
      const { handed, providerRef } = await counter.begin(counter.driver, {
        ...made,
        providerRef: null,
      })
      expect([handed, providerRef]).toEqual([first.handed, first.providerRef])
    })

    it('refuses a currency that is not its own', async () => {
      const foreign = (['VND', 'AUD', 'USD', 'EUR'] as const).find(
        (currency) => !counter.driver.currencies.includes(currency),
      )
      if (foreign !== undefined)
        expect(
          (await failure(counter.begin(counter.driver, order({ currency: foreign })))).kind,
        ).toBe('rejected')
    })
  })

  describe(`${adapter.name}: notices`, () => {
    it('are the same word when they come again', async () => {
      const { request, update } = await paid()
      const again = counter.driver.readWebhook(request)
      if (again !== null && 'ask' in again)
        expect(again).toMatchObject({ eventId: update.eventId, reference: update.reference })
      else expect(again).toEqual(update)
    })

    it('come again until they are recorded, as the same word', async () => {
      portal.outcomes = ['error', 'recorded']
      const { order: made, begun: payment } = await begun()
      await payment.choose('pay')
      const webhooks = await portal.webhooks(made.reference, 2)
      expect(new Set(webhooks.map(({ update }) => update.eventId)).size).toBe(1)
    })

    it('of two payments are two words', async () => {
      const [one, two] = [await paid(), await paid()]
      expect(one.update.eventId).not.toBe(two.update.eventId)
      expect(one.update.providerTransactionId).not.toBe(two.update.providerTransactionId)
    })

    it('that are forged or tampered with are refused', async () => {
      const { request } = await paid()
      const forgeries = counter.forgeries(request)
      expect(forgeries.length).toBeGreaterThan(2)
      for (const forgery of [
        ...forgeries,
        { ...request, query: new URLSearchParams(), rawBody: Buffer.alloc(0), headers: {} },
      ]) {
        expect(() => counter.driver.readWebhook(forgery)).toThrow(ForgedWebhook)
      }
    })

    it('are answered whatever became of them', () => {
      for (const outcome of [
        'recorded',
        'already',
        'unknown_order',
        'wrong_amount',
        'forged',
        'error',
      ] as const) {
        const answer = counter.driver.answerTo(outcome)
        expect(answer.status).toBeGreaterThanOrEqual(200)
        expect(answer.contentType).toMatch(/^[a-z]+\/[a-z]+/)
      }
    })
  })

  describe(`${adapter.name}: looking up`, () => {
    it.each(adapter.knowsOpen ? ['open'] : [])('knows a payment that is %s', async () => {
      const { order: made, begun: payment } = await begun()
      await payment.open()
      expect(await counter.driver.lookUp(made)).toMatchObject({
        reference: made.reference,
        status: 'pending',
        amount: made.amount,
      })
    })

    it('tells the same of a paid one as the notice did', async () => {
      const { order: made, update } = await paid()
      const found = await counter.driver.lookUp(made)
      expect(found).toMatchObject({
        status: 'succeeded',
        amount: update.amount,
        currency: update.currency,
        reference: made.reference,
        providerTransactionId: update.providerTransactionId,
      })
      expect((await counter.driver.lookUp(made))?.eventId).toBe(found?.eventId)
    })

    it('knows nothing of a payment that was never begun', async () => {
      expect(await counter.driver.lookUp(order())).toBeNull()
    })
  })

  if (adapter.offSession) offSessionConforms(adapter, { counter: () => counter, portal, order })
  refundsConform(adapter, { counter: () => counter, begun, paid })

  describe(`${adapter.name}: trouble`, () => {
    it('a gateway that is away is unavailable', async () => {
      // a payment that was begun: some gateways can be queried only by their own id of it
      const { order: made } = await begun()
      const refund = { refundId: 'R', amount: made.amount, reason: 'x', providerTransactionId: '1' }
      expect((await failure(counter.unreachable.lookUp(made))).kind).toBe('unavailable')
      if (adapter.refunds)
        expect((await failure(refundBy(counter.unreachable, made, refund))).kind).toBe(
          'unavailable',
        )
      if (adapter.beginCalls)
        expect((await failure(counter.begin(counter.unreachable, made))).kind).toBe('unavailable')
    })

    it('a gateway that does not answer is unavailable, or unclear', async () => {
      const { order: made } = await begun()
      const refund = { refundId: 'R', amount: made.amount, reason: 'x', providerTransactionId: '1' }
      expect((await failure(counter.slow.lookUp(made))).kind).toBe('unavailable')
      if (adapter.refunds)
        expect((await failure(refundBy(counter.slow, made, refund))).kind).toMatch(
          /^(?:unclear|unavailable)$/,
        )
      if (adapter.beginCalls)
        expect((await failure(counter.begin(counter.slow, made))).kind).toMatch(
          /^unclear|unavailable$/,
        )
    })
  })
}
