/** Ordering: what is refused, what is stored, and what is charged. */
import { randomUUID } from 'node:crypto'
import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { Server } from '../../contract/wordpress.ts'
import {
  eightAtATime,
  eventually,
  openTestPortal,
  type TestCustomer,
  type TestPortal,
} from '../../test/portal.ts'

let portal: TestPortal
beforeAll(async () => {
  portal = await openTestPortal()
})
afterAll(() => portal.close())

type Shown = Record<string, unknown> & { id: string; status: string }
const order = {
  size: 1,
  region: 1,
  disk: 10_240,
  mariadb_disk_size: 10_240,
  user: 'chu nha',
  password: 'Mat-khau-9!',
  replicate: 1,
}
const place = ({ token }: TestCustomer, body: unknown, language = 'en') =>
  portal.call<{ id: string }>('POST', '/api/wp', {
    token,
    body,
    headers: { 'accept-language': language },
  })
const list = async ({ token }: TestCustomer): Promise<Shown[]> =>
  (await portal.call<Shown[]>('GET', '/api/wp', { token })).body.result
const one = async ({ token }: TestCustomer, id: string) =>
  portal.call<Shown>('GET', `/api/wp/${id}`, { token })
const entries = async ({ token }: TestCustomer): Promise<string[]> =>
  (
    await portal.call<{ amount: number; ending_balance: number }[]>('GET', '/api/payments/stripe', {
      token,
    })
  ).body.result
    .toReversed()
    .map((entry) => `${entry.amount} → ${entry.ending_balance}`)

const anySentence: unknown = expect.any(String)

/** Row counts of everything that an order writes. */
async function written(): Promise<bigint[]> {
  const { db } = portal.app
  return await Promise.all(
    (
      [
        'site',
        'subscription',
        'invoice',
        'invoice_line',
        'notification',
        'ledger_transfer',
      ] as const
    ).map(async (table) => {
      const { n } = await db
        .selectFrom(table)
        .select((eb) => eb.fn.countAll<bigint>().as('n'))
        .executeTakeFirstOrThrow()
      return n
    }),
  )
}

describe('an order that breaks a rule', () => {
  let an: TestCustomer
  beforeAll(async () => {
    an = await portal.customer()
  })
  const password =
    'The password must have at least 8 characters, with letters, digits and a special character !'
  test.each<[string, object, string, string?]>([
    ['no region', { region: undefined }, 'region'],
    ['an unknown region', { region: 7 }, 'region', 'Choose a data centre from the list.'],
    ['a region by its name', { region: 'Hà Nội' }, 'region'],
    [
      'region 5 with less than 20 GB',
      { region: 5, disk: 20_479 },
      'disk',
      'This region needs a larger disk.',
    ],
    [
      'region 4 with less than 10 GB',
      { region: 4, disk: 10_239 },
      'disk',
      'The disk must be at least 10GB!',
    ],
    ['no plan', { size: undefined }, 'size'],
    ['an unknown plan', { size: 99 }, 'size', 'Choose a plan from the list.'],
    ['a plan of a half', { size: 1.5 }, 'size'],
    ['no disk', { disk: 0 }, 'disk'],
    ['a disk below the smallest', { disk: 10_239 }, 'disk'],
    ['a disk above the largest', { disk: 200_001 }, 'disk', 'The disk can be at most 200000 MB.'],
    ['a disk of parts', { disk: 10_240.5 }, 'disk'],
    ['a disk in words', { disk: '10240' }, 'disk'],
    ['a negative disk', { disk: -20_480 }, 'disk'],
    ['a disk without end', { disk: 1e308 }, 'disk'],
    ['no MariaDB disk', { mariadb_disk_size: 0 }, 'mariadb_disk_size'],
    ['a MariaDB disk below the smallest', { mariadb_disk_size: 10_239 }, 'mariadb_disk_size'],
    ['a MariaDB disk above the largest', { mariadb_disk_size: 200_001 }, 'mariadb_disk_size'],
    ['a short password', { password: 'Ab1!xyz' }, 'password', password],
    ['a password without a digit', { password: 'Abcdefg!' }, 'password', password],
    ['a password without a special character', { password: 'Abcdefg1' }, 'password', password],
    ['a password with another special character', { password: 'Abcdefg1~' }, 'password', password],
    ['an endless password', { password: `Ab1!${'x'.repeat(200)}` }, 'password'],
    ['no password', { password: undefined }, 'password'],
    ['no user', { user: '' }, 'user'],
    ['a user with marks', { user: 'chủ nhà' }, 'user'],
    ['a user with a tag', { user: '<b>an</b>' }, 'user'],
    ['a user that begins with a space', { user: ' an' }, 'user'],
    ['a user of 61 letters', { user: 'a'.repeat(61) }, 'user'],
    ['no container', { replicate: 0 }, 'replicate'],
    ['51 containers', { replicate: 51 }, 'replicate'],
    ['half a container', { replicate: 1.5 }, 'replicate'],
    ['a key of its own', { price: 1 }, 'price', 'This field is not accepted.'],
    ['a name', { name: 'mine' }, 'name'],
  ])('with %s changes nothing and says which', async (_, change, field, text) => {
    const before = await written()
    const answer = await place(an, { ...order, ...change })
    expect([answer.status, answer.body.error?.code]).toEqual([422, 'invalid_input'])
    expect(answer.body.error?.fields).toEqual({ [field]: text ?? anySentence })
    expect(await written()).toEqual(before)
  })

  test('says everything that is wrong at once, in Vietnamese too', async () => {
    const answer = await place(an, { ...order, disk: 1, password: 'x', replicate: 0 }, 'vi')
    expect(answer.body.message).toBe('Vui lòng kiểm tra lại các trường được đánh dấu.')
    expect(answer.body.error?.fields).toEqual({
      disk: 'Dung lượng ổ cứng tối thiếu là 10GB!',
      password: 'Mật khẩu phải chứa ít nhất 8 kí tự bao gồm chữ , số và kí tự đặc biệt !',
      replicate: 'Ít nhất 1.',
    })
  })

  test('is not taken without signing in, nor as bad JSON, nor as a list', async () => {
    expect((await portal.call('POST', '/api/wp', { body: order })).status).toBe(401)
    expect((await place(an, '{')).body.error?.code).toBe('bad_json')
    expect((await place(an, [order])).status).toBe(422)
  })
})

describe('an order', () => {
  test.each([
    // size, disk, MariaDB disk, containers; plan + disk + plan × containers in đồng
    [1, 10_240, 10_240, 1, 218_000],
    [2, 20_480, 10_240, 3, 149_000 + 80_000 + 149_000 * 3],
    [3, 40_960, 200_000, 4, 489_000 + 160_000 + 489_000 * 4],
    [1, 10_240, 10_240, 50, 89_000 + 40_000 + 89_000 * 50],
    // A part of a GB is charged, rounded up to the next đồng.
    [1, 10_241, 10_240, 1, 178_000 + 40_004],
    [1, 200_000, 10_240, 1, 178_000 + 781_250],
  ])(
    'of plan %i, %i MB, %i MB and %i containers costs what the formula says',
    async (size, disk, mariadb, replicate, price) => {
      const an = await portal.customer()
      const placed = await place(an, {
        ...order,
        size,
        disk,
        mariadb_disk_size: mariadb,
        replicate,
      })
      expect(placed.status).toBe(201)
      const shown = (await one(an, placed.body.result.id)).body.result
      expect(shown).toMatchObject({
        price,
        currency: 'VND',
        invoice: { amount_due: price, amount_paid: 0, status: 'open' },
      })
    },
  )

  test('is not placed at another price than the one that was shown', async () => {
    const an = await portal.customer()
    const refused = await place(an, { ...order, total: 217_999 }, 'vi')
    expect(refused.status).toBe(409)
    expect(refused.body).toMatchObject({
      error: { code: 'conflict' },
      message: expect.stringMatching(/218\.000.*Chưa có gì được thực hiện/) as unknown,
    })
    expect(await list(an)).toEqual([])
    expect((await place(an, { ...order, total: 218_000 })).status).toBe(201)
  })

  test('in Australia is priced in cents', async () => {
    const sam = await portal.customer({ region: 'AUD' })
    const { id } = (await place(sam, order)).body.result
    expect((await one(sam, id)).body.result).toMatchObject({
      price: 590 + 260 + 590,
      currency: 'AUD',
      invoice: { number: null, status: 'open' },
    })
  })

  test('is shown to its owner only, with exactly the fields of the contract', async () => {
    const [an, binh] = [await portal.customer(), await portal.customer()]
    const { id } = (await place(an, order)).body.result
    const shown = (await one(an, id)).body.result
    expect(Object.keys(shown).toSorted()).toEqual(Object.keys(Server.shape).toSorted())
    expect(shown).toMatchObject({
      id,
      status: 'pending_payment',
      reason: null,
      name: expect.stringMatching(/^[a-z]+-[a-z]+-\d{4}$/),
      cpu: 1,
      ram: 1000,
      disk: 10_240,
      mariadb_disk_size: 10_240,
      replicate: 1,
      size: 1,
      domains: [],
      configs: { region: { id: 1, name: 'Hà Nội' } },
      renewsAt: null,
    })
    expect(shown['domain']).toBe(`${String(shown['name'])}.localhost:${portal.config.SITES_PORT}`)
    expect(await list(an)).toEqual([shown])
    expect(JSON.stringify(shown)).not.toContain(order.password)
    expect(await list(binh)).toEqual([])
    for (const wrong of [id, id.slice(1), 'x', '%00', '00000000-0000-4000-8000-000000000000']) {
      const answer = await one(binh, wrong)
      expect([wrong, answer.status, answer.body.error?.code]).toEqual([wrong, 404, 'not_found'])
    }
    expect((await portal.call('GET', `/api/wp/${id}/log`, { token: binh.token })).status).toBe(404)
  })

  test('waits for its money, and keeps the password sealed meanwhile', async () => {
    const an = await portal.customer()
    await portal.topUp(an, 217_999)
    const { id } = (await place(an, order)).body.result
    await eventually('the failed payment', async () =>
      (await portal.call('GET', '/api/notifications', { token: an.token })).text.includes(
        'invoice.payment_failed',
      ),
    )
    expect((await one(an, id)).body.result.status).toBe('pending_payment')
    expect(await entries(an)).toEqual(['217999 → 217999'])
    const row = await portal.app.db
      .selectFrom('site')
      .selectAll()
      .where('id', '=', id)
      .executeTakeFirstOrThrow()
    expect(row.admin_password_sealed?.toString('latin1')).not.toContain(order.password)
    const { rows } =
      await sql`select id from pgboss.job where data::text like ${`%${order.password}%`}`.execute(
        portal.app.db,
      )
    expect(rows).toEqual([])
  })

  test('sent ten times under one Idempotency-Key is one order', async () => {
    const an = await portal.customer()
    const headers = { 'idempotency-key': randomUUID() }
    const answers = await eightAtATime(10, () =>
      portal.call<{ id: string }>('POST', '/api/wp', { token: an.token, body: order, headers }),
    )
    expect(
      new Set(answers.filter(({ status }) => status === 201).map(({ text }) => text)).size,
    ).toBe(1)
    expect(answers.every(({ status }) => status === 201 || status === 409)).toBe(true)
    expect(await list(an)).toHaveLength(1)
  })

  test(
    'two hundred, eight at once, with money for one: one is paid, five wait, none is below zero',
    { timeout: 120_000 },
    async () => {
      const an = await portal.customer()
      await portal.topUp(an, 218_000 + 217_999)
      const answers = await eightAtATime(200, () => place(an, order))
      const taken = answers.filter(({ status }) => status === 201)
      const refused = answers.filter(({ status }) => status === 429)
      expect([taken.length, refused.length]).toEqual([6, 194])
      expect(refused[0]?.body).toMatchObject({
        message: 'You have five unpaid orders. Pay or delete one of them first.',
        error: { code: 'rate_limited' },
      })
      const week = 7 * 86_400
      const retryAfter = Number(refused[0]?.headers.get('retry-after'))
      expect(retryAfter > week - 300 && retryAfter <= week).toBe(true)
      const paid = async () =>
        await portal.app.db
          .selectFrom('invoice')
          .select(['id', 'status'])
          .where('customer_id', '=', an.id)
          .execute()
      // Each invoice was tried: it is paid, or the customer was told that it could not be.
      await eventually(
        'every invoice being tried',
        async () => {
          const tried = await portal.app.db
            .selectFrom('notification')
            .select('payload')
            .where('customer_id', '=', an.id)
            .where('event', 'in', ['invoice.paid', 'invoice.payment_failed'])
            .execute()
          return (
            new Set(tried.map(({ payload }) => (payload as { payment: { id: string } }).payment.id))
              .size === 6
          )
        },
        90,
      )
      const statuses = (await paid()).map(({ status }) => status)
      expect(statuses.filter((status) => status === 'paid')).toHaveLength(1)
      expect(statuses.filter((status) => status === 'open')).toHaveLength(5)
      expect(await entries(an)).toEqual(['435999 → 435999', '-218000 → 217999'])
      const numbers = (
        await portal.app.db.selectFrom('invoice').select('number').orderBy('number').execute()
      ).flatMap(({ number }) => (number?.startsWith('VN-') ? [Number(number.slice(8))] : []))
      expect(numbers).toEqual(numbers.map((_, index) => index + 1))
      await portal.ledgerHolds()
    },
  )

  test('twenty in an hour, paid or not: the next one is refused and changes nothing', async () => {
    const an = await portal.customer()
    for (let n = 0; n < 20; n++) {
      const { status, body } = await place(an, order)
      expect(status).toBe(201)
      await portal.call('DELETE', `/api/wp/${body.result.id}`, { token: an.token })
    }
    const refused = await place(an, order)
    expect([refused.status, refused.body.error?.code]).toEqual([429, 'rate_limited'])
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(3000)
    const { n } = await portal.app.db
      .selectFrom('site')
      .select((eb) => eb.fn.countAll<bigint>().as('n'))
      .where('customer_id', '=', an.id)
      .executeTakeFirstOrThrow()
    expect(n).toBe(20n)
  })
})
