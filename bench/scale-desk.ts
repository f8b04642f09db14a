/** The desk's search box and a customer's page, queried for one customer after another. */
import pg from 'pg'
import { search } from '../server/operator/search.ts'
import { storyOf } from '../server/operator/story.ts'
import type { PaymentDriver } from '../server/payments/index.ts'
import type { Clock } from '../server/platform/clock.ts'
import type { Database } from '../server/platform/db.ts'
import type { Ledger } from '../server/wallet/index.ts'
import { idOf, kinds, type Size } from './scale-data.ts'
import type { Table } from './scale-measure.ts'

const times = 200
const searchMs = 200
const pageMs = 300

/** Two fifths have the most frequent one, as in Vietnam. */
const families = ['Nguyễn', 'Trần', 'Lê', 'Phạm', 'Hoàng', 'Phan', 'Vũ', 'Đặng', 'Bùi']
const middles = ['Văn', 'Thị', 'Minh', 'Quốc', 'Thanh', 'Ngọc', 'Hữu']
const given = ['An', 'Bình', 'Châu', 'Dũng', 'Giang', 'Hải', 'Khánh', 'Lan', 'Mai', 'Nam', 'Oanh']
const quoted = (words: readonly string[]): string =>
  `array[${words.map((word) => `'${word}'`).join(', ')}]`

/** Gives every customer a name, once: a search by name would mean nothing if all had the same. */
async function nameAll(adminUrl: string): Promise<void> {
  const admin = new pg.Client({ connectionString: adminUrl })
  await admin.connect()
  try {
    const { rows } = await admin.query("select from customer where name = 'c' limit 1")
    if (rows.length === 0) return
    await admin.query('set session_replication_role = replica; set synchronous_commit = off')
    await admin.query(`
      update customer set name = concat_ws(' ',
        (${quoted(families)})[
          case when seq % 5 < 2 then 1 else 2 + seq % ${families.length - 1} end],
        (${quoted(middles)})[1 + seq / 5 % ${middles.length}],
        (${quoted(given)})[1 + seq / 35 % ${given.length}])
      from (select id as of, row_number() over () as seq from customer) numbered
      where id = of and name = 'c'`)
    await admin.query('vacuum analyze customer')
  } finally {
    await admin.end()
  }
}

export async function measureDesk(parts: {
  readonly db: Database
  readonly clock: Clock
  readonly ledger: Ledger
  readonly adminUrl: string
  readonly size: Size
  readonly table: Table
}): Promise<void> {
  const { db, clock, ledger, adminUrl, size, table } = parts
  await nameAll(adminUrl)
  // The driver is empty: it cannot recognise its own references, but the gateway's index is
  // searched anyway.
  const drivers = new Map([['vnpay', {} as PaymentDriver]])
  const needs = { db, drivers, addressing: { host: 'sites.example' } }
  /** Another customer each time. */
  const someone = (n: number, of: number): number => 1 + ((n * 7919 + 13) % of)
  const oneOf = (words: readonly string[], n: number): string => words[n % words.length] ?? ''

  table.section("The desk's box to search")
  const questions: Record<string, (n: number) => string> = {
    'an e-mail address': (n) => `c${someone(n, size.customers)}@example.vn`,
    'the beginning of one': (n) => `c${someone(n, size.customers)}`,
    'a phone number': (n) => `+841${someone(n, size.customers)}`,
    'a domain': (n) => `d${someone(n, size.customers)}.vn`,
    'a server': (n) => `site-${someone(n, size.servers)}`,
    'an invoice': (n) => `VN-2026-${someone(n, size.customers * 5)}`,
    'a transaction code': (n) => `P${someone(n, size.customers * 5)}`,
    'a bank reference': (n) => `tx${someone(n, size.customers * 5)}`,
    'three words of a name': (n) => `${oneOf(families, n)} ${oneOf(middles, n)} ${oneOf(given, n)}`,
    'two words without accents': (n) => `nguyen ${oneOf(['lan', 'mai', 'nam'], n)}`,
    'a word that two fifths have': () => 'nguyen',
    'what nobody has': (n) => `nobody${n}@example.vn`,
  }
  for (const [name, textOf] of Object.entries(questions))
    await table.ask(`search: ${name}`, {
      times,
      limitMs: searchMs,
      question: (n) => search(needs, textOf(n)),
    })

  table.section("A customer's page at the desk")
  const story = (n: number) =>
    storyOf({ db, clock, ledger, drivers }, idOf(kinds.customer, n), 'vi')
  await table.ask('customers, one after another', {
    times,
    limitMs: pageMs,
    question: (n) => story(someone(n, size.customers)),
  })
  await table.ask('who has the most entries', {
    times,
    limitMs: pageMs,
    question: (n) => story(2 + (n % 1_000)),
  })
  await table.ask('who has 100,000 of everything', {
    times,
    limitMs: pageMs,
    question: () => story(1),
  })
}
