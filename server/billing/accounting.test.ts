/**
 * Exports for accounting: over a year of generated orders, growth, renewals and cancellations their
 * sums are the ledger's.
 */
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { monthlyOf } from '../../contract/pricing.ts'
import { offerAt, openTestBilling, termsAt, type TestBilling } from '../../test/test-billing.ts'
import { days } from '../platform/clock.ts'
import { transaction } from '../platform/db.ts'
import { unitPrice } from './accounting-documents.ts'
import { accountingCsv, type ExportName } from './accounting.ts'
import { midnightOf, timeIn } from './period.ts'

const zone = 'Asia/Ho_Chi_Minh'
let billing: TestBilling
beforeAll(async () => {
  billing = await openTestBilling('2027-01-31T16:30:00Z', (catalog) => ({
    ...catalog,
    regions: { ...catalog.regions, VN: { ...catalog.regions.VN, tax: { name: 'VAT', rate: 800 } } },
  }))
})
afterAll(() => billing.close())

/** Parses CSV as a spreadsheet reads it. */
function readCsv(text: string): string[][] {
  const rows: string[][] = [[]]
  for (const [, quoted, plain = '', end] of text
    .replace('\uFEFF', '')
    .matchAll(/(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n)/g)) {
    rows.at(-1)?.push(quoted?.replaceAll('""', '"') ?? plain)
    if (end !== ',') rows.push([])
  }
  return rows.slice(0, -1)
}

/** Rows as objects by their columns' names. */
async function rowsOf(name: ExportName, from: string, to: string) {
  let text = ''
  for await (const chunk of accountingCsv({ db: billing.db, zone }, name, { from, to }))
    text += chunk
  const [head = [], ...rows] = readCsv(text)
  return rows.map((row) => Object.fromEntries(head.map((column, at) => [column, row[at] ?? ''])))
}
/** The sum of a column in minor units; the cells have major units with a point. */
const sumOf = (rows: readonly Record<string, string>[], column: string, currency: string): number =>
  rows
    .filter((row) => row['Currency'] === currency)
    .reduce((sum, row) => sum + minorOf(row[column] ?? '', currency), 0)
const minorOf = (text: string, currency: string): number =>
  Math.round(Number(text) * (currency === 'VND' ? 1 : 100))
/** The ledger's entries in a span, summed by account. */
async function ledgerOf(from: string, to: string): Promise<Map<string, number>> {
  const rows = await billing.db
    .selectFrom('ledger_entry as e')
    .innerJoin('ledger_account as a', 'a.id', 'e.account_id')
    .innerJoin('ledger_transfer as t', 't.id', 'e.transfer_id')
    .select(['a.code', (eb) => eb.fn.sum<bigint>('e.amount').as('sum')])
    .where('t.created_at', '>=', midnightOf(zone, from))
    .where('t.created_at', '<', midnightOf(zone, to))
    .groupBy('a.code')
    .execute()
  return new Map(rows.map(({ code, sum }) => [code, Number(sum)]))
}

const months = Array.from({ length: 13 }, (_, index) => {
  const [year, month] = [2027 + Math.floor((index + 1) / 12), ((index + 1) % 12) + 1]
  return `${year}-${String(month).padStart(2, '0')}-01`
})
const lastOf = (first: string): string =>
  new Date(midnightOf('UTC', first).getTime() - days(1)).toISOString().slice(0, 10)

describe('a year', () => {
  beforeAll(async () => {
    const acts = fc.sample(
      fc.record({
        act: fc.constantFrom('order', 'order', 'order', 'grow', 'grow', 'cancel', 'end', 'top_up'),
        at: fc.nat(20 * 86_400),
        region: fc.constantFrom('VN' as const, 'USD' as const, 'AUD' as const),
        gb: fc.integer({ min: 10, max: 60 }),
        who: fc.nat(30),
      }),
      { numRuns: 170, seed: 26 },
    )
    const customers: Awaited<ReturnType<TestBilling['customer']>>[] = []
    const running: { id: string; gb: number }[] = []
    const accepted = new Set<string>()
    for (const { act, at, region, gb, who } of acts) {
      billing.clock.advance(at * 200)
      await billing.bills.sweep()
      const one = running[who % Math.max(1, running.length)]
      if (act === 'order') {
        const customer = await billing.customer({ region, balance: 3_000_000n })
        customers.push(customer)
        const terms = termsAt(89_000, gb)
        const offer = offerAt(BigInt(monthlyOf(terms).total), terms)
        running.push({ id: await billing.order(customer, offer), gb })
      } else if (act === 'top_up') {
        const customer = customers[who % Math.max(1, customers.length)]
        if (customer) await billing.topUp(customer, 500_000n)
      } else if (one) {
        const terms = termsAt(89_000, one.gb + gb)
        const to = offerAt(BigInt(monthlyOf(terms).total), terms)
        // The call is refused if the subscription has ended or is unpaid: the simulated year
        // continues.
        await transaction(billing.db, async (tx) => {
          if (act === 'grow')
            await billing.bills.changePrice(tx, {
              subscriptionId: one.id,
              to,
              change: {},
              starts: null,
            })
          else await billing.bills.cancel(tx, one.id, act === 'end' ? 'period_end' : 'now')
        }).then(
          () => accepted.add(act),
          (error: unknown) => {
            if (!(error instanceof Error) || !('code' in error)) throw error
          },
        )
        if (act === 'grow') one.gb += gb
      }
    }
    billing.clock.advance(midnightOf(zone, '2028-03-01').getTime() - billing.clock.now().getTime())
    await billing.bills.sweep()
    expect([...accepted].toSorted()).toEqual(['cancel', 'end', 'grow'])
    await billing.ledgerHolds()
  })

  test('the journal has every entry once, balanced, and each account as the ledger', async () => {
    const all = await rowsOf('journal', '2027-01-01', '2028-02-28')
    expect(all.length).toBeGreaterThan(200)
    const { count } = await billing.db
      .selectFrom('ledger_entry')
      .select((eb) => eb.fn.countAll<bigint>().as('count'))
      .where('transfer_id', 'in', (eb) =>
        eb
          .selectFrom('ledger_transfer')
          .select('id')
          .where('created_at', '<', midnightOf(zone, '2028-02-29')),
      )
      .executeTakeFirstOrThrow()
    expect(all.length).toBe(Number(count))
    for (const [index, first] of months.slice(0, -1).entries()) {
      const next = months[index + 1] ?? ''
      const rows = await rowsOf('journal', first, lastOf(next))
      for (const currency of ['VND', 'USD', 'AUD'])
        expect(sumOf(rows, 'Debit', currency)).toBe(sumOf(rows, 'Credit', currency))
      const found = new Map<string, number>()
      for (const row of rows) {
        const [account = '', currency = ''] = [row['Account'], row['Currency']]
        const moved = minorOf(row['Credit'] ?? '', currency) - minorOf(row['Debit'] ?? '', currency)
        found.set(account, (found.get(account) ?? 0) + moved)
      }
      expect([first, found]).toEqual([first, await ledgerOf(first, next)])
    }
  })

  test('tax sums to what the revenue accounts took, and each document has its own', async () => {
    let credits = 0
    for (const [index, first] of months.slice(0, -1).entries()) {
      const next = months[index + 1] ?? ''
      const rows = await rowsOf('tax', first, lastOf(next))
      const ledger = await ledgerOf(first, next)
      for (const currency of ['VND', 'USD', 'AUD']) {
        const total = sumOf(rows, 'Total', currency)
        expect([first, total]).toEqual([first, ledger.get(`revenue:stand-in:${currency}`) ?? 0])
        expect(sumOf(rows, 'Net', currency) + sumOf(rows, 'Tax', currency)).toBe(total)
      }
      for (const row of rows) {
        expect(row['Document']).not.toBe('')
        const rate = Number(row['Rate %'])
        const contained = (minorOf(row['Total'] ?? '', 'AUD') * rate) / (100 + rate)
        // One rounding per line of the document.
        const unit = row['Currency'] === 'VND' ? 100 : 1
        expect(Math.abs(minorOf(row['Tax'] ?? '', 'AUD') - contained)).toBeLessThanOrEqual(3 * unit)
        if (row['Kind'] !== 'credit') continue
        expect(row['Corrects']).not.toBe('')
        credits += 1
      }
    }
    expect(credits).toBeGreaterThan(0)
  })

  test('the lines of documents sum to the tax of their month, and to each document', async () => {
    for (const [index, first] of months.slice(0, -1).entries()) {
      const next = months[index + 1] ?? ''
      const lines = await rowsOf('documents', first, lastOf(next))
      const tax = await rowsOf('tax', first, lastOf(next))
      for (const currency of ['VND', 'USD', 'AUD'])
        for (const column of ['Net', 'Tax', 'Total'])
          expect([first, column, sumOf(lines, column, currency)]).toEqual([
            first,
            column,
            sumOf(tax, column, currency),
          ])
      const of = Map.groupBy(lines, (row) => row['Document'])
      expect(of.size).toBe(tax.length)
      for (const row of tax) {
        const own = of.get(row['Document']) ?? []
        const currency = row['Currency'] ?? ''
        expect(sumOf(own, 'Total', currency)).toBe(minorOf(row['Total'] ?? '', currency))
        const { Date, Kind, Corrects, Buyer } = row
        for (const line of own) expect(line).toMatchObject({ Date, Kind, Corrects, Buyer })
      }
      for (const row of lines) {
        expect(row['Item']).toMatch(/^Một thứ/)
        expect(row['E-mail']).toMatch(/@example\.vn$/)
        const [net, quantity, unit] = ['Net', 'Quantity', 'Unit price before tax'].map((column) =>
          Number(row[column]),
        ) as [number, number, number]
        expect(quantity * unit).toBeCloseTo(net, 4)
        if (row['Kind'] === 'credit') expect(row['Corrects']).not.toBe('')
      }
    }
  })

  test('deferred revenue goes on from month to month, and is what the ledger holds', async () => {
    const rows = await rowsOf('deferred', '2027-01-01', '2028-02-29')
    expect(new Set(rows.map((row) => row['Currency'])).size).toBe(3)
    for (const currency of ['VND', 'USD', 'AUD']) {
      const own = rows.filter((row) => row['Currency'] === currency)
      const of = (row: Record<string, string>, column: string) =>
        minorOf(row[column] ?? '', currency)
      let [deferred, recognised] = [0, 0]
      for (const row of own) {
        const month = row['Month'] ?? ''
        expect([month, of(row, 'Deferred at start')]).toEqual([month, deferred])
        deferred = of(row, 'Deferred at end')
        recognised += of(row, 'Recognised')
        expect(deferred).toBeGreaterThanOrEqual(0)
        expect([month, recognised + deferred]).toEqual([month, of(row, 'Revenue account at end')])
      }
      const balance = await billing.db
        .selectFrom('ledger_account')
        .select('balance')
        .where('code', '=', `revenue:stand-in:${currency}`)
        .executeTakeFirstOrThrow()
      // March renews at its first midnight, which is not in the export.
      const march = await ledgerOf('2028-03-01', '2028-03-02')
      const later = march.get(`revenue:stand-in:${currency}`) ?? 0
      expect(recognised + deferred).toBe(Number(balance.balance) - later)
    }
  })
})

test('a month that was paid in full is earned by the day', async () => {
  billing.clock.advance(midnightOf(zone, '2028-06-16').getTime() - billing.clock.now().getTime())
  const customer = await billing.customer({ region: 'EURO', balance: 10_000n })
  await billing.order(customer, offerAt(3000n))
  // From 16 June to 16 July: fifteen of thirty days are June's.
  const june = await rowsOf('deferred', '2028-06-01', '2028-06-30')
  expect(june.filter((row) => row['Currency'] === 'EUR')).toMatchObject([
    {
      'Deferred at start': '0.00',
      Billed: '30.00',
      Recognised: '15.00',
      'Deferred at end': '15.00',
    },
  ])
})

test('a line has what an e-invoice is issued from; a credit note what it corrects', async () => {
  const buyer = {
    ...(await billing.customer({ balance: 400_000n })),
    company: 'Công ty TNHH "Một, Hai"',
    taxCode: '0312345678',
    address: '12 Lê Lợi, Quận 1, TP. Hồ Chí Minh',
  }
  const id = await billing.order(buyer, offerAt(216_000n))
  // Still the same day in Greenwich, but the next one in Vietnam.
  billing.clock.advance(midnightOf(zone, '2028-06-20').getTime() - billing.clock.now().getTime())
  await transaction(billing.db, (tx) => billing.bills.cancel(tx, id, 'now'))
  const rows = (await rowsOf('documents', '2028-06-16', '2028-06-20')).filter(
    (row) => row['Tax code'] === buyer.taxCode,
  )
  const party = {
    Buyer: buyer.company,
    Address: buyer.address,
    'Tax code': buyer.taxCode,
    'E-mail': buyer.email,
    Region: 'VN',
    'Tax name': 'VAT',
    'Rate %': '8.00',
    Currency: 'VND',
    Line: '1',
  }
  const [order, note] = rows
  expect(rows.length).toBe(2)
  expect(order).toMatchObject({
    ...party,
    Date: '2028-06-16',
    Kind: 'order',
    Corrects: '',
    Item: 'Một thứ',
    Quantity: '1',
    'Unit price before tax': '200000',
    Net: '200000',
    Tax: '16000',
    Total: '216000',
  })
  expect(note).toMatchObject({
    ...party,
    Date: '2028-06-20',
    Kind: 'credit',
    Corrects: order?.['Document'],
    Item: 'Một thứ: chưa dùng',
    Quantity: '-1',
  })
  expect(Number(note?.['Total'])).toBeLessThan(0)
  expect(Number(note?.['Unit price before tax'])).toBe(-Number(note?.['Net']))
})

test('a unit price that is not even has six decimals', () => {
  expect(unitPrice(200n, 2n, 'VND')).toBe('100')
  expect(unitPrice(-300n, -2n, 'AUD')).toBe('1.50')
  expect(unitPrice(200n, 3n, 'VND')).toBe('66.666667')
  expect(unitPrice(-100n, 3n, 'AUD')).toBe('-0.333333')
  expect(unitPrice(0n, 3n, 'EUR')).toBe('0.00')
})

test('what would be a formula in a spreadsheet is written as a text', async () => {
  const customer = await billing.customer({ balance: 1000n })
  await transaction(billing.db, (tx) =>
    billing.ledger.adjust(tx, {
      key: 'formula',
      customerId: customer.id,
      amount: 500n,
      currency: 'VND',
      details: { reason: '=HYPERLINK("http://evil.example";"a, b")' },
    }),
  )
  const day = timeIn(zone, billing.clock.now()).slice(0, 10)
  const reasons = (await rowsOf('journal', day, day)).map((row) => row['Reason'])
  expect(reasons.filter((text) => text?.includes('HYPERLINK'))).toEqual(
    Array.from({ length: 2 }, () => `'=HYPERLINK("http://evil.example";"a, b")`),
  )
})
