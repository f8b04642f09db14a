/**
 * The provable wallet, as its owner and a stranger meet it: list, search, export, explanation, and
 * the signed statement with its verifier.
 */
import { spawnSync } from 'node:child_process'
import { createHash, generateKeyPairSync, randomUUID, sign } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import fc from 'fast-check'
import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type {
  ExplainedTransaction,
  StatementEntry,
  StatementHead,
} from '../../contract/wallet-proof.ts'
import type { Transaction } from '../../contract/wallet.ts'
import { Refused, verifyStatement } from '../../scripts/verify-statement.mjs'
import {
  eventually,
  openTestPortal,
  type TestCustomer,
  type TestPortal,
} from '../../test/portal.ts'
import { transaction } from '../platform/db.ts'

type Statement = StatementHead & { signature: string; entries: StatementEntry[] }

let portal: TestPortal
/** Topped up, ordered a server that was paid, and has entries of several kinds. */
let an: TestCustomer
let other: TestCustomer
let code: string
const folder = mkdtempSync(path.join(os.tmpdir(), 'portal-statement-'))

const list = async (query: string, customer = an) => {
  const answer = await portal.call<Transaction[]>('GET', `/api/payments/stripe${query}`, {
    token: customer.token,
  })
  return { ...answer, items: answer.body.result }
}
const statement = (query = '', headers: Record<string, string> = {}, customer = an) =>
  portal.call<Statement>('GET', `/api/payments/stripe/statement${query}`, {
    token: customer.token,
    headers,
  })

beforeAll(async () => {
  portal = await openTestPortal()
  ;[an, other] = [await portal.customer(), await portal.customer()]
  code = (await portal.topUp(an, 900_000)).transactionCode
  await eventually(
    'the money',
    async () => (await portal.app.ledger.balanceOf(portal.app.db, an.id)).balance === 900_000n,
  )
  const order = {
    size: 1,
    region: 1,
    disk: 10_300,
    mariadb_disk_size: 10_240,
    user: 'binh',
    password: 'Another#1pass',
    replicate: 1,
  }
  await portal.call('POST', '/api/wp', { token: an.token, body: order })
  await eventually('the charge', async () => (await list('?direction=out')).items.length === 1)
  await transaction(portal.app.db, async (tx) => {
    const of = { customerId: an.id, product: 'wordpress', currency: 'VND' as const }
    await portal.app.ledger.charge(tx, {
      ...of,
      key: 'odd|words',
      amount: 7n,
      details: { subject: '=cmd("x"), “đ” \n|topup|{}' },
    })
    await portal.app.ledger.refund(tx, {
      ...of,
      key: 'back',
      amount: 7n,
      details: { invoice: 'VN-2020-000009', reason: 'no' },
    })
  })
}, 120_000)
afterAll(async () => {
  await portal?.close()
  rmSync(folder, { recursive: true, force: true })
})

describe('the list', () => {
  test.each([
    ['NAP VI', ['+']],
    ['nạp ví', ['+']],
    ['vnpay', ['+']],
    ['hoan tien', ['+']],
    ['VN-2020-000009', ['+']],
    ['vn-2020-000009', ['+']],
    ['2020-00', ['+']],
    ['payment (vn', ['-']],
    ['no such words', []],
    ['%', []],
  ])('finds %s', async (search, signs) => {
    const { items } = await list(`?search=${encodeURIComponent(search)}`)
    expect(items.map(({ amount }) => (amount > 0 ? '+' : '-'))).toEqual(signs)
  })

  test('finds a transaction code, whole or in part, and nobody else finds it', async () => {
    expect((await list(`?search=${code}`)).items.map(({ amount }) => amount)).toEqual([900_000])
    expect(
      (await list(`?search=${code.slice(2, 12).toLowerCase()}`)).items.map(({ amount }) => amount),
    ).toEqual([900_000])
    expect((await list(`?search=${code}`, other)).items).toEqual([])
  })

  test('filters by time and direction together', async () => {
    const everything = (await list('')).items
    expect(everything).toHaveLength(4)
    expect((await list('?from=2020-01-01&to=2020-12-31')).items).toEqual([])
    expect((await list('?from=2020-01-01')).items).toEqual(everything)
    expect((await list('?from=2020-01-01T00:00:00Z&direction=out')).items).toEqual(
      everything.filter(({ amount }) => amount < 0),
    )
    expect((await list('?to=2020-01-01')).items).toEqual([])
  })

  test.each([
    '?from=yesterday',
    '?from=2026-02-30',
    '?to=2026-13-01',
    '?from=2026-02-01&to=2026-01-01',
    '?direction=up',
    '?from=%00',
  ])('refuses %s', async (query) => {
    expect((await list(query)).status).toBe(422)
  })

  test('a search in a long wallet goes on where it stopped, finds each entry once', async () => {
    const many = await portal.customer()
    await sql`
      select count(*) from generate_series(1, 2500) n, lateral ledger_post('long:' || n, 'topup',
        jsonb_build_object('provider', case when n % 1000 = 7 then 'Rare' else 'Bank' end, 'code',
        'C' || n), now(),
        array[${`wallet:${many.id}`}, 'gateway:vnpay:VND'], array[n, -n]::bigint[])
    `.execute(portal.app.db)
    const found: number[] = []
    let cursor = ''
    let calls = 0
    do {
      const page = await list(`?search=rare&limit=10${cursor}`, many)
      found.push(...page.items.map(({ amount }) => amount))
      const next = page.body.page?.next ?? null
      cursor = next === null ? '' : `&cursor=${next}`
      calls += 1
    } while (cursor !== '')
    expect(found).toEqual([2007, 1007, 7])
    expect(calls).toBeLessThanOrEqual(7)
    expect((await list('?search=c1', many)).items).toHaveLength(50)
  })
})

test('the newest version before any moment is found, however the entries lie in time', async () => {
  const { db } = portal.app
  await fc.assert(
    fc.asyncProperty(
      // Seconds between entries: zero, a few, or years.
      fc.array(fc.oneof(fc.constant(0), fc.nat(5), fc.nat(100_000_000)), { maxLength: 40 }),
      fc.array(fc.double({ min: -0.1, max: 1.1, noNaN: true }), { minLength: 5, maxLength: 5 }),
      async (gaps, places) => {
        const start = Date.UTC(2020, 0, 1)
        const times = gaps.map(
          (_, index) => start + gaps.slice(0, index + 1).reduce((sum, gap) => sum + gap, 0) * 1000,
        )
        const [code, counter] = [`time:${randomUUID()}`, `time:${randomUUID()}`]
        const { id } = await db
          .insertInto('ledger_account')
          .values(
            [code, counter].map((one) => ({ code: one, currency: 'VND', may_be_negative: true })),
          )
          .returning('id')
          .executeTakeFirstOrThrow()
        for (const time of times)
          await sql`select * from ledger_post(${randomUUID()}, 'suspense', '{}', ${new Date(time)},
            ${[code, counter]}::text[], ${['1', '-1']}::bigint[])`.execute(db)
        const span = (times.at(-1) ?? start) - start + 1000
        for (const moment of [
          ...times,
          ...places.map((place) => start + Math.round(place * span)),
        ]) {
          const { rows } = await sql<{
            version: bigint
          }>`select ledger_version_before(${id}, ${new Date(moment)}) as version`.execute(db)
          expect(Number(rows[0]?.version)).toBe(times.filter((time) => time < moment).length)
        }
      },
    ),
    { numRuns: 40 },
  )
}, 120_000)

describe('the export', () => {
  test('holds every entry of the filter, safe to open in a spreadsheet', async () => {
    const answer = await portal.call('GET', '/api/payments/stripe/export?direction=out', {
      token: an.token,
      headers: { 'accept-language': 'vi' },
    })
    expect(answer.headers.get('content-type')).toBe('text/csv; charset=utf-8')
    expect(answer.headers.get('content-disposition')).toMatch(
      /^attachment; filename="transactions-\d{4}-\d\d-\d\d\.csv"$/,
    )
    const bytes = new Uint8Array(
      await (
        await fetch(`${portal.url}/api/payments/stripe/export`, {
          headers: { authorization: `Bearer ${an.token}` },
        })
      ).arrayBuffer(),
    )
    expect(Array.from(bytes.slice(0, 3))).toEqual([0xef, 0xbb, 0xbf])
    const lines = answer.text.replace('\uFEFF', '').trimEnd().split('\r\n')
    expect(lines[0]).toBe('#,Nội dung,Số tiền,Tiền tệ,Số dư sau giao dịch,Thời gian (UTC)')
    expect(lines).toHaveLength(3)
    expect(lines[1]).toMatch(
      new RegExp(
        /^1,"Thanh toán · =cmd\(""x""\), “đ” \n\|topup\|\{\}",-7,VND,\d+,/.source +
          /\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/.source,
      ),
    )
  })

  test('needs its owner', async () => {
    expect((await portal.call('GET', '/api/payments/stripe/export')).status).toBe(401)
    expect(
      (await portal.call('GET', '/api/payments/stripe/export?from=x', { token: an.token })).status,
    ).toBe(422)
  })
})

describe('an entry explained', () => {
  const explain = (id: string, customer = an) =>
    portal.call<ExplainedTransaction>('GET', `/api/payments/stripe/transactions/${id}`, {
      token: customer.token,
    })

  test('a charge names every input, and the sum recomputed is what was charged', async () => {
    const charge = (await list('?search=payment')).items.at(-1)
    const { result } = (await explain(charge?.id ?? '')).body
    const [line] = result.invoice?.lines ?? []
    expect(result).toMatchObject({
      kind: 'charge',
      amount: charge?.amount,
      topup: null,
      opening_balance: 900_000,
    })
    expect(line?.basis).toMatchObject({
      disk: 10_300,
      mariadb_disk_size: 10_240,
      replicate: 1,
      disk_per_gb: 4000,
    })
    expect(line?.basis?.seconds).toBe(
      Math.round(
        (Date.parse(line?.period_end ?? '') - Date.parse(line?.period_start ?? '')) / 1000,
      ),
    )
    expect(line?.steps.map(({ part }) => part)).toEqual([
      'plan',
      'disk',
      'mariadb_disk',
      'containers',
    ])
    // 10 300 MB at 4 000 a GB are 40 234.375: to the next đồng.
    expect(line?.steps[1]).toEqual({
      part: 'disk',
      quantity: 10_300,
      unit_price: 4000,
      per: 1024,
      amount: 40_235,
      rounded_up: true,
      rounded_down: false,
    })
    expect(line?.steps.reduce((sum, { amount }) => sum + amount, 0)).toBe(-(charge?.amount ?? 0))
    expect(result.invoice).toMatchObject({
      total: -(charge?.amount ?? 0),
      recomputed: -(charge?.amount ?? 0),
    })
  })

  test('a top-up names its gateway, code and times', async () => {
    const topup = (await list('?search=vnpay')).items[0]
    const { result } = (await explain(topup?.id ?? '')).body
    expect(result.topup).toMatchObject({
      provider: 'VNPay',
      transactionCode: code,
      creditedAt: result.createdAt,
    })
    expect(Date.parse(result.topup?.begunAt ?? '')).toBeLessThanOrEqual(
      Date.parse(result.createdAt),
    )
    expect(result.chain).toMatchObject({
      version: 1,
      previous_hash: '',
      account: `wallet:${an.id}`,
    })
    expect(result.chain.hash).toMatch(/^[0-9a-f]{64}$/)
  })

  test("somebody else's, one that is not there and what is no id are all unknown", async () => {
    const mine = (await list('')).items[0]?.id ?? ''
    const answers = await Promise.all([
      explain(mine, other),
      ...['0', '999999999', '-1', '1e3', 'x', '%00', '9'.repeat(30)].map((id) => explain(id)),
    ])
    for (const { status, body } of answers)
      expect([status, body.error?.code]).toEqual([404, 'not_found'])
  })
})

describe('the statement', () => {
  test('comes as JSON in the envelope and as CSV, named, and both verify', async () => {
    const json = await statement()
    expect(json.status).toBe(200)
    expect(json.headers.get('content-disposition')).toMatch(/filename="statement-.*\.json"/)
    expect(json.body).toMatchObject({
      statusCode: 200,
      message: 'success',
      result: { opening_balance: 0, customer_name: 'Nguyễn Văn An' },
    })
    expect(json.body.result.entries.map(({ version }) => version)).toEqual([1, 2, 3, 4])
    for (const csv of [
      await statement('?format=csv'),
      await statement('', { accept: 'text/csv' }),
    ]) {
      expect(csv.headers.get('content-disposition')).toMatch(/filename="statement-.*\.csv"/)
      expect(verifyStatement(csv.text)).toMatchObject({ entries: 4 })
    }
    const { body } = await portal.call<{ fingerprint: string }>('GET', '/api/statement-key')
    expect(verifyStatement(json.text, body.result.fingerprint)).toMatchObject({
      entries: 4,
      fingerprint: body.result.fingerprint,
    })
    // Bare, and as other programs print it.
    expect(verifyStatement(JSON.stringify(json.body.result))).toMatchObject({ entries: 4 })
    expect(verifyStatement(JSON.stringify(json.body, null, 2))).toMatchObject({ entries: 4 })
  })

  test('of a part of the wallet opens with the balance and the hash before it', async () => {
    const { entries } = (await statement()).body.result
    const from = entries[2]?.createdAt.replace(/\d{3}Z$/, 'Z') ?? ''
    const { body, text } = await statement(`?from=${from}`)
    expect(body.result).toMatchObject({
      opening_version: 2,
      opening_balance: entries[1]?.ending_balance,
      opening_hash: entries[1]?.hash,
    })
    expect(verifyStatement(text)).toMatchObject({ entries: 2 })
    const before = await statement('?from=2020-01-01&to=2020-01-31')
    expect(before.body.result).toMatchObject({
      to: '2020-02-01T00:00:00.000Z',
      closing_balance: 0,
      entries: [],
    })
    expect(verifyStatement(before.text)).toMatchObject({ entries: 0 })
  })

  test.each([
    '?format=pdf',
    '?from=2999-01-01',
    '?from=2026-02-02&to=2026-02-01',
    '?from=x',
    '?to=2026-02-31',
  ])('refuses %s', async (query) => {
    expect((await statement(query)).status).toBe(422)
  })
  test('needs its owner', async () => {
    expect((await portal.call('GET', '/api/payments/stripe/statement')).status).toBe(401)
    expect((await statement('', {}, other)).body.result.entries).toEqual([])
  })

  test('of 12 000 entries is whole', async () => {
    const many = await portal.customer()
    for (let from = 1; from <= 12_000; from += 200)
      await sql`
        select count(*) from generate_series(${from}::int, ${from + 199}::int) n,
        lateral ledger_post('many:' || n, 'topup', '{"provider": "VNPay"}', now(),
          array[${`wallet:${many.id}`}, 'gateway:vnpay:VND'], array[n, -n]::bigint[])
      `.execute(portal.app.db)
    for (const format of ['json', 'csv'])
      expect(verifyStatement((await statement(`?format=${format}`, {}, many)).text)).toMatchObject({
        entries: 12_000,
      })
    const csv = await portal.call('GET', '/api/payments/stripe/export', { token: many.token })
    expect(csv.text.trimEnd().split('\r\n')).toHaveLength(12_001)
  })

  test.each(['json', 'csv', 'bare'])(
    'with any one character changed is refused: %s',
    async (format) => {
      const answer = await statement(`?format=${format === 'csv' ? 'csv' : 'json'}`)
      const source = format === 'bare' ? JSON.stringify(answer.body.result) : answer.text
      const characters = [...source]
      const changed = fc
        .tuple(
          fc.nat(characters.length - 1),
          fc.oneof(
            fc.constantFrom(...'0123456789 ,"\'\n\r-=@{}[]:\\aAfF+/'),
            fc.string({ unit: 'grapheme', minLength: 1, maxLength: 1 }),
          ),
        )
        .filter(([at, by]) => by !== '' && characters[at] !== by)
      fc.assert(
        fc.property(changed, ([at, by]) => {
          expect(() => verifyStatement(characters.with(at, by).join(''))).toThrow(Refused)
        }),
        { numRuns: 300 },
      )
      // Cut off anywhere.
      fc.assert(
        fc.property(fc.integer({ min: 0, max: characters.length - 1 }), (length) => {
          expect(() => verifyStatement(characters.slice(0, length).join(''))).toThrow(Refused)
        }),
        { numRuns: 300 },
      )
    },
  )

  test('with any one digit changed is refused', async () => {
    const characters = [...(await statement()).text]
    for (const [at, character] of characters.entries())
      if (/\d/.test(character))
        expect(
          () => verifyStatement(characters.with(at, String((Number(character) + 1) % 10)).join('')),
          `digit at ${at}`,
        ).toThrow(Refused)
  })

  test('says where: reordered, left out, cut off, added, or told twice', async () => {
    const { result } = (await statement()).body
    const said = (change: (copy: Statement) => void): string => {
      const copy = structuredClone(result)
      change(copy)
      try {
        verifyStatement(JSON.stringify(copy))
        return 'whole'
      } catch (error) {
        return (error as Error).message
      }
    }
    expect(said(() => undefined)).toBe('whole')
    expect(said(({ entries }) => entries.reverse())).toMatch(
      /^entry 1 \(version 4\) should have version 1/,
    )
    expect(said(({ entries }) => entries.splice(1, 1))).toMatch(
      /^entry 2 \(version 3\) should have version 2/,
    )
    expect(said(({ entries }) => entries.pop())).toMatch(/ends with version 3, but version 4/)
    expect(
      said(({ entries }) =>
        entries.push({
          ...(entries[3] as StatementEntry),
          version: 5,
          createdAt: entries[3]?.createdAt ?? '',
        }),
      ),
    ).toMatch(/^entry 5/)
    expect(said((copy) => (copy.closing_balance += 1))).toMatch(/signature does not fit the head/)
    expect(said(({ entries }) => ((entries[1] as StatementEntry).amount -= 1))).toMatch(
      /^entry 2 \(version 2\): the balance after it/,
    )
    expect(said(({ entries }) => ((entries[0] as StatementEntry).details = '{}'))).toMatch(
      /^entry 1 \(version 1\): its hash/,
    )
    expect(() =>
      verifyStatement(
        JSON.stringify(result).replace('"amount":900000', '"amount":900000,"amount":900000'),
      ),
    ).toThrow(/twice/)
    expect(() =>
      verifyStatement(JSON.stringify(result).replace('"amount":900000', '"amount":9e5')),
    ).toThrow(/writes a number/)
  })

  test("signed by somebody else it is consistent, but not with the portal's key", async () => {
    const { signature: _signature, entries, ...head } = (await statement()).body.result
    const { publicKey, privateKey } = generateKeyPairSync('ed25519')
    const der = publicKey.export({ format: 'der', type: 'spki' })
    const published = head.key_fingerprint
    const mine = {
      ...head,
      public_key: der.toString('base64'),
      key_fingerprint: createHash('sha256').update(der).digest('hex'),
    }
    const signature = sign(null, Buffer.from(JSON.stringify(mine)), privateKey).toString('base64')
    const forged = JSON.stringify({ ...mine, signature, entries })
    expect(verifyStatement(forged).fingerprint).not.toBe(published)
    expect(() => verifyStatement(forged, published)).toThrow(/signed with another key/)
  })

  test('the program says one sentence and ends with 0 or 1', async () => {
    const run = (...args: string[]) => {
      const { status, stdout } = spawnSync(
        process.execPath,
        ['scripts/verify-statement.mjs', ...args],
        { encoding: 'utf8' },
      )
      return { status, stdout }
    }
    const { text } = await statement('?format=csv')
    const { result } = (
      await portal.call<{ publicKey: string; fingerprint: string }>('GET', '/api/statement-key')
    ).body
    const [good, bad, pem] = ['good.csv', 'bad.csv', 'key.pem'].map((name) =>
      path.join(folder, name),
    ) as [string, string, string]
    writeFileSync(good, text)
    writeFileSync(bad, text.replace('900000', '900001'))
    writeFileSync(pem, result.publicKey)
    expect(run(good)).toMatchObject({
      status: 0,
      stdout: expect.stringMatching(/^Whole: 4 entries .*\n$/) as string,
    })
    expect(run(good, '--key', result.fingerprint)).toMatchObject({ status: 0 })
    expect(run('--key', pem, good)).toMatchObject({ status: 0 })
    expect(run(good, '--key', '0'.repeat(64))).toMatchObject({
      status: 1,
      stdout: expect.stringMatching(/^Refused: .*another key.*\n$/) as string,
    })
    expect(run(bad)).toMatchObject({
      status: 1,
      stdout: expect.stringMatching(/^Refused: [^\n]+\n$/) as string,
    })
    expect(run(path.join(folder, 'none'))).toMatchObject({ status: 1 })
  })
})
