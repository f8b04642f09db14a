/**
 * One suite for every payment driver, against its gateway's stand-in. A new driver writes an Adapter ("how a person pays at this
 * sandbox") and calls `conforms(adapter)` in its own test file. Told from plain to odd. Everything is real HTTP on loopback.
 */
import { createServer, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { randomBytes, randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Currency } from '../../../contract/money.ts'
import { DriverFailure } from '../../platform/errors.ts'
import {
  ForgedNotice,
  type Notice,
  type NoticeOutcome,
  type NoticeRequest,
  type PaymentDriver,
  type PaymentOrder,
  type ProviderStatus,
  type Refund,
  type Word,
} from '../driver.ts'

/** What a person may do on the payment page. */
export type Choice = 'pay' | 'fail' | 'cancel' | 'suspicious'

/** What the adapter is given to start with. */
export interface Surroundings {
  /** Takes the gateway's notices on every path. No slash at the end. */
  readonly portalUrl: string
  /** Nobody listens here. */
  readonly closedUrl: string
  /** Takes requests and never answers. */
  readonly silentUrl: string
}

/** A payment that was begun, and what a person can do about it. */
export interface Begun {
  readonly providerRef: string | null
  /** What was handed to the browser: an address or a secret. The same for the same payment. */
  readonly handed: string
  /** The person opens the payment page and does nothing yet. */
  open(): Promise<void>
  /** The person decides; answers where the browser is sent, or null when it stays. */
  choose(choice: Choice): Promise<string | null>
}

/** A started stand-in and the drivers that face it. */
export interface Counter {
  readonly driver: PaymentDriver
  /** The same driver with the gateway at `closedUrl`. */
  readonly unreachable: PaymentDriver
  /** The same driver with the gateway at `silentUrl` and a time limit of well under a second. */
  readonly slow: PaymentDriver
  /** Begins a payment with this driver, as the portal does. */
  begin(driver: PaymentDriver, order: PaymentOrder): Promise<Begun>
  /** Words made from a genuine one that must not pass: tampered, unsigned, signed with another key. */
  forgeries(genuine: NoticeRequest): readonly NoticeRequest[]
  close(): Promise<void>
}

export interface Adapter {
  readonly name: string
  readonly currency: Currency
  readonly choices: readonly Choice[]
  /** Whether begin itself calls the gateway (then it fails when the gateway is away). */
  readonly beginCalls: boolean
  /** Whether the gateway knows a payment before it is paid; a bank account knows none. */
  readonly knowsOpen: boolean
  /** Whether it gives money back at all. A driver without `refund` says no here, and the suite holds it to that. */
  readonly refunds: boolean
  /** Whether looking a payment up tells that all of it went back; some gateways tell only of the refund itself. */
  readonly showsRefunds: boolean
  start(surroundings: Surroundings): Promise<Counter>
}

interface Heard {
  readonly request: NoticeRequest
  readonly notice: Notice
}

const listen = async (server: Server): Promise<string> => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}
const shut = (server: Server): Promise<void> =>
  new Promise((resolve) => {
    server.close(() => resolve())
    server.closeAllConnections()
  })

/** A portal of one page: it reads notices with the driver (a hint sends it to ask) and answers what it is told to. */
class Portal {
  readonly heard: Heard[] = []
  readonly orders = new Map<string, PaymentOrder>()
  /** What it answers next; the last one stays. */
  outcomes: NoticeOutcome[] = ['recorded']
  driver: PaymentDriver | undefined
  #listeners: (() => void)[] = []
  readonly server = createServer((incoming, response) => {
    const chunks: Buffer[] = []
    incoming.on('data', (chunk: Buffer) => chunks.push(chunk))
    incoming.on('end', () => {
      const headers = Object.fromEntries(
        Object.entries(incoming.headers).map(([name, value]) => [name, Array.isArray(value) ? value.join(', ') : value]),
      )
      const query = new URL(incoming.url ?? '/', 'http://portal').searchParams
      void this.#hear({ method: incoming.method ?? '', headers, query, rawBody: Buffer.concat(chunks) }, response)
    })
  })

  async #hear(request: NoticeRequest, response: ServerResponse): Promise<void> {
    const notice = await this.#understood(this.driver?.readNotice(request) ?? null)
    const outcome = (this.outcomes.length > 1 ? this.outcomes.shift() : this.outcomes[0]) ?? 'recorded'
    const answer = this.driver?.answerTo(outcome)
    response.writeHead(answer?.status ?? 500, { 'content-type': answer?.contentType ?? 'text/plain' }).end(answer?.body)
    if (notice !== null) this.heard.push({ request, notice })
    for (const listener of this.#listeners.splice(0)) listener()
  }

  /** A hint leads to the gateway's own answer, under the hint's name. */
  async #understood(word: Word): Promise<Notice | null> {
    if (word === null || !('ask' in word)) return word
    const order = this.orders.get(word.reference)
    const notice = order === undefined ? null : ((await this.driver?.lookUp(order, word.about)) ?? null)
    return notice && { ...notice, eventId: word.eventId }
  }

  /** The first `count` words about a payment, once they have come. */
  async words(reference: string, count = 1): Promise<Heard[]> {
    for (;;) {
      const found = this.heard.filter(({ notice }) => notice.reference === reference)
      if (found.length >= count) return found
      await new Promise<void>((resolve) => this.#listeners.push(resolve))
    }
  }
}

const channelsOf = (driver: PaymentDriver): readonly string[] => (driver.kind === 'hosted' ? driver.channels : [''])
/** A code as the room makes them: 26 of 0-9 and A-Z. */
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
      buyer: { id: randomUUID(), name: 'Nguyễn Thị Ánh', email: 'anh@example.vn', phone: '+84912345678' },
      ...changes,
    }
  }
  async function begun(changes: Partial<PaymentOrder> = {}): Promise<{ order: PaymentOrder; begun: Begun }> {
    const made = order(changes)
    portal.orders.set(made.reference, made)
    const payment = await counter.begin(counter.driver, made)
    const known = { ...made, providerRef: payment.providerRef }
    portal.orders.set(made.reference, known)
    return { order: known, begun: payment }
  }
  async function paid(): Promise<{ order: PaymentOrder; notice: Notice; request: NoticeRequest }> {
    const { order: made, begun: payment } = await begun()
    await payment.choose('pay')
    const [word] = await portal.words(made.reference)
    if (word === undefined) throw new Error('no notice came')
    return { order: made, ...word }
  }
  const refundBy = async (driver: PaymentDriver, of: PaymentOrder, wish: Refund): Promise<Notice> => {
    if (!driver.refund) throw new Error(`${driver.name} has no refund: say so in its adapter`)
    return await driver.refund(of, wish)
  }
  async function failure(work: Promise<unknown>): Promise<DriverFailure> {
    const outcome = await work.then(
      () => undefined,
      (error: unknown) => error,
    )
    expect(outcome).toBeInstanceOf(DriverFailure)
    return outcome as DriverFailure
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
    const expected: Readonly<Record<Choice, ProviderStatus>> = { pay: 'succeeded', fail: 'failed', cancel: 'failed', suspicious: 'pending' }

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
        const [word] = await portal.words(made.reference)
        expect(word?.notice).toMatchObject({ reference: made.reference, status, amount: made.amount, currency: made.currency })
        expect(word?.notice.eventId).not.toBe('')
        if (status === 'succeeded') expect(word?.notice.providerTransactionId).toEqual(expect.stringMatching(/./))
        if (status === 'failed') expect(word?.notice.providerTransactionId ?? null).toBeNull()
        expect((await counter.driver.lookUp(made))?.status).toBe(status)
      },
    )

    it('can be paid through every channel and in both languages', async () => {
      for (const channel of channelsOf(counter.driver)) {
        for (const language of ['en', 'vi'] as const) {
          const { order: made, begun: payment } = await begun({ channel, language })
          await payment.choose('pay')
          expect((await portal.words(made.reference))[0]?.notice.status).toBe('succeeded')
        }
      }
    })

    it('names the moment of the payment in whatever zone', async () => {
      const before = Date.now()
      const { notice } = await paid()
      expect(Math.abs((notice.occurredAt?.getTime() ?? 0) - before)).toBeLessThan(60_000)
    })

    it('begins no second payment when asked twice', async () => {
      const { order: made, begun: first } = await begun()
      const { handed, providerRef } = await counter.begin(counter.driver, { ...made, providerRef: null })
      expect([handed, providerRef]).toEqual([first.handed, first.providerRef])
    })

    it('refuses a currency that is not its own', async () => {
      const foreign = (['VND', 'AUD', 'USD', 'EUR'] as const).find((currency) => !counter.driver.currencies.includes(currency))
      if (foreign !== undefined) expect((await failure(counter.begin(counter.driver, order({ currency: foreign })))).kind).toBe('rejected')
    })
  })

  describe(`${adapter.name}: notices`, () => {
    it('are the same word when they come again', async () => {
      const { request, notice } = await paid()
      const again = counter.driver.readNotice(request)
      if (again !== null && 'ask' in again) expect(again).toMatchObject({ eventId: notice.eventId, reference: notice.reference })
      else expect(again).toEqual(notice)
    })

    it('come again until they are recorded, as the same word', async () => {
      portal.outcomes = ['error', 'recorded']
      const { order: made, begun: payment } = await begun()
      await payment.choose('pay')
      const words = await portal.words(made.reference, 2)
      expect(new Set(words.map(({ notice }) => notice.eventId)).size).toBe(1)
    })

    it('of two payments are two words', async () => {
      const [one, two] = [await paid(), await paid()]
      expect(one.notice.eventId).not.toBe(two.notice.eventId)
      expect(one.notice.providerTransactionId).not.toBe(two.notice.providerTransactionId)
    })

    it('that are forged or tampered with are refused', async () => {
      const { request } = await paid()
      const forgeries = counter.forgeries(request)
      expect(forgeries.length).toBeGreaterThan(2)
      for (const forgery of [...forgeries, { ...request, query: new URLSearchParams(), rawBody: Buffer.alloc(0), headers: {} }]) {
        expect(() => counter.driver.readNotice(forgery)).toThrow(ForgedNotice)
      }
    })

    it('are answered whatever became of them', () => {
      for (const outcome of ['recorded', 'already', 'unknown_order', 'wrong_amount', 'forged', 'error'] as const) {
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
      expect(await counter.driver.lookUp(made)).toMatchObject({ reference: made.reference, status: 'pending', amount: made.amount })
    })

    it('tells the same of a paid one as the notice did', async () => {
      const { order: made, notice } = await paid()
      const found = await counter.driver.lookUp(made)
      expect(found).toMatchObject({
        status: 'succeeded',
        amount: notice.amount,
        currency: notice.currency,
        reference: made.reference,
        providerTransactionId: notice.providerTransactionId,
      })
      expect((await counter.driver.lookUp(made))?.eventId).toBe(found?.eventId)
    })

    it('knows nothing of a payment that was never begun', async () => {
      expect(await counter.driver.lookUp(order())).toBeNull()
    })
  })

  const givesNothingBack = (): void => {
    it('is nothing that it claims to do', () => expect(counter.driver.refund).toBeUndefined())
  }
  const givesBack = (): void => {
    it('gives all back, and only once for one id', async () => {
      const { order: made, notice } = await paid()
      const wish = {
        refundId: `R${made.code}`.slice(0, 32),
        amount: made.amount,
        reason: 'Khách hàng yêu cầu',
        providerTransactionId: notice.providerTransactionId,
      }
      expect(await refundBy(counter.driver, made, wish)).toMatchObject({
        reference: made.reference,
        status: 'refunded',
        amount: made.amount,
      })
      expect(await refundBy(counter.driver, made, wish)).toMatchObject({ status: 'refunded', amount: made.amount })
      expect((await counter.driver.lookUp(made))?.status).toBe(adapter.showsRefunds ? 'refunded' : 'succeeded')
    })

    it('gives parts back, each once, and never more than was paid', async () => {
      const { order: made, notice } = await paid()
      const part = made.amount / 3n
      const wish = { reason: 'part', providerTransactionId: notice.providerTransactionId }
      const first = { ...wish, refundId: `A${made.code}`, amount: part }
      expect(await refundBy(counter.driver, made, first)).toMatchObject({ status: 'refunded', amount: part })
      // the same id again: either the same answer, or "it may have happened", but no second movement
      await refundBy(counter.driver, made, first).catch((error: unknown) =>
        expect(error).toMatchObject({ name: 'DriverFailure', kind: 'unclear' }),
      )
      expect(await refundBy(counter.driver, made, { ...wish, refundId: `B${made.code}`, amount: made.amount - part })).toMatchObject({
        status: 'refunded',
      })
      await failure(refundBy(counter.driver, made, { ...wish, refundId: `C${made.code}`, amount: part }))
      await failure(refundBy(counter.driver, made, { ...wish, refundId: `D${made.code}`, amount: made.amount + 1n }))
    })

    it("does so also when the gateway's own id is not at hand", async () => {
      const { order: made } = await paid()
      expect(
        await refundBy(counter.driver, made, {
          refundId: `N${made.code}`,
          amount: made.amount,
          reason: 'x',
          providerTransactionId: null,
        }),
      ).toMatchObject({ status: 'refunded' })
    })

    it('has nothing to give back of what was not paid', async () => {
      const { order: made, begun: payment } = await begun()
      if (adapter.choices.includes('cancel')) await payment.choose('cancel')
      expect(
        (await failure(refundBy(counter.driver, made, { refundId: 'R', amount: made.amount, reason: 'x', providerTransactionId: null })))
          .kind,
      ).toBe('rejected')
    })
  }
  describe(`${adapter.name}: giving back`, () => {
    const tests = adapter.refunds ? givesBack : givesNothingBack
    tests()
  })

  describe(`${adapter.name}: trouble`, () => {
    it('a gateway that is away is unavailable', async () => {
      // one that was begun: some gateways can only be asked by the id that they gave
      const { order: made } = await begun()
      const refund = { refundId: 'R', amount: made.amount, reason: 'x', providerTransactionId: '1' }
      expect((await failure(counter.unreachable.lookUp(made))).kind).toBe('unavailable')
      if (adapter.refunds) expect((await failure(refundBy(counter.unreachable, made, refund))).kind).toBe('unavailable')
      if (adapter.beginCalls) expect((await failure(counter.begin(counter.unreachable, made))).kind).toBe('unavailable')
    })

    it('a gateway that does not answer is unavailable, or unclear', async () => {
      const { order: made } = await begun()
      const refund = { refundId: 'R', amount: made.amount, reason: 'x', providerTransactionId: '1' }
      expect((await failure(counter.slow.lookUp(made))).kind).toBe('unavailable')
      if (adapter.refunds) expect((await failure(refundBy(counter.slow, made, refund))).kind).toMatch(/^(?:unclear|unavailable)$/)
      if (adapter.beginCalls) expect((await failure(counter.begin(counter.slow, made))).kind).toMatch(/^unclear|unavailable$/)
    })
  })
}
