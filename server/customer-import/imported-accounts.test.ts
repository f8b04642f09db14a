/** What an account that was brought over can do before and after its customer has come. */
import { sql } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { CustomerStory } from '../../contract/operator-desk.ts'
import { jobsIdle } from '../../test/idle-jobs.ts'
import { idOf, importFile, importReason, importsOf } from '../../test/imports.ts'
import { code, newcomersTo } from '../../test/newcomers.ts'
import { manualClock, openTestPortal, type TestPortal } from '../../test/portal.ts'
import { newMember, type TestMember } from '../../test/staff.ts'
import { customerOfMailbox } from '../auth/index.ts'
import { days, later } from '../platform/clock.ts'
import { transaction } from '../platform/db.ts'

const clock = manualClock()
let portal: TestPortal
let finance: TestMember
beforeAll(async () => {
  portal = await openTestPortal({ clock })
  finance = await newMember(portal, 'finance', { clock })
})
afterAll(() => portal.close())
const { auth, login, signIn, me, codeFor } = newcomersTo(() => portal)

const password = 'Another-horse-10'
const idFor = async (email: string): Promise<string> => (await idOf(portal, email)) ?? 'nobody'
const storyOf = async (email: string): Promise<CustomerStory> =>
  (await finance.call<CustomerStory>('GET', `/api/operator/customers/${await idFor(email)}`)).body
    .result
const moved = async (email: string) =>
  (await portal.inbox(email)).filter(({ text }) => text.includes('/auth/pass-recovery?email='))

/** The customer follows the link, types the code and chooses a password. */
async function come(email: string): Promise<string> {
  expect((await auth('recover', { email })).status).toBe(200)
  const mailed = await codeFor(email)
  const reset = await auth('reset', { email, code: mailed, password })
  expect(reset.status, reset.text).toBe(200)
  return await signIn({ email, password })
}

test('by the letter a customer sets a password, and signs in to the balance', async () => {
  const file =
    'email,region,balance,name\nlan@example.vn,VN,250.000,Lan\nkim@example.com,AUD,12.50,Kim\n'
  const done = await importFile(portal, finance, file, 'yes')
  expect(done).toMatchObject({ created: 2, written: 2, came: 0 })
  const [vietnamese] = await moved('lan@example.vn')
  expect(vietnamese?.text).toContain('đã được chuyển: hãy đặt mật khẩu')
  const [english] = await moved('kim@example.com')
  expect(english?.text).toContain('has moved: choose a password')
  expect(english?.text).toContain('your balance has come with it')
  const link = /https?:\S+/.exec(english?.text ?? '')?.[0] ?? ''
  expect(new URL(link).searchParams.get('email')).toBe('kim@example.com')
  expect((await fetch(link)).status).toBe(200)

  // Nobody signs in before, whatever they type, and the mailbox proves nothing yet.
  for (const typed of [password, 'none', 'Correct-horse-9'])
    expect(code(await login({ email: 'lan@example.vn', password: typed }))).toEqual([
      401,
      'bad_credentials',
    ])
  expect(await customerOfMailbox(portal.app.db, 'lan@example.vn')).toBeUndefined()
  expect((await storyOf('lan@example.vn')).imported).toMatchObject({ cameAt: null })

  const token = await come('lan@example.vn')
  expect((await me(token)).body.result).toMatchObject({
    name: 'Lan',
    phone: '',
    balance: 250_000,
    currency: 'VND',
  })
  const entries = await portal.call<{ description: string; amount: number }[]>(
    'GET',
    '/api/payments/stripe',
    { token },
  )
  expect(entries.body.result).toMatchObject([{ description: 'Balance brought over' }])
  expect(await customerOfMailbox(portal.app.db, 'lan@example.vn')).toBeDefined()
  expect((await storyOf('lan@example.vn')).imported?.cameAt).not.toBeNull()
  expect((await importsOf(finance))[0]).toMatchObject({ created: 2, came: 1 })
})

test('without letters none is sent; later they go once, to those who have not come', async () => {
  const file =
    'email,region\nl1@example.vn,VN\nl2@example.vn,VN\nl3@example.vn,VN\nl4@example.vn,VN\n'
  const { id } = await importFile(portal, finance, file)
  expect(await moved('l1@example.vn')).toEqual([])
  await come('l1@example.vn')
  await sql`update customer set blocked_at = now() where email = 'l4@example.vn'`.execute(
    portal.app.db,
  )
  const invite = () => finance.act('customers.invite', { import: id, reason: importReason })
  expect((await invite()).status).toBe(200)
  await jobsIdle(portal.app.db)
  const sent = async () =>
    await Promise.all(
      ['l1', 'l2', 'l3', 'l4'].map(async (one) => (await moved(`${one}@example.vn`)).length),
    )
  expect(await sent()).toEqual([0, 1, 1, 0])
  // A blocked account gets none, and is counted as none; without money none has come.
  const counted = (await importsOf(finance)).find((one) => one.id === id)
  expect(counted).toMatchObject({ written: 2 })
  expect((await moved('l2@example.vn'))[0]?.text).not.toContain('số dư')
  // Not again within a day.
  expect((await invite()).status).toBe(409)
  clock.advance(days(1) + 1000)
  finance = await newMember(portal, 'finance', { clock })
  await come('l2@example.vn')
  expect((await invite()).status).toBe(200)
  await jobsIdle(portal.app.db)
  expect(await sent()).toEqual([0, 1, 2, 0])
})

test('letters that a faster clock asked for go once', async () => {
  const { db, jobs } = portal.app
  const { id } = await importFile(portal, finance, 'email,region\nfast@example.vn,VN\n')
  const ahead = later(clock.now(), 60_000)
  await sql`update customer_import set letters_asked_at = ${ahead} where id = ${id}`.execute(db)
  for (let run = 0; run < 2; run++) {
    await transaction(db, (tx) => jobs.add(tx, 'import-customers', { importId: id }))
    await jobsIdle(db)
  }
  expect(await moved('fast@example.vn')).toHaveLength(1)
})

test('the jobs that tidy delete neither the account nor its balance', async () => {
  await importFile(portal, finance, 'email,region,balance\nslow@example.vn,VN,9000\n')
  clock.advance(days(40))
  await portal.app.accounts.registration.dropNeverActivated()
  finance = await newMember(portal, 'finance', { clock })
  const token = await come('slow@example.vn')
  expect((await me(token)).body.result).toMatchObject({ balance: 9000 })
})

test('an upload that nobody imported goes after three days', async () => {
  const { db } = portal.app
  const file = 'email,region\nnever@example.vn,VN\n'
  const seen = await finance.call<{ upload: string }>(
    'POST',
    '/api/operator/customer-imports/preview',
    { fileName: 'clients.csv', file },
  )
  clock.advance(days(3) + 1000)
  await transaction(db, (tx) => portal.app.jobs.add(tx, 'tidy', {}))
  await jobsIdle(db)
  finance = await newMember(portal, 'finance', { clock })
  const late = await finance.act('customers.import', {
    upload: seen.body.result.upload,
    letters: 'no',
    reason: importReason,
  })
  expect([late.status, late.body.error?.fields]).toEqual([
    404,
    { upload: 'This file is kept no longer: upload it again.' },
  ])
})

test('somebody else’s registration of the address does not stand in the way', async () => {
  const stranger = {
    name: 'Stranger',
    email: 'wanted@example.vn',
    phone: '+84987000001',
    password: 'Correct-horse-9',
    region_code: 'VN',
  }
  expect((await auth('register', stranger)).status).toBe(201)
  const sms = await codeFor(stranger.phone)
  await importFile(portal, finance, 'email,region,balance\nwanted@example.vn,VN,7000\n')
  expect(code(await auth('active', { email: stranger.email, code: sms }))[0]).not.toBe(200)
  expect(code(await login(stranger))[0]).toBe(401)
  const token = await come(stranger.email)
  expect((await me(token)).body.result).toMatchObject({ balance: 7000 })
  // Nobody registers an address or number that was brought over.
  expect(code(await auth('register', { ...stranger, phone: '+84987000002' }))).toEqual([
    409,
    'email_taken',
  ])
})

test('the customer adds a number, exports what is stored and closes the account', async () => {
  await importFile(portal, finance, 'email,region,reference\nend@example.vn,VN,WH-77\n')
  const token = await come('end@example.vn')
  const id = await idFor('end@example.vn')
  const data = await portal.call('GET', '/api/v1/account/data', { token })
  const found = JSON.parse(data.text) as {
    customer: { phone: string }[]
    imported_customer: { reference: string }[]
  }
  expect(found.customer[0]?.phone).toBe('')
  expect(found.imported_customer).toMatchObject([{ reference: 'WH-77' }])

  const phone = '+84987000009'
  const began = await portal.call('POST', '/api/v1/account/phone', {
    token,
    body: { phone, password },
  })
  expect(began.status, began.text).toBe(200)
  const confirmed = await portal.call('POST', '/api/v1/account/phone/confirm', {
    token,
    body: { code: await codeFor(phone) },
  })
  expect(confirmed.status, confirmed.text).toBe(200)
  const { rows } = await sql`select 1 from former_address where customer_id = ${id}
    and kind = 'phone'`.execute(portal.app.db)
  expect(rows).toEqual([])

  const closed = await portal.call('POST', '/api/v1/account/close', { token, body: { password } })
  expect(closed.status, closed.text).toBe(200)
  const left = await sql`select 1 from imported_customer where customer_id = ${id}`.execute(
    portal.app.db,
  )
  expect(left.rows).toEqual([])
  await portal.ledgerHolds()
})
