/** The desk's search: which words find what, and how few rows it reads. */
import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Hit } from '../../contract/operator-desk.ts'
import { payers } from '../../test/payers.ts'
import { openTestPortal, type TestCustomer, type TestPortal } from '../../test/portal.ts'
import { newMember, type TestMember } from '../../test/staff.ts'

let portal: TestPortal
let support: TestMember
beforeAll(async () => {
  portal = await openTestPortal()
  support = await newMember(portal, 'support')
})
afterAll(() => portal.close())

describe('the search', () => {
  const find = async (q: string): Promise<Hit[]> => {
    const answer = await support.call<Hit[]>(
      'GET',
      `/api/operator/search?q=${encodeURIComponent(q)}`,
    )
    if (answer.status !== 200) throw new Error(answer.text)
    return answer.body.result
  }
  let an: TestCustomer
  beforeAll(async () => {
    an = await portal.customer()
    await portal.app.db
      .updateTable('customer')
      .set({ name: 'Đặng Thị Ánh-Nguyệt', phone: '+84987654321' })
      .where('id', '=', an.id)
      .execute()
  })
  const isFound = (hits: Hit[]): boolean => hits.some(({ customer }) => customer?.id === an.id)

  test.each([
    'dang thi',
    'ĐẶNG ánh',
    'nguyệt đặng anh',
    '0987654321',
    '0987 654',
    '+84 987.654.321',
    '84987654321',
  ])('finds a customer by %s', async (q) => {
    expect(isFound(await find(q))).toBe(true)
  })

  test('finds a customer by e-mail in any case, its domain, and the id', async () => {
    expect(isFound(await find(an.email.toUpperCase()))).toBe(true)
    expect(isFound(await find(an.email.slice(0, 12)))).toBe(true)
    expect(isFound(await find(an.id))).toBe(true)
    expect((await find('example.vn')).every(({ kind }) => kind === 'customer')).toBe(true)
  })

  test('finds by domain, transaction code and invoice, and nothing by signs', async () => {
    const { transactionCode } = await portal.topUp(an, 100_000)
    expect(await find(transactionCode.toLowerCase())).toMatchObject([
      { kind: 'payment', customer: { id: an.id }, text: transactionCode },
    ])
    await portal.call('POST', '/api/dns', { token: an.token, body: { name: 'tìm-kiếm.vn' } })
    expect(await find('tìm-kiếm.vn')).toMatchObject([
      { kind: 'domain', customer: { id: an.id }, text: 'tìm-kiếm.vn' },
    ])
    for (const q of [
      "'; drop table customer; --",
      '%%',
      '__',
      '\\\\',
      "''",
      ':*',
      '!!',
      '((',
      '&|',
    ])
      expect(Array.isArray(await find(q))).toBe(true)
    expect((await support.call('GET', '/api/operator/search?q=a')).status).toBe(422)
  })

  test('finds a transfer by what the bank called it, with the account or without', async () => {
    const binh = await portal.customer()
    const begun = await payers['bank (SePay)']?.begin(portal, binh)
    await begun?.pay()
    const { provider_transaction_id: id } = await portal.app.db
      .selectFrom('payment')
      .select('provider_transaction_id')
      .where('code', '=', begun?.code ?? '')
      .executeTakeFirstOrThrow()
    const [account, reference] = (id ?? '').split(':')
    expect(account).toBe(portal.keysOf('bank')['accountNumber'])
    for (const typed of [id ?? '', reference ?? ''])
      expect(await find(typed)).toMatchObject([
        { kind: 'bank_reference', customer: { id: binh.id }, text: id },
      ])
  })

  test('reads no whole table among thousands of customers', async () => {
    await sql`
      insert into customer (id, email, phone, name, password_hash, region_code, active, created_at)
      select gen_random_uuid(), 'bulk' || n || '@bulk.example', '+8490' || lpad(n::text, 7, '0'),
        (array['Nguyễn', 'Trần', 'Lê'])[1 + n % 3] || ' Văn ' || n, 'x', 'VN', true, now()
      from generate_series(1, 5000) n`.execute(portal.app.db)
    await sql`analyze customer`.execute(portal.app.db)
    const plans: string[] = []
    const queries = [
      `select id from customer
        where customer_search_terms(name, email, phone) @@ '''bulk42'':*'::tsquery limit 20`,
      `select id from customer
        where customer_search_terms(name, email, phone) @@ '''nguyen'':* & ''van'':*'::tsquery
        limit 20`,
      `select customer_id from dns_zone where name like 'shop%' and deleted_at is null limit 20`,
      `select site_id from host where name like 'shop%' limit 20`,
      `select id from message where recipient in ('a@x.vn', '+84900') order by created_at desc
        limit 10`,
      `select id from payment where driver in ('vnpay') and provider_transaction_id = 'x' limit 20`,
      `select id from payment where code in ('x', 'X')`,
      `select id from invoice where number = 'X'`,
      `select id from payment_suspense where driver in ('vnpay') and provider_transaction_id = 'x'`,
      `select * from operator_act where customer_id = '${an.id}' order by seq desc limit 21`,
    ]
    await portal.app.db.transaction().execute(async (tx) => {
      await sql`set local enable_seqscan = off`.execute(tx)
      for (const query of queries) {
        const { rows } = await sql.raw<{ 'QUERY PLAN': string }>(`explain ${query}`).execute(tx)
        plans.push(rows.map((row) => row['QUERY PLAN']).join('\n'))
      }
    })
    for (const plan of plans) expect(plan).not.toContain('Seq Scan')
    expect(plans[0]).toContain('customer_search')
    const found = await find('bulk4242')
    expect(found.map(({ text }) => text)).toEqual(['bulk4242@bulk.example'])
    expect(await find('nguyen van')).toHaveLength(20)
  })
})
