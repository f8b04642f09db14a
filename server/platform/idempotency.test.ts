/**
 * Idempotency-Key on a real write: beginning a top-up, which makes a new code each time it acts.
 */
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  eightAtATime,
  manualClock,
  openTestPortal,
  type Answer,
  type TestCustomer,
  type TestPortal,
} from '../../test/portal.ts'
import { hours } from './clock.ts'

const clock = manualClock()
let portal: TestPortal
let an: TestCustomer
beforeAll(async () => {
  portal = await openTestPortal({ clock })
  an = await portal.customer()
})
afterAll(() => portal.close())

interface Begun {
  transactionCode: string
}
const body = { amount: 50_000, type: 1, method: 'QRPAY' }
const begin = (key: string | undefined, form: unknown = body, { token }: { token: string } = an) =>
  portal.call<Begun>('POST', '/api/payments/checkout', {
    token,
    body: form,
    headers: key === undefined ? {} : { 'idempotency-key': key },
  })
const replayed = (answer: Answer): string | null => answer.headers.get('idempotency-replayed')
const signedInAgain = async ({ email, password }: TestCustomer): Promise<{ token: string }> => ({
  token: (
    await portal.call<{ token: { accessToken: string } }>('POST', '/api/v1/auth/login', {
      body: { email, password },
    })
  ).body.result.token.accessToken,
})
const payments = async (): Promise<number> =>
  Number(
    (
      await portal.app.db
        .selectFrom('payment')
        .select((eb) => eb.fn.countAll<bigint>().as('n'))
        .executeTakeFirstOrThrow()
    ).n,
  )

describe('the same key', () => {
  test('and the same body: the first answer byte for byte, and nothing is done', async () => {
    const key = randomUUID()
    const first = await begin(key)
    expect([first.status, replayed(first)]).toEqual([200, null])
    const before = await payments()
    const second = await begin(key)
    expect([second.status, replayed(second)]).toEqual([200, 'true'])
    expect(second.text).toBe(first.text)
    expect(second.headers.get('content-type')).toBe(first.headers.get('content-type'))
    expect(second.headers.get('x-request-id')).not.toBe(first.headers.get('x-request-id'))
    expect(await payments()).toBe(before)
  })

  test('and another body, or another call: refused', async () => {
    const key = randomUUID()
    await begin(key)
    const other = await begin(key, { ...body, amount: 60_000 })
    expect([other.status, other.body.error?.code]).toEqual([422, 'idempotency_key_reused'])
    const elsewhere = await portal.call('PUT', '/api/notifications/read', {
      token: an.token,
      body: {},
      headers: { 'idempotency-key': key },
    })
    expect([elsewhere.status, elsewhere.body.error?.code]).toEqual([422, 'idempotency_key_reused'])
    const unfit = await begin(key, { ...body, amount: 'much' })
    expect([unfit.status, unfit.body.error?.code]).toEqual([422, 'idempotency_key_reused'])
    expect(replayed(await begin(key))).toBe('true')
  })

  test('and a body that fails its schema: the same refusal again, byte for byte', async () => {
    const notices = (key: string, sent: unknown) =>
      portal.call('PUT', '/api/notifications/read', {
        token: an.token,
        body: sent,
        headers: { 'idempotency-key': key },
      })
    for (const send of [
      (key: string): Promise<Answer> => begin(key, { ...body, amount: 'much' }),
      (key: string) => notices(key, { ids: 'all of them' }),
    ]) {
      const key = randomUUID()
      const [first, second] = [await send(key), await send(key)]
      expect([first.status, first.body.error?.code, replayed(first)]).toEqual([
        422,
        'invalid_input',
        null,
      ])
      expect([second.text, replayed(second)]).toEqual([first.text, 'true'])
    }
    const empty = await begin('')
    expect([empty.status, empty.body.error?.fields]).toEqual([
      422,
      { 'Idempotency-Key': 'Please fill this in.' },
    ])
  })

  test('ten at once: one acts, the others wait their turn or hear what it said', async () => {
    const [key, before] = [randomUUID(), await payments()]
    const answers = await eightAtATime(10, () => begin(key))
    const done = answers.filter((answer) => answer.status === 200)
    expect(done.filter((answer) => replayed(answer) === null)).toHaveLength(1)
    expect(new Set(done.map((answer) => answer.text)).size).toBe(1)
    for (const answer of answers.filter(({ status }) => status !== 200))
      expect([answer.status, answer.body.error?.code]).toEqual([409, 'idempotency_in_progress'])
    expect(await payments()).toBe(before + 1)
    expect((await begin(key)).text).toBe(done[0]?.text)
  })

  test('at once counts against no limit twice: one acts, the other is told', async () => {
    // One address may request one code a minute.
    const recover = (key: string) =>
      portal.call('POST', '/api/v1/auth/recover', {
        body: { email: an.email },
        headers: { 'idempotency-key': key },
      })
    const key = randomUUID()
    const answers = await Promise.all([recover(key), recover(key)])
    expect(Math.min(...answers.map(({ status }) => status))).toBe(200)
    for (const { status, body: said } of answers.filter((answer) => answer.status !== 200))
      expect([status, said.error?.code]).toEqual([409, 'idempotency_in_progress'])
    expect((await recover(randomUUID())).status).toBe(429)
  })

  test('a refusal is an answer too', async () => {
    // No gateway of this region takes Australian dollars.
    const [key, sam] = [randomUUID(), await portal.customer({ region: 'AUD' })]
    const first = await begin(key, body, sam)
    expect([first.status, first.body.error?.code]).toEqual([422, 'method_unavailable'])
    const second = await begin(key, body, sam)
    expect([second.status, replayed(second), second.text]).toEqual([422, 'true', first.text])
    expect((await begin(key, { ...body, amount: 60_000 }, sam)).body.error?.code).toBe(
      'idempotency_key_reused',
    )
  })

  test('of another customer is another key', async () => {
    const [key, binh] = [randomUUID(), await portal.customer()]
    const [mine, theirs] = [await begin(key), await begin(key, body, binh)]
    expect([mine.status, theirs.status, replayed(theirs)]).toEqual([200, 200, null])
    expect(theirs.body.result.transactionCode).not.toBe(mine.body.result.transactionCode)
  })

  test('is good for 24 hours, and then free again', async () => {
    const key = randomUUID()
    const first = await begin(key)
    clock.advance(hours(24))
    const again = await signedInAgain(an)
    expect((await begin(key, body, again)).text).toBe(first.text)
    clock.advance(1)
    const later = await begin(key, { ...body, amount: 70_000 }, again)
    expect([later.status, replayed(later)]).toEqual([200, null])
    expect(replayed(await begin(key, { ...body, amount: 70_000 }, again))).toBe('true')
    an = { ...an, ...again }
  })
})

describe('the key itself', () => {
  test('1 to 255 characters', async () => {
    expect((await begin('k'.repeat(255))).status).toBe(200)
    for (const key of ['k'.repeat(256), '']) {
      const answer = await begin(key)
      expect([
        answer.status,
        answer.body.error?.code,
        Object.keys(answer.body.error?.fields ?? {}),
      ]).toEqual([422, 'invalid_input', ['Idempotency-Key']])
    }
    expect((await begin("'; drop table idempotency; --")).status).toBe(200)
  })

  test('means nothing to a GET, nor without a living token', async () => {
    const read = () =>
      portal.call('GET', '/api/v1/auth/me', {
        token: an.token,
        headers: { 'idempotency-key': 'get' },
      })
    await read()
    expect((await read()).headers.get('idempotency-replayed')).toBeNull()
    expect((await begin('get')).status).toBe(200)
    expect((await begin('get', body, { token: 'dead' })).status).toBe(401)
  })

  test('without one, each call acts', async () => {
    const [one, two] = [await begin(undefined), await begin(undefined)]
    expect(two.body.result.transactionCode).not.toBe(one.body.result.transactionCode)
  })

  test('what is kept is sealed', async () => {
    const { body: answer } = await begin(randomUUID())
    const rows = await portal.app.db.selectFrom('idempotency').select('body').execute()
    expect(rows.length).toBeGreaterThan(5)
    expect(
      rows.some((row) => row.body.toString('latin1').includes(answer.result.transactionCode)),
    ).toBe(false)
  })
})
