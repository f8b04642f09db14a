/** Many parallel calls: neither one customer nor a crowd at the sign-in slows the others down. */
import { randomUUID } from 'node:crypto'
import fc from 'fast-check'
import { sql } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'
import {
  eventually,
  openTestPortal,
  type TestCustomer,
  type TestPortal,
} from '../../test/portal.ts'
import { importanceOf, isTooMuch } from './back-pressure.ts'
import { transaction } from './db.ts'

let portal: TestPortal
let an: TestCustomer
let others: TestCustomer[]
beforeAll(async () => {
  portal = await openTestPortal({ env: { TRUST_PROXY: 'on' } })
  an = await portal.customer()
  others = await Promise.all(Array.from({ length: 4 }, () => portal.customer()))
})
afterAll(() => portal.close())

/** The duration of a call by an unrelated customer, ms. */
async function msOfMe(): Promise<number> {
  const began = performance.now()
  const answer = await portal.call('GET', '/api/v1/auth/me', { token: an.token })
  expect(answer.status, answer.text).toBe(200)
  return performance.now() - began
}

test('whoever asks for a second connection inside of a transaction is told at once', async () => {
  const { db } = portal.app
  const readsBeside = transaction(db, async () => {
    await db.selectFrom('customer').select('id').limit(1).execute()
  })
  await expect(readsBeside).rejects.toThrow('a second connection was asked for')
  const nests = transaction(db, () => transaction(db, async () => undefined))
  await expect(nests).rejects.toThrow('a second connection was asked for')
  const sound = await transaction(db, (tx) => tx.selectFrom('customer').select('id').execute())
  expect(sound.length).toBe(5)
})

test('more writes at once than there are connections: no other customer notices', async () => {
  const writes = others.flatMap(({ token }) =>
    Array.from({ length: 15 }, (_, n) =>
      portal.call(n % 2 ? 'DELETE' : 'POST', `/api/wp/${randomUUID()}${n % 2 ? '' : '/backups'}`, {
        token,
      }),
    ),
  )
  const spent: number[] = []
  for (let n = 0; n < 9; n++) spent.push(await msOfMe())
  // The median: the first call pays for compilation. Without the limit it would be ten seconds.
  expect(spent.toSorted((a, b) => a - b)[4]).toBeLessThan(500)
  for (const { status } of await Promise.all(writes)) expect([404, 429]).toContain(status)
})

test('a crowd at the sign-in: some are asked to come again, others do not notice', async () => {
  const crowd = Array.from({ length: 150 }, (_, n) =>
    portal.call('POST', '/api/v1/auth/login', {
      body: { email: `crowd-${n}@example.vn`, password: 'wrong-password' },
      headers: { 'x-forwarded-for': `198.51.${n}.7` },
    }),
  )
  const spent: number[] = []
  for (let n = 0; n < 9; n++) spent.push(await msOfMe())
  expect(spent.toSorted((a, b) => a - b)[4]).toBeLessThan(500)
  const answers = await Promise.all(crowd)
  const busy = answers.filter(({ status }) => status === 503)
  expect(answers.filter(({ status }) => status === 401).length).toBeGreaterThanOrEqual(50)
  expect(busy.length).toBeGreaterThan(0)
  expect(busy.length + answers.filter(({ status }) => status === 401).length).toBe(150)
  for (const answer of busy) {
    expect(answer.body.error?.code).toBe('unavailable')
    expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0)
  }
})

test('repetitions of a call in progress are told so, however many there are', async () => {
  const [mine] = others
  const token = mine?.token ?? ''
  const name = 'Trần Thị Bình'
  const refused: (string | undefined)[] = []
  let all: Promise<unknown> | undefined
  await transaction(portal.app.db, async (tx) => {
    // None of them learns whether an answer is kept, so eight are in progress.
    await sql`lock table idempotency in access exclusive mode`.execute(tx)
    const begun = Array.from({ length: 12 }, async () => {
      const headers = { 'idempotency-key': 'the name, once' }
      const given = await portal.call('PUT', '/api/v1/account', { token, body: { name }, headers })
      if (given.status !== 200) refused.push(given.body.error?.code)
    })
    await eventually('the refusals', async () => refused.length === 4)
    all = Promise.all(begun)
  })
  await all
  expect(new Set(refused)).toEqual(new Set(['idempotency_in_progress']))
})

test('eight writes of one customer at once: more are 429, reads are not counted', async () => {
  const { db } = portal.app
  const [mine] = others
  const body = { name: 'Trần Thị Bình' }
  let answers: Promise<number[]> | undefined
  await transaction(db, async (tx) => {
    // Locked, so that each write that began is still in progress when the next one comes.
    await tx
      .selectFrom('customer')
      .select('id')
      .where('id', '=', mine?.id ?? '')
      .forUpdate()
      .execute()
    const begun = Array.from({ length: 12 }, () =>
      portal.call('PUT', '/api/v1/account', { token: mine?.token ?? '', body }),
    )
    let refused = 0
    for (const answer of begun)
      void answer.then((given) => {
        if (given.status !== 429) return
        refused += 1
        expect(given.body.error?.code).toBe('rate_limited')
        expect(given.headers.get('retry-after')).toBe('1')
      })
    await eventually('the refusals', async () => refused === 4)
    const read = await portal.call('GET', '/api/v1/account', { token: mine?.token ?? '' })
    expect(read.status).toBe(200)
    answers = Promise.all(begun).then((given) => given.map(({ status }) => status))
  })
  const statuses = (await answers) ?? []
  expect(statuses.filter((status) => status === 200)).toHaveLength(8)
  expect(statuses.filter((status) => status === 429)).toHaveLength(4)
  expect(
    (await portal.call('PUT', '/api/v1/account', { token: mine?.token ?? '', body })).status,
  ).toBe(200)
})

/** Holds `count` of the portal's twenty connections until the returned function is called. */
function takeConnections(count: number): () => Promise<unknown> {
  const { promise: until, resolve: free } = Promise.withResolvers<void>()
  const taken = Array.from({ length: count }, () =>
    transaction(portal.app.db, async (tx) => {
      await sql`select 1`.execute(tx)
      await until
    }),
  )
  return () => {
    free()
    return Promise.all(taken)
  }
}

test('a flood of one session is refused itself, and the others are not', async () => {
  const free = takeConnections(19)
  const [mine] = others
  let refused = 0
  const flood = Array.from({ length: 300 }, () =>
    portal.call('GET', '/api/v1/account', { token: mine?.token ?? '' }).then((answer) => {
      if (answer.status === 429) refused += 1
      return answer.status
    }),
  )
  await eventually('the refusals', async () => refused > 0)
  for (let n = 0; n < 9; n++) await msOfMe()
  await free()
  for (const status of await Promise.all(flood)) expect([200, 429]).toContain(status)
})

test('a flood of invented sessions from one network has no other network refused', async () => {
  const free = takeConnections(19)
  const flood = Array.from({ length: 300 }, (_, n) =>
    portal.call('GET', '/api/v1/account', {
      token: `${n}-${randomUUID()}`,
      headers: { 'x-forwarded-for': '203.0.113.9' },
    }),
  )
  const first = await Promise.race(flood)
  expect(first.status).toBe(401)
  for (let n = 0; n < 9; n++) await msOfMe()
  await free()
  for (const { status } of await Promise.all(flood)) expect(status).toBe(401)
})

test('no connection is free for long: calls are refused at once, sign-ins wait', async () => {
  // At most a few calls of one session reach the wait for a connection: so use many customers.
  const crowd = await Promise.all(Array.from({ length: 20 }, () => portal.customer()))
  const free = takeConnections(20)
  const waiting = Array.from({ length: 80 }, (_, n) =>
    portal.call('GET', '/api/v1/auth/me', {
      token: crowd[n % crowd.length]?.token ?? '',
      headers: { 'x-forwarded-for': `203.0.113.${n % crowd.length}` },
    }),
  )
  const early = await eventually('a call that is refused', async () => {
    const answer = await Promise.race([
      portal.call('GET', '/api/v1/account', { token: an.token }),
      new Promise<undefined>((resolve) => setTimeout(resolve, 500)),
    ])
    return answer?.status === 503 && answer
  })
  expect(early.body.error?.code).toBe('unavailable')
  expect(early.headers.get('retry-after')).toBe('5')
  const signIn = portal.call('POST', '/api/v1/auth/login', {
    body: { email: an.email, password: an.password },
  })
  const page = await fetch(`${portal.url}/healthz`)
  expect(page.status).toBe(200)
  await free()
  expect((await signIn).status).toBe(200)
  for (const { status } of await Promise.all(waiting)) expect([200, 503]).toContain(status)
  expect((await portal.call('GET', '/api/v1/account', { token: an.token })).status).toBe(200)
})

test('what a load refuses every greater one does; webhooks and sign-ins come last', () => {
  const load = fc.record({
    loopDelayMs: fc.double({ min: 0, max: 1e5, noNaN: true }),
    waiting: fc.nat(5000),
  })
  fc.assert(
    fc.property(load, load, (one, more) => {
      const sum = {
        loopDelayMs: one.loopDelayMs + more.loopDelayMs,
        waiting: one.waiting + more.waiting,
      }
      if (isTooMuch(one, 'ordinary')) expect(isTooMuch(sum, 'ordinary')).toBe(true)
      if (isTooMuch(one, 'last')) expect(isTooMuch(one, 'ordinary')).toBe(true)
    }),
  )
  expect(isTooMuch({ loopDelayMs: 0, waiting: 0 }, 'ordinary')).toBe(false)
  expect(isTooMuch({ loopDelayMs: 700, waiting: 0 }, 'ordinary')).toBe(true)
  expect(isTooMuch({ loopDelayMs: 700, waiting: 100 }, 'last')).toBe(false)
  expect(importanceOf('/api/webhooks/vnpay?a=1')).toBe('last')
  for (const step of ['login', 'second-factor', 'passkey', 'passkey/options', 'unlock', 'logout'])
    expect(importanceOf(`/api/v1/auth/${step}`), step).toBe('last')
  expect(importanceOf('/api/operator/sign-in')).toBe('last')
  expect(importanceOf('/api/wp')).toBe('ordinary')
})
