/** The operator's desk: acts with reason and trail, work that goes on there, and commands. */
import { randomUUID } from 'node:crypto'
import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { ActOutcome } from '../../contract/operator-acts.ts'
import type { TrailAct } from '../../contract/operator-desk.ts'
import { credit, deskOf, reason, told } from '../../test/desk.ts'
import { runCommand } from '../../test/operator.ts'
import { orderServer } from '../../test/ordered-servers.ts'
import { eventually, manualClock, openTestPortal, type TestPortal } from '../../test/portal.ts'
import { newMember, type TestMember } from '../../test/staff.ts'
import { hours, later } from '../platform/clock.ts'

const clock = manualClock()
let portal: TestPortal
let owner: TestMember
let support: TestMember
let finance: TestMember
beforeAll(async () => {
  portal = await openTestPortal({ clock })
  owner = await newMember(portal, 'owner', { clock })
  support = await newMember(portal, 'support', { clock })
  finance = await newMember(portal, 'finance', { clock })
})
afterAll(() => portal.close())
const { storyOf, balanceOf, verification } = deskOf(() => support)

describe('a customer is blocked', () => {
  test('sessions end, no sign-in is possible, and both are undone', async () => {
    const an = await portal.customer()
    const block = { customer: an.id, reason }
    const missing = await support.act('customer.block', { customer: an.id })
    expect(missing.body.error?.fields).toHaveProperty('reason')
    const done = await support.act<ActOutcome>('customer.block', block)
    expect(done.body.result).toMatchObject({
      state: 'done',
      before: { blocked: false },
      after: { blocked: true, sessions: 1 },
    })
    expect((await portal.call('GET', '/api/v1/auth/me', { token: an.token })).status).toBe(401)
    const { email, password } = an
    const refused = await portal.call('POST', '/api/v1/auth/login', { body: { email, password } })
    expect(refused.body.error?.code).toBe('account_blocked')
    const wrong = { email, password: 'Wrong-horse-9' }
    // A person without the password learns nothing about the block.
    const stranger = await portal.call('POST', '/api/v1/auth/login', { body: wrong })
    expect(stranger.body.error?.code).toBe('bad_credentials')
    expect((await support.act('customer.block', block)).status).toBe(409)
    expect((await storyOf(an.id)).blockedAt).not.toBeNull()
    expect((await support.act('customer.unblock', block)).status).toBe(200)
    await portal.signIn(an)
  })

  test('of two members at once one blocks, and the other is told', async () => {
    const an = await portal.customer()
    const block = { customer: an.id, reason }
    const answers = await Promise.all([
      support.act('customer.block', block),
      owner.act('customer.block', block),
    ])
    expect(answers.map(({ status }) => String(status)).toSorted()).toEqual(['200', '409'])
  })
})

describe('an act', () => {
  test('stands in the trail with who, from where, why, before and after', async () => {
    const an = await portal.customer()
    await support.act('customer.language', { customer: an.id, language: 'en', reason })
    const { acts, language } = await storyOf(an.id)
    expect(language).toBe('en')
    expect(acts[0]).toMatchObject({
      actor: support.name,
      address: '127.0.0.1',
      act: 'customer.language',
      reason,
      subject: { kind: 'customer', id: an.id },
      before: { language: null },
      after: { language: 'en' },
      approvedBy: null,
    })
  })

  test('acts once under its key, and another act may not have the key', async () => {
    const an = await portal.customer()
    const key = randomUUID()
    const first = await credit(finance, an, 1000, { key })
    const again = await credit(finance, an, 1000, { key })
    expect(again.body.result).toEqual({ ...first.body.result, repeated: true })
    expect(await balanceOf(an.id)).toBe(1000)
    const other = await credit(finance, an, 2000, { key })
    expect(other.body.error?.code).toBe('idempotency_key_reused')
    const both = randomUUID()
    await Promise.all([1, 2, 3].map(() => credit(finance, an, 500, { key: both })))
    expect(await balanceOf(an.id)).toBe(1500)
  })

  test('notes and labels need no reason', async () => {
    const an = await portal.customer()
    await support.act('customer.note', { customer: an.id, text: 'Prefers\nVietnamese' })
    await support.act('customer.label', { customer: an.id, label: 'VIP' })
    expect((await support.act('customer.label', { customer: an.id, label: 'VIP' })).status).toBe(
      409,
    )
    const story = await storyOf(an.id)
    expect(story.notes).toMatchObject([{ by: support.name, text: 'Prefers\nVietnamese' }])
    expect(story.labels).toEqual(['VIP'])
    await support.act('customer.unlabel', { customer: an.id, label: 'VIP' })
    expect((await storyOf(an.id)).labels).toEqual([])
    const nobody = { customer: randomUUID(), text: 'Nobody' }
    expect((await support.act('customer.note', nobody)).status).toBe(404)
  })

  test('a lost second factor is taken away with proof, and the customer is told', async () => {
    const an = await portal.customer()
    await portal.app.db
      .insertInto('totp')
      .values({
        customer_id: an.id,
        secret: Buffer.from('sealed'),
        confirmed_at: clock.now(),
        created_at: clock.now(),
      })
      .execute()
    const proof = 'Called back, identity card compared'
    const wish = { customer: an.id, reason, proof }
    const done = await support.act<ActOutcome>('customer.reset_second_factor', wish)
    expect(done.body.result.after).toMatchObject({ app: false, proof })
    expect((await support.act('customer.reset_second_factor', wish)).status).toBe(409)
    await eventually('the letter', async () =>
      (await portal.inbox(an.email)).some(({ text }) => text.includes('tắt xác thực hai lớp')),
    )
  })
})

test('another e-mail for a lost mailbox waits for a second member, and both are told', async () => {
  const an = await portal.customer()
  const binh = await portal.customer()
  const proof = 'Called back, identity card compared'
  const wish = { customer: an.id, reason, proof, email: 'new-mailbox@example.vn' }
  const taken = await support.act('customer.email', { ...wish, email: binh.email })
  expect(taken.body.error?.code).toBe('email_taken')
  expect((await support.act('customer.email', { ...wish, email: an.email })).status).toBe(409)
  const asked = await support.act<ActOutcome>('customer.email', wish)
  expect(asked.body.result.state).toBe('proposed')
  expect((await storyOf(an.id)).email).toBe(an.email)
  // A link that a person in the former mailbox has.
  await portal.app.db
    .insertInto('sign_in_denial')
    .values({
      token_hash: Buffer.from('held'),
      customer_id: an.id,
      signed_in_at: clock.now(),
      expires_at: later(clock.now(), hours(24)),
      email: an.email,
    })
    .execute()
  const approved = await owner.call(
    'POST',
    `/api/operator/proposals/${asked.body.result.proposal}/approve`,
  )
  expect(approved.status, approved.text).toBe(200)
  expect(await storyOf(an.id)).toMatchObject({ email: wish.email, sessions: [] })
  const links = await portal.app.db
    .selectFrom('sign_in_denial')
    .select('email')
    .where('customer_id', '=', an.id)
    .execute()
  expect(links).toEqual([])
  for (const to of [an.email, wish.email])
    await eventually(`a letter to ${to}`, async () =>
      (await portal.inbox(to)).some(
        ({ text }) =>
          text.includes('đăng xuất mọi thiết bị') && text.includes('gửi yêu cầu hỗ trợ tại: http'),
      ),
    )
})

test('ids and positions that are none are refused, and no fault of the portal', async () => {
  const cursor = Buffer.from(`t1:1:${'-'.repeat(36)}`).toString('base64url')
  const letters = await owner.call('GET', `/api/operator/letters?state=sent&cursor=${cursor}`)
  expect([letters.status, letters.body.error?.fields]).toMatchObject([422, { cursor: {} }])
  const withdrawn = await owner.act('staff.withdraw', { invitation: 'x', reason })
  expect(withdrawn.status).toBe(404)
  const invited = { name: 'Chi', email: 'chi@operator.example', role: 'read_only', reason }
  expect((await owner.act('staff.invite', { ...invited, replaces: 'x' })).status).toBe(404)
})

describe('the trail', () => {
  test('takes acts that come at once one after the other', async () => {
    const an = await portal.customer()
    const { acts } = await verification()
    const notes = Array.from({ length: 12 }, (_, index) =>
      (index % 2 === 0 ? support : owner).act('customer.note', {
        customer: an.id,
        text: `Note ${index}`,
      }),
    )
    const answers = await Promise.all(notes)
    expect(answers.map(({ status }) => status)).toEqual(notes.map(() => 200))
    expect(await verification()).toMatchObject({ acts: acts + notes.length, findings: [] })
  })

  test('is whole, lists by pages, and is only added to', async () => {
    const { acts, findings } = await verification()
    expect(findings).toEqual([])
    expect(acts).toBeGreaterThan(20)
    const first = await support.call<TrailAct[]>('GET', '/api/operator/trail?limit=5')
    expect(first.body.result.map(({ seq }) => seq)).toEqual(
      [0, 1, 2, 3, 4].map((back) => acts - back),
    )
    const { next } = first.body.page ?? {}
    const second = await support.call<TrailAct[]>(
      'GET',
      `/api/operator/trail?limit=5&cursor=${next}`,
    )
    expect(second.body.result[0]?.seq).toBe(acts - 5)
    for (const statement of [
      'update operator_act set reason = null where seq = 1',
      'delete from operator_act where seq = 1',
      'truncate operator_act cascade',
    ])
      await expect(sql.raw(statement).execute(portal.app.db)).rejects.toThrow(/append-only/)
  })

  test.each([
    ['a changed row', "update operator_act set reason = 'another' where seq = 3", 3],
    ['a changed fact', `update operator_act set after = '{"balance": 1}' where seq = 4`, 4],
    ['a removed row', 'delete from operator_act where seq = 5', 5],
    [
      'a removed end',
      'delete from operator_act where seq = (select max(seq) from operator_act)',
      0,
    ],
    [
      'two swapped rows',
      'update operator_act set seq = case seq when 7 then 8 else 7 end where seq in (7, 8)',
      7,
    ],
  ])('verification notices %s', async (_what, statement, seq) => {
    const { acts } = await verification()
    const rollback = new Error('rolled back')
    const seen = await portal.app.db
      .transaction()
      .execute(async (tx) => {
        const { verifyTrail } = await import('./index.ts')
        await sql`alter table operator_act disable trigger operator_act_immutable`.execute(tx)
        await sql`
          alter table operator_proposal drop constraint operator_proposal_act_seq_fkey`.execute(tx)
        await sql`alter table operator_act drop constraint operator_act_pkey`.execute(tx)
        await sql.raw(statement).execute(tx)
        throw Object.assign(rollback, { seen: await verifyTrail(tx) })
      })
      .catch((error: Error & { seen?: Awaited<ReturnType<typeof verification>> }) => {
        if (error !== rollback) throw error
        return error.seen
      })
    expect(seen?.findings[0]?.seq).toBe(seq === 0 ? acts : seq)
    expect((await verification()).findings).toEqual([])
  })
})

describe('work', () => {
  test('a server is suspended by hand, though it is paid for, and released', async () => {
    const operations = await newMember(portal, 'operations', { clock })
    const an = await portal.customer()
    await credit(finance, an, 4_000_000)
    const { id: server, name } = await orderServer(portal, an)
    const statusOf = async (): Promise<string> =>
      (await portal.call<{ status: string }>('GET', `/api/wp/${server}`, { token: an.token })).body
        .result.status
    const wish = { server, reason: 'Complaint of a bank', told: 'A page imitates a bank' }
    expect((await finance.act('work.hold_server', wish)).status).toBe(403)
    expect((await operations.act('work.hold_server', wish)).status).toBe(200)
    expect((await operations.act('work.hold_server', wish)).status).toBe(409)
    await eventually('it is suspended', async () => (await statusOf()) === 'suspended')
    expect((await storyOf(an.id)).servers).toMatchObject([{ name, held: true }])
    await eventually('the letter', async () =>
      (await portal.inbox(an.email)).some(({ text }) => text.includes('A page imitates a bank')),
    )
    expect(await statusOf()).toBe('suspended')
    const release = { server, reason: 'The page is gone' }
    expect((await operations.act('work.release_server', release)).status).toBe(200)
    await eventually('it runs', async () => (await statusOf()) === 'running')
    expect((await operations.act('work.release_server', release)).status).toBe(409)
    const nothing = { ...wish, server: randomUUID() }
    expect((await operations.act('work.hold_server', nothing)).status).toBe(404)
  })

  test('a job that gave up is shown with why, and started again once', async () => {
    const operations = await newMember(portal, 'operations', { clock })
    const { rows } = await sql<{ id: string }>`
      insert into pgboss.job (name, data, state, output, completed_on, policy)
      select name, '{}', 'failed', '{"message": "The mail server is away"}', now(), policy
      from pgboss.queue where name = 'send-message' returning id`.execute(portal.app.db)
    const job = rows[0]?.id ?? ''
    type Seen = { givenUp: { id: string; why: string }[]; queues: { queue: string }[] }
    const seen = async (): Promise<Seen> =>
      (await support.call<Seen>('GET', '/api/operator/work')).body.result
    const before = await seen()
    expect(before.givenUp.find(({ id }) => id === job)?.why).toBe('The mail server is away')
    const wish = { job, reason: 'Its password was changed' }
    expect((await support.act('work.retry_job', wish)).status).toBe(403)
    const both = await Promise.all([
      operations.act('work.retry_job', wish),
      owner.act('work.retry_job', wish),
    ])
    expect(both.map(({ status }) => String(status)).toSorted()).toEqual(['200', '404'])
    expect((await seen()).givenUp.some(({ id }) => id === job)).toBe(false)
    expect((await operations.act('work.retry_job', { ...wish, job: 'x' })).status).toBe(404)
  })
})

describe('commands', () => {
  const command = async (...args: string[]) => {
    const { code, said } = await runCommand(portal, {}, ...args, '--json')
    return { code, said, body: JSON.parse(said) as Record<string, unknown> }
  }

  test('do the same acts, without the desk, and can be tried', async () => {
    const an = await portal.customer()
    const wish = [
      'act',
      'money.credit',
      '--customer',
      an.id,
      '--amount',
      '4000',
      '--currency',
      'VND',
      '--told',
      told,
      '--reason',
      reason,
    ]
    const tried = await command(...wish, '--dry-run')
    expect([tried.code, tried.body['dryRun'], tried.body['after']]).toEqual([
      0,
      true,
      { balance: 4000, currency: 'VND' },
    ])
    expect(await balanceOf(an.id)).toBe(0)
    const done = await command(...wish)
    expect(done.body).toMatchObject({ state: 'done', after: { balance: 4000 } })
    expect((await storyOf(an.id)).acts[0]).toMatchObject({ actor: 'command', address: 'shell' })
    const large = wish.map((word) => (word === '4000' ? '9000000' : word))
    // A dry run of an act that needs a second member shows its changes, and creates no proposal.
    expect((await command(...large, '--dry-run')).body).toMatchObject({
      state: 'proposed',
      after: { balance: 9_004_000, currency: 'VND' },
    })
    expect((await command(...large)).body).toMatchObject({ state: 'proposed', act: null })
    // Neither notation may be read as fifty đồng.
    for (const amount of ['50.000', '5e4'])
      expect((await command(...wish.map((word) => (word === '4000' ? amount : word)))).code).toBe(
        64,
      )
    const without = await command('act', 'customer.block', '--customer', an.id)
    expect([without.code, String(without.body['error'])]).toEqual([
      64,
      expect.stringContaining('reason'),
    ])
    const nobody = await command('act', 'customer.block', '--customer', 'x', '--reason', reason)
    expect(nobody.code).toBe(1)
    const verified = await command('acts', 'verify')
    expect([verified.code, verified.body['findings']]).toEqual([0, []])
    const listed = await command('acts', 'list', '--customer', an.id)
    expect(JSON.stringify(listed.body)).toContain('money.credit')
  })

  test('staff add prints a link that makes the first owner', async () => {
    const added = await command(
      'staff',
      'add',
      '--email',
      'First@Operator.example',
      '--name',
      'First Owner',
      '--role',
      'owner',
    )
    expect(added.code).toBe(0)
    const token = new URL(String(added.body['link'])).hash.slice(1)
    const opened = await portal.call<{ email: string; role: string }>(
      'POST',
      '/api/operator/invitation',
      { body: { token } },
    )
    expect(opened.body.result).toMatchObject({ email: 'first@operator.example', role: 'owner' })
    const listed = await command('staff')
    expect(JSON.stringify(listed.body)).toContain('first@operator.example')
  })
})
