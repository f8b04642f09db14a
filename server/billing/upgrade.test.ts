/** Documents from before orders lapsed and credit notes had a series of their own stay readable. */
import { randomBytes, randomUUID } from 'node:crypto'
import { sql } from 'kysely'
import pg from 'pg'
import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import { connect, migrate, type Pool } from '../platform/db.ts'
import { thisRelease } from '../platform/migrations.ts'
import { createInvoiceLinks } from './links.ts'
import { invoiceByToken, presentAll } from './store.ts'

const name = `test_${randomBytes(6).toString('hex')}`
const url = inject('adminUrl').replace(/\/[^/?]+(\?|$)/, `/${name}$1`)
const links = createInvoiceLinks('', 'a secret of tests')
let pool: Pool

async function asAdmin(statement: string): Promise<void> {
  const admin = new pg.Client({ connectionString: inject('adminUrl') })
  await admin.connect()
  try {
    await admin.query(statement)
  } finally {
    await admin.end()
  }
}

beforeAll(async () => {
  await asAdmin(`create database ${name}`)
  pool = connect(url, 2, () => undefined)
  const { number, migrations } = await thisRelease()
  const early = migrations.filter(({ name: each }) => each <= '0035_installation')
  await migrate(url, { number, migrations: early })
})
afterAll(async () => {
  await pool.close()
  await asAdmin(`drop database if exists ${name} with (force)`)
})

test('open orders have a week, old credit notes name what they correct', async () => {
  const { db } = pool
  const [an, one, two] = [randomUUID(), randomUUID(), randomUUID()]
  const ids = { paid: randomUUID(), note: randomUUID(), zero: randomUUID(), open: randomUUID() }
  await sql`insert into customer (id, email, phone, name, password_hash, region_code, created_at)
    values (${an}, 'an@example.vn', '+84900000000', 'An', 'x', 'VN', now())`.execute(db)
  for (const [id, status] of [
    [one, 'ended'],
    [two, 'pending'],
  ])
    await sql`insert into subscription (id, customer_id, price, currency, status, product,
      region_code, anchor_at, months, period_start, period_end, next_at, description, created_at)
      values (${id}, ${an}, 100, 'VND', ${status}, 'wordpress', 'VN', now(), 1, now(),
      now() + interval '1 month', now() + interval '1 month', '{"en":"a","vi":"b"}',
      now())`.execute(db)
  const invoice = async (id: string, of: string, number: string, kind: string, total: number) => {
    const paid = kind === 'order' && of === two ? 0 : total
    const status = paid === total ? 'paid' : 'open'
    await sql`insert into invoice (id, number, token, customer_id, subscription_id, region_code,
      product, currency, total, amount_paid, status, buyer, seller, kind, tax_name, tax_rate,
      created_at)
      values (${id}, ${number}, ${`token-${number}`}, ${an}, ${of}, 'VN', 'wordpress', 'VND',
      ${total}, ${paid}, ${status}, '{"name":"An"}', '{"name":"S"}', ${kind}, '', 0,
      now())`.execute(db)
    await sql`insert into invoice_line (invoice_id, position, description_en, description_vi,
      quantity, unit_price, amount, tax)
      values (${id}, 0, 'a', 'b', 1, ${total}, ${total}, 0)`.execute(db)
  }
  await invoice(ids.paid, one, 'VN-2026-000001', 'order', 100)
  await invoice(ids.zero, one, 'VN-2026-000002', 'proration', 0)
  await invoice(ids.note, one, 'VN-2026-000003', 'credit', -40)
  await invoice(ids.open, two, 'VN-2026-000004', 'order', 100)
  await sql`update subscription set invoice_id = ${ids.open} where id = ${two}`.execute(db)
  await sql`insert into invoice_counter (year, region_code, last) values (2026, 'VN', 4)`.execute(
    db,
  )
  await sql`insert into notification (customer_id, event, payload, created_at)
    values (${an}, 'invoice.create',
    ${JSON.stringify({ payment: { id: ids.paid, hosted_invoice_url: 'token' }, wp: null })}::jsonb,
    now())`.execute(db)
  expect((await migrate(url)).length).toBeGreaterThan(3)
  const rows = await db.selectFrom('invoice').selectAll().orderBy('seq').execute()
  const shown = await presentAll(db, rows, links, 'en')
  expect(shown.map(({ number, status }) => [number, status])).toEqual([
    ['VN-2026-000001', 'paid'],
    ['VN-2026-000002', 'paid'],
    ['VN-2026-000003', 'paid'],
    ['VN-2026-000004', 'open'],
  ])
  expect(shown[2]?.corrects).toEqual({ id: ids.paid, number: 'VN-2026-000001' })
  const left = Date.parse(shown[3]?.lapsesAt ?? '') - Date.now()
  expect(Math.round(left / 86_400_000)).toBe(7)
  expect((await invoiceByToken(db, links, 'token-VN-2026-000001'))?.id).toBe(ids.paid)
  const { payload } = await db
    .selectFrom('notification')
    .select('payload')
    .executeTakeFirstOrThrow()
  expect(payload).toEqual({ payment: { id: ids.paid }, wp: null })
})
