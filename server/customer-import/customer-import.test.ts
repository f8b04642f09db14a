/** Customers of another panel: previewed, imported once with their balances, approved. */
import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { sql } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { ActOutcome } from '../../contract/operator-acts.ts'
import type { Hit } from '../../contract/operator-desk.ts'
import { deskOf } from '../../test/desk.ts'
import { jobsIdle } from '../../test/idle-jobs.ts'
import {
  idOf,
  importFile,
  importReason,
  importsOf,
  importUpload,
  previewFile,
} from '../../test/imports.ts'
import { runCommand } from '../../test/operator.ts'
import { eventually, openTestPortal, type TestPortal } from '../../test/portal.ts'
import { newMember, type TestMember } from '../../test/staff.ts'
import { days, later } from '../platform/clock.ts'
import { transaction } from '../platform/db.ts'

let portal: TestPortal
let finance: TestMember
let owner: TestMember
beforeAll(async () => {
  portal = await openTestPortal()
  finance = await newMember(portal, 'finance')
  owner = await newMember(portal, 'owner')
})
afterAll(() => portal.close())
const { balanceOf, storyOf } = deskOf(() => finance)

/** What an import writes. */
const written = async () => {
  const { db } = portal.app
  const count = async (table: 'customer' | 'ledger_transfer' | 'imported_customer' | 'message') =>
    (
      await db
        .selectFrom(table)
        .select((eb) => eb.fn.countAll<bigint>().as('n'))
        .executeTakeFirstOrThrow()
    ).n
  return {
    customers: await count('customer'),
    transfers: await count('ledger_transfer'),
    imported: await count('imported_customer'),
    letters: await count('message'),
  }
}
const idFor = async (email: string): Promise<string> => (await idOf(portal, email)) ?? 'nobody'

test('a preview counts, names and sums up, and creates nothing', async () => {
  const an = await portal.customer()
  const before = await written()
  const file =
    '\uFEFFemail;region;name;phone;language;balance;reference;Group\r\n' +
    'p1@example.vn;VN;"Lê; Minh";0912 000 001;vi;1.250.000;17;gold\r\n' +
    `p2@example.com;AUD;Kim;;;12,50;18;\r\n${an.email.toUpperCase()};VN;;;;99;;\r\n`
  const { body } = await previewFile(finance, file)
  expect(body.result).toEqual({
    upload: expect.any(String),
    rows: 3,
    accounts: 2,
    skipped: 1,
    skippedRows: [{ line: 4, email: an.email, text: 'An account has this e-mail address.' }],
    sums: [
      { currency: 'VND', accounts: 1, amount: 1_250_000 },
      { currency: 'AUD', accounts: 1, amount: 1250 },
    ],
    withoutPhone: 1,
    ignored: ['Group'],
    faults: [],
    badRows: 0,
    needsSecond: false,
  })
  expect(await written()).toEqual(before)
  expect(await importsOf(finance)).toEqual([])
  // Members without money neither preview nor import.
  const support = await newMember(portal, 'support')
  expect((await previewFile(support, file)).status).toBe(403)
  expect((await importUpload(support, body.result.upload ?? '')).status).toBe(403)
})

test('accounts and balances are made once; who has an account is left as they are', async () => {
  const an = await portal.customer()
  await portal.topUp(an, 50_000)
  const file =
    'ID,First Name,Last Name,Email,Phone Number,Currency,Credit,Status\n' +
    `7,An,Nguyen,${an.email},,VND,700000.00,Active\n` +
    '8,Binh,Tran,B1@Example.vn,+84.912000008,VND,"1,200,000.00",Active\n' +
    '9,Chi,Le,c1@example.com,,EUR,0.00,Active\n'
  const done = await importFile(portal, finance, file)
  expect(done).toMatchObject({ rows: 3, done: 3, created: 2, skipped: 1, written: 0, came: 0 })
  expect(done.doneAt).not.toBeNull()
  const binh = await idFor('b1@example.vn')
  const story = await storyOf(binh)
  expect(story).toMatchObject({
    name: 'Binh Tran',
    phone: '+84912000008',
    region: 'VN',
    active: true,
    imported: { reference: '8', cameAt: null },
  })
  expect(story.wallets[0]?.entries.map(({ text, amount }) => [text, amount])).toEqual([
    ['Balance brought over', 1_200_000],
  ])
  expect((await storyOf(await idFor('c1@example.com'))).phone).toBe('')
  expect(await balanceOf(await idFor('c1@example.com'))).toBe(0)
  // The one who was here is untouched.
  expect(await balanceOf(an.id)).toBe(50_000)
  expect(await storyOf(an.id)).toMatchObject({ name: 'Nguyễn Văn An', imported: null })
  expect((await portal.call('GET', '/api/v1/auth/me', { token: an.token })).status).toBe(200)

  // The file is kept no longer, the job may run again, and the same file adds nothing.
  const { db, jobs } = portal.app
  const { file: kept } = await db
    .selectFrom('customer_import')
    .select('file')
    .where('id', '=', done.id)
    .executeTakeFirstOrThrow()
  expect(kept).toBeNull()
  const before = await written()
  await transaction(db, (tx) => jobs.add(tx, 'import-customers', { importId: done.id }))
  expect((await importUpload(finance, done.id)).status).toBe(409)
  const again = await previewFile(finance, file)
  expect(again.body.result).toMatchObject({ upload: null, accounts: 0, skipped: 3 })
  await jobsIdle(db)
  expect(await written()).toEqual(before)
  await portal.ledgerHolds()

  // The desk finds them by the id that they had.
  const hits = await finance.call<Hit[]>('GET', '/api/operator/search?q=8x')
  expect(hits.body.result).toEqual([])
  await importFile(portal, finance, 'email,region,reference\nd1@example.vn,VN,WH-1009\n')
  const found = await finance.call<Hit[]>('GET', '/api/operator/search?q=wh-1009')
  expect(found.body.result).toMatchObject([
    { kind: 'reference', text: 'WH-1009', customer: { email: 'd1@example.vn' } },
  ])
})

test('a balance that was brought over is neither revenue nor a payment in the books', async () => {
  await importFile(portal, finance, 'email,region,balance\nbooks@example.vn,VN,300000\n')
  const id = await idFor('books@example.vn')
  // Two days around now, on any clock.
  const day = (in_: number) => later(new Date(), days(in_)).toISOString().slice(0, 10)
  const span = `from=${day(-2)}&to=${day(2)}`
  const journal = await finance.call('GET', `/api/operator/exports/journal?${span}`)
  const line = new RegExp(`,opening,wallet:${id},${id},,300000,VND,`)
  expect(journal.text).toMatch(line)
  expect(journal.text).toMatch(/,opening,opening:VND,,300000,,VND,/)
  const tax = await finance.call('GET', `/api/operator/exports/tax?${span}`)
  expect(tax.text).not.toContain(id)
  expect((await storyOf(id)).payments).toEqual([])
  await portal.ledgerHolds()
})

test('one bad row stops the whole file, and each is named by its line', async () => {
  const an = await portal.customer()
  const file = [
    'email,region,phone,balance,language,name',
    'good@example.vn,VN,,,,',
    'no address,VN,,,,',
    'a@example.vn,MARS,,,,',
    'b@example.vn,VN,12345,,,',
    `c@example.vn,VN,${an.phone},,,`,
    'd@example.vn,VN,,-5,,',
    'e@example.vn,VN,,12.50,,',
    'f@example.vn,VN,,,fr,',
    'GOOD@example.vn,VN,,,,',
    'g@example.vn,VN,0912000111,,,',
    'h@example.vn,VN,+84 912 000 111,,,',
    'i@example.com,USD,,1.234,,',
    '"j@example.vn",VN,,,,"two\nlines"',
    'k@example.vn,VN,,,,,,',
  ].join('\n')
  const { body } = await previewFile(finance, file)
  expect(body.result).toMatchObject({ upload: null, badRows: 11 })
  expect(body.result.faults.map(({ line, text }) => `${line} ${text}`)).toEqual([
    '3 This is no e-mail address.',
    '4 The region has to be one of VN, USD, EURO, AUD.',
    '5 The phone number cannot be read. Enter a mobile number, such as 0912 345 678.',
    '6 Another account has this phone number.',
    '7 A balance is never below zero: settle what this customer owes first.',
    '8 The balance is no clear amount in VND: write it as 1250000 or 1250.50.',
    '9 The language has to be en or vi.',
    '10 Line 2 has the same e-mail address.',
    '12 Line 11 has the same phone number.',
    '13 The balance is no clear amount in USD: write it as 1250000 or 1250.50.',
    '14 The name has to be one line of 100 characters at most.',
  ])
  expect(await idOf(portal, 'good@example.vn')).toBeUndefined()
  // Neither is there a way round the preview.
  const good = await previewFile(finance, 'email,region,phone\nl@example.vn,VN,0912000222\n')
  await importFile(portal, finance, 'email,region,phone\nm@example.vn,VN,0912000222\n')
  const late = await importUpload(finance, good.body.result.upload ?? '')
  expect([late.status, late.body.error?.fields]).toEqual([
    409,
    { upload: 'Line 2: Another account has this phone number.' },
  ])
  for (const broken of ['a,b\n1,2\n', 'email,region\n', '\n'])
    expect((await previewFile(finance, broken)).status).toBe(422)
})

test('a file that reads as something else than it says is no file of customers', async () => {
  // An amount with commas and without quotes would be 1 đồng, and its rest lost.
  const { body } = await previewFile(
    finance,
    'email,region,balance\nn1@example.vn,VN,1,200,000\nn2@example.vn,VN,5,\n',
  )
  expect(body.result).toMatchObject({
    upload: null,
    faults: [{ line: 2, text: expect.stringContaining('more cells than the header') }],
  })
  // A quote that is never closed swallows the rows after it.
  const open = 'email,region,notes\nn3@example.vn,VN,"5 inch\nn4@example.vn,VN,\n'
  const swallowed = await previewFile(finance, open)
  expect([swallowed.status, swallowed.body.error?.fields?.['file']]).toEqual([
    422,
    expect.stringContaining('quotation mark'),
  ])
  // Names of another encoding would be kept as they were misread.
  const misread = await previewFile(finance, 'email,region,name\nn5@example.vn,VN,Tr\uFFFDn\n')
  expect([misread.status, misread.body.error?.fields?.['file']]).toEqual([
    422,
    expect.stringContaining('UTF-8'),
  ])
})

test('nobody has a file read who may not send it', async () => {
  const send = (headers: Record<string, string>) =>
    fetch(`${portal.url}/api/operator/customer-imports/preview`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      // Whoever parses this says that it is no JSON.
      body: `{"file": "${'x'.repeat(1_000_000)}`,
    })
  expect((await send({})).status).toBe(401)
  const support = await newMember(portal, 'support')
  expect((await send(support.headers)).status).toBe(403)
  expect((await send(finance.headers)).status).toBe(400)
})

test('a quotation mark within a cell stops the file: it could move money', async () => {
  const { body } = await previewFile(
    finance,
    'email,currency,company,balance\n' +
      'q1@example.vn,VND,Shop 5" pipe,100\nq2@example.vn,VND,Shop 6" pipe,200\n' +
      'q3@example.vn,VND,"Shop" 7,300\nq4@example.vn,VND, "Shop ""8""" ,400\n',
  )
  expect(body.result).toMatchObject({ upload: null, rows: 3 })
  expect(body.result.faults).toEqual([
    { line: 2, text: expect.stringContaining('quotation mark') },
    { line: 4, text: expect.stringContaining('quotation mark') },
  ])
  const head = await previewFile(finance, 'email,na"me",region\nq5@example.vn,A,VN\n')
  expect(head.status).toBe(422)
})

test('two columns of money, or of addresses, are refused', async () => {
  for (const head of ['email,region,Credit,Balance', 'email,region,balance,balance']) {
    const two = await previewFile(finance, `${head}\nt1@example.vn,VN,5,70000\n`)
    expect([two.status, two.body.error?.fields?.['file']]).toEqual([
      422,
      expect.stringContaining('Several columns mean the same'),
    ])
  }
  const addresses = 'email,email address,region\nt2@example.vn,t3@example.vn,VN\n'
  expect((await previewFile(finance, addresses)).status).toBe(422)
})

test('above the limit a second member approves, also when it is cut into small files', async () => {
  const file = 'email,region,balance\nrich@example.vn,VN,"6.000.000"\n'
  const { body } = await previewFile(finance, file)
  expect(body.result.needsSecond).toBe(true)
  const upload = body.result.upload ?? ''
  const asked = (await importUpload(finance, upload, 'yes')).body.result
  expect(asked.state).toBe('proposed')
  expect(await idOf(portal, 'rich@example.vn')).toBeUndefined()
  const seen = await owner.call<{ after: object }>(
    'GET',
    `/api/operator/proposals/${asked.proposal}/preview`,
  )
  expect(seen.body.result).toMatchObject({
    refused: null,
    after: { accounts: 1, balances: { VND: 6_000_000 }, letters: 'yes' },
  })
  expect(
    (await owner.call('POST', `/api/operator/proposals/${asked.proposal}/approve`)).status,
  ).toBe(200)
  await jobsIdle(portal.app.db)
  expect(await balanceOf(await idFor('rich@example.vn'))).toBe(6_000_000)

  const other = await newMember(portal, 'finance')
  await importFile(portal, other, 'email,region,balance\ns1@example.vn,VN,3000000\n')
  const second = await previewFile(other, 'email,region,balance\ns2@example.vn,VN,3000000\n')
  expect(second.body.result.needsSecond).toBe(true)
  expect((await importUpload(other, second.body.result.upload ?? '')).body.result.state).toBe(
    'proposed',
  )
  // Accounts without money need nobody.
  await importFile(portal, other, 'email,region\ns3@example.vn,VN\n')
  // Letters to very many people do, now or later.
  const many = Array.from({ length: 501 }, (_, n) => `post${n}@example.vn,VN`).join('\n')
  const letters = (await previewFile(other, `email,region\n${many}\n`)).body.result.upload ?? ''
  expect((await importUpload(other, letters, 'yes')).body.result.state).toBe('proposed')
  expect((await importUpload(other, letters)).body.result.state).toBe('done')
  await jobsIdle(portal.app.db)
  const invite = await other.act<ActOutcome>('customers.invite', {
    import: letters,
    reason: importReason,
  })
  expect(invite.body.result.state).toBe('proposed')
  await portal.ledgerHolds()
})

test('a job that dies in the middle goes on where it was, and two at once act once', async () => {
  const { db, jobs } = portal.app
  const emails = Array.from({ length: 900 }, (_, n) => `many${n}@example.vn`)
  const file = `email,region,balance\n${emails.map((one) => `${one},VN,1000`).join('\n')}\n`
  // The third batch fails after it has written a part of its rows.
  await sql`create function break_import() returns trigger language plpgsql as
    $$ begin raise exception 'the machine is gone'; end $$`.execute(db)
  await sql`create trigger break_it after insert on imported_customer for each row
    when (new.line = 552) execute function break_import()`.execute(db)
  const { body } = await previewFile(finance, file)
  const id = body.result.upload ?? ''
  expect((await importUpload(finance, id)).body.result.state).toBe('done')
  const half = await eventually('two batches', async () => {
    const one = (await importsOf(finance)).find((each) => each.id === id)
    return one && one.done === 400 && one
  })
  expect(half).toMatchObject({ rows: 900, created: 400, doneAt: null })
  await sql`drop trigger break_it on imported_customer`.execute(db)
  await transaction(db, (tx) => jobs.add(tx, 'import-customers', { importId: id }))
  // Another process of the portal takes over meanwhile.
  await portal.reopen()
  await jobsIdle(portal.app.db)
  const done = (await importsOf(finance)).find((each) => each.id === id)
  expect(done).toMatchObject({ done: 900, created: 900, skipped: 0 })
  const { rows } = await sql<{ n: bigint; sum: bigint }>`
    select count(*) as n, sum(e.amount)::bigint as sum from ledger_entry e
    join ledger_transfer t on t.id = e.transfer_id join ledger_account a on a.id = e.account_id
    where t.key like ${`opening:${id}:%`} and a.customer_id is not null`.execute(portal.app.db)
  expect(rows).toEqual([{ n: 900n, sum: 900_000n }])
  await portal.ledgerHolds()
})

test('the shell previews, imports and says how it stands', async () => {
  const file = path.join(portal.dataDir, 'customers.csv')
  writeFileSync(file, 'email,region,balance\nshell@example.vn,VN,5000\n')
  const tried = await runCommand(portal, {}, 'customers', 'import', file, '--dry-run')
  expect([tried.code, tried.said]).toEqual([0, expect.stringContaining('1 accounts to create')])
  expect(await idOf(portal, 'shell@example.vn')).toBeUndefined()
  const done = await runCommand(portal, {}, 'customers', 'import', file, '--reason', importReason)
  expect([done.code, done.said]).toEqual([0, expect.stringContaining('Done: act')])
  await eventually('the balance', async () => {
    const id = await idOf(portal, 'shell@example.vn')
    return id !== undefined && (await balanceOf(id)) === 5000
  })
  const listed = await runCommand(portal, {}, 'customers', 'imports')
  expect(listed.said).toContain('customers.csv  1 of 1 rows  1 created')
  // The act that sends the letters later is told which import by its id.
  const id = (await importsOf(finance)).find((one) => one.fileName === 'customers.csv')?.id ?? '?'
  expect(listed.said).toContain(id)
  writeFileSync(file, 'email,region\nnobody,VN\n')
  const bad = await runCommand(portal, {}, 'customers', 'import', file)
  expect([bad.code, bad.said]).toEqual([1, expect.stringContaining('Line 2: This is no e-mail')])
  expect((await runCommand(portal, {}, 'customers')).code).toBe(64)
})
