/**
 * The trail loses personal data and can still be verified: any order of acts and erasures verifies,
 * and any other change of a value or a hash is found.
 */
import { randomUUID } from 'node:crypto'
import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { ActOutcome } from '../../contract/operator-acts.ts'
import { eventually, openTestPortal, type TestPortal } from '../../test/portal.ts'
import { newMember, type TestMember } from '../../test/staff.ts'
import { hours, systemClock } from '../platform/clock.ts'
import { transaction, type Tx } from '../platform/db.ts'
import { commandActor } from './acts.ts'
import { canonical } from './canonical.ts'
import { forgetClosed } from './forget.ts'
import { eraseActs, erasers, holdTrail, verifyTrail, writeAct } from './trail.ts'
import { hashOf, type Content } from './trail-hash.ts'

let portal: TestPortal
let support: TestMember
beforeAll(async () => {
  portal = await openTestPortal()
  support = await newMember(portal, 'support')
})
afterAll(() => portal.close())

const seed = Number(process.env['SEED'] ?? Date.now() % 1_000_000)
/** mulberry32: the same seed, the same acts. */
let state = seed
function random(): number {
  state = (state + 0x6d2b79f5) | 0
  let t = Math.imul(state ^ (state >>> 15), 1 | state)
  t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
  return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296
}
const pick = <T>(of: readonly T[]): T => of[Math.floor(random() * of.length)] as T
const words = ['Nguyễn An', 'an@example.vn', 'by phone', 'ticket 7']

async function act(tx: Tx, customerId: string | null): Promise<void> {
  await holdTrail(tx)
  await writeAct(tx, systemClock, commandActor, {
    act: pick(['money.credit', 'customer.note', 'customer.block']),
    reason: pick([null, ...words]),
    subject: { kind: 'customer', id: customerId ?? 'none' },
    customerId,
    input: { amount: Math.floor(random() * 1000), currency: 'VND', told: pick(words) },
    before: pick([null, { balance: 1, blocked: false }]),
    after: pick([null, { text: pick(words), amount: 5 }]),
    key: pick([null, randomUUID()]),
  })
}

/** As a release with trail format 1 writes it. */
async function actOfFormat1(tx: Tx, customerId: string): Promise<void> {
  await holdTrail(tx)
  const head = await tx.selectFrom('operator_act_head').selectAll().executeTakeFirstOrThrow()
  const content: Content = {
    seq: head.seq + 1n,
    at: new Date(),
    staff_id: null,
    actor: 'command',
    approved_by_id: null,
    approved_by: null,
    address: 'shell',
    act: 'customer.note',
    reason: pick(words),
    subject_kind: 'customer',
    subject_id: customerId,
    customer_id: customerId,
    input: { text: pick(words), amount: 3 },
    before: null,
    after: { note: 'x' },
    key: null,
    format: 1,
    salt: null,
    personal_hash: null,
    erased_by: null,
  }
  const hash = hashOf(head.hash, content)
  const { format: _format, salt: _salt, personal_hash: _hash, erased_by: _by, ...old } = content
  await tx
    .insertInto('operator_act')
    .values({
      ...old,
      input: canonical(old.input),
      after: canonical(old.after),
      previous: head.hash,
      hash,
    })
    .execute()
  await tx.updateTable('operator_act_head').set({ seq: content.seq, hash }).execute()
}

/** The verification's result after a direct change, which is rolled back. */
async function afterChange(change: (tx: Tx) => Promise<unknown>): Promise<number> {
  const back = new Error('rolled back')
  let found = -1
  await transaction(portal.app.db, async (tx) => {
    await sql`alter table operator_act disable trigger operator_act_immutable`.execute(tx)
    await change(tx)
    found = (await verifyTrail(tx)).findings.length
    throw back
  }).catch((error: unknown) => {
    if (error !== back) throw error
  })
  return found
}

const changes: Readonly<Record<string, string>> = {
  reason: "coalesce(reason, '') || 'x'",
  input: `input || '{"told": "another"}'`,
  after: `coalesce(after, '{}') || '{"amount": 77}'`,
  before: `coalesce(before, '{}') || '{"balance": 77}'`,
  salt: "coalesce(salt, '') || '\\x01'",
  personal_hash: "coalesce(personal_hash, '') || '\\x01'",
  hash: "hash || '\\x01'",
  previous: "previous || '\\x01'",
  actor: "actor || 'x'",
  act: "act || 'x'",
  at: "at + interval '1 second'",
  subject_id: "subject_id || 'x'",
  customer_id: 'gen_random_uuid()',
  key: "coalesce(key, '') || 'x'",
  format: '3 - format',
  erased_by: 'coalesce(erased_by, 0) + 1',
}

test(`any order of acts and erasures verifies, and no other change (SEED=${seed})`, async () => {
  const { db } = portal.app
  const customers = Array.from({ length: 6 }, () => randomUUID())
  for (let step = 0; step < 80; step++)
    await transaction(db, async (tx) => {
      const customer = pick(customers)
      const dice = random()
      if (dice < 0.1) {
        await holdTrail(tx)
        await eraseActs(tx, systemClock, customer, erasers.customer)
      } else if (dice < 0.3) await actOfFormat1(tx, customer)
      else await act(tx, pick([customer, customer, null]))
    })
  // Whatever the dice say, both formats lose something, and an act follows.
  await transaction(db, async (tx) => {
    const [customer = ''] = customers
    await actOfFormat1(tx, customer)
    await act(tx, customer)
    await eraseActs(tx, systemClock, customer, erasers.customer)
    await act(tx, null)
  })
  const whole = await verifyTrail(db)
  expect(whole.findings).toEqual([])
  const rows = await db.selectFrom('operator_act').selectAll().execute()
  expect(whole.acts).toBe(rows.length)
  for (const row of rows.filter((one) => one.erased_by !== null)) {
    for (const word of words) expect(canonical(row)).not.toContain(word)
    expect(row.salt).toBeNull()
  }
  expect(rows.some((row) => row.erased_by !== null && row.format === 1)).toBe(true)
  expect(rows.some((row) => row.erased_by !== null && row.format === 2)).toBe(true)
  // Each column of many rows, changed alone.
  for (let round = 0; round < 6; round++)
    for (const [column, value] of Object.entries(changes)) {
      const row = pick(rows)
      const what = `${column} of ${row.seq}, format ${row.format}, erased ${row.erased_by}`
      const found = await afterChange((tx) =>
        sql`update operator_act set ${sql.ref(column)} = ${sql.raw(value)}
          where seq = ${row.seq}`.execute(tx),
      )
      expect(found, what).toBeGreaterThan(0)
    }
  // A row cannot be emptied as if its customer had left, either.
  const plain = rows.filter((row) => row.erased_by === null && row.customer_id !== null)
  for (const row of [pick(plain), pick(plain), pick(plain)])
    expect(
      await afterChange((tx) =>
        sql`update operator_act set reason = null, salt = null, input = '{}', before = null,
          after = null, erased_by = ${rows.find((one) => one.erased_by !== null)?.erased_by ?? 0}
          where seq = ${row.seq}`.execute(tx),
      ),
    ).toBeGreaterThan(0)
}, 120_000)

describe('a customer who closes the account', () => {
  test('is named by no act any more, and the trail is whole', async () => {
    const an = await portal.customer()
    const binh = await portal.customer()
    for (const { id } of [an, binh]) {
      await support.act('customer.note', { customer: id, text: 'Cô An ở Huế' })
      await support.act('customer.block', { customer: id, reason: 'Cô An asked by phone' })
      await support.act('customer.unblock', { customer: id, reason: 'Cô An called again' })
    }
    const { body } = await portal.call<{ token: { accessToken: string } }>(
      'POST',
      '/api/v1/auth/login',
      { body: { email: an.email, password: an.password } },
    )
    const closed = await portal.call('POST', '/api/v1/account/close', {
      token: body.result.token.accessToken,
      body: { password: an.password },
    })
    expect(closed.status, closed.text).toBe(200)
    const of = async (id: string): Promise<string> =>
      canonical(
        await portal.app.db
          .selectFrom('operator_act')
          .selectAll()
          .where('customer_id', '=', id)
          .orderBy('seq')
          .execute(),
      )
    expect(await of(an.id)).not.toContain('An ')
    expect(await of(an.id)).toContain('customer.erased')
    expect(await of(binh.id)).toContain('Cô An called again')
    const verified = await support.call<{ findings: unknown[] }>(
      'GET',
      '/api/operator/trail/verification',
    )
    expect(verified.body.result.findings, verified.text).toEqual([])
  })

  test('is in no row of trail and proposals, also where an act names an address', async () => {
    const { db, ledger } = portal.app
    const finance = await newMember(portal, 'finance')
    const an = await portal.customer()
    const personal = [an.email, an.phone]
    const text = async (): Promise<string> =>
      canonical([
        await db.selectFrom('operator_act').selectAll().orderBy('seq').execute(),
        await db.selectFrom('operator_proposal').selectAll().execute(),
      ])
    const inSuspense = async (name: string, amount: bigint): Promise<number> =>
      await transaction(db, async (tx) => {
        await ledger.holdInSuspense(tx, {
          key: `test-${name}`,
          driver: 'vnpay',
          amount,
          currency: 'VND',
          details: { provider: 'VNPay' },
        })
        const { id } = await tx
          .insertInto('payment_suspense')
          .values({
            driver: 'vnpay',
            provider_transaction_id: name,
            code: null,
            amount,
            currency: 'VND',
            reason: 'unknown_reference',
            created_at: new Date(),
          })
          .returning('id')
          .executeTakeFirstOrThrow()
        return Number(id)
      })
    const assign = async (name: string, amount: bigint, to = an.email) =>
      await finance.act<ActOutcome>('money.assign', {
        suspense: await inSuspense(name, amount),
        to,
        reason: `${an.email} asked for it`,
      })
    expect((await assign('SMALL', 1000n)).body.result.state).toBe('done')
    expect((await assign('LARGE', 900_000_000n)).body.result.state).toBe('proposed')
    // An act that names no customer is refused and not proposed: otherwise the address would stay
    // in the proposal.
    expect((await assign('NOBODY', 900_000_000n, 'nobody@x.vn')).status).toBe(409)
    await portal.call('PUT', '/api/v1/account/password', {
      token: an.token,
      body: { current: an.password, password: 'Another-horse-7' },
    })
    const letter = await eventually('a letter was sent', () =>
      db
        .selectFrom('message')
        .select('id')
        .where('recipient', '=', an.email)
        .where('sent_at', 'is not', null)
        .executeTakeFirst(),
    )
    const again = await support.act<ActOutcome>('letter.resend', {
      letter: letter.id,
      reason: `${an.phone} called`,
    })
    expect(again.body.result.before, again.text).toEqual({ kind: 'mail' })
    await finance.act('money.debit', {
      customer: an.id,
      amount: 1000,
      currency: 'VND',
      told: `Paid out to ${an.email}`,
      reason: `${an.phone} asked for it`,
    })
    const { body } = await portal.call<{ token: { accessToken: string } }>(
      'POST',
      '/api/v1/auth/login',
      { body: { email: an.email, password: 'Another-horse-7' } },
    )
    for (const one of personal) expect(await text()).toContain(one)
    const closed = await portal.call('POST', '/api/v1/account/close', {
      token: body.result.token.accessToken,
      body: { password: 'Another-horse-7' },
    })
    expect(closed.status, closed.text).toBe(200)
    for (const one of [...personal, 'nobody@x.vn']) expect(await text()).not.toContain(one)
    expect((await verifyTrail(db)).findings).toEqual([])
  })

  test('is forgotten too where an earlier release closed it, or goes on writing', async () => {
    const { db, jobs } = portal.app
    const an = await portal.customer()
    const closed = await portal.call('POST', '/api/v1/account/close', {
      token: an.token,
      body: { password: an.password },
    })
    expect(closed.status, closed.text).toBe(200)
    for (const wish of [
      { act: 'customer.note', text: 'Cô An ở Huế' },
      { act: 'customer.label', label: 'Cô An' },
    ]) {
      const { act: name, ...input } = wish
      const refused = await support.act(name, { customer: an.id, ...input })
      expect(refused.status, refused.text).toBe(409)
    }
    // As an older release does, which erases no acts and refuses no notes.
    await transaction(db, async (tx) => {
      await actOfFormat1(tx, an.id)
      await act(tx, an.id)
      await tx
        .insertInto('customer_note')
        .values({
          id: randomUUID(),
          customer_id: an.id,
          at: new Date(),
          actor: 'x',
          text: 'Cô An',
        })
        .execute()
      await tx.insertInto('customer_label').values({ customer_id: an.id, label: 'An' }).execute()
      const proposal = { act: 'refund.decide', input: '{"to": "x"}', actor: 'x', reason: 'Cô An' }
      for (const open of [true, false])
        await tx
          .insertInto('operator_proposal')
          .values({
            ...proposal,
            id: randomUUID(),
            customer_id: an.id,
            created_at: new Date(),
            expires_at: new Date(Date.now() + (open ? hours(24) : -1)),
          })
          .execute()
    })
    const left = async (): Promise<number> => {
      const { rows } = await sql`select a.seq::text from operator_act a
          where customer_id = ${an.id} and erased_by is null and act <> 'customer.erased'
        union all select id::text from customer_note where customer_id = ${an.id}
        union all select label from customer_label where customer_id = ${an.id}`.execute(db)
      return rows.length
    }
    expect(await left()).toBe(4)
    await transaction(db, (tx) => jobs.add(tx, 'tidy', {}))
    await eventually('it is forgotten', async () => (await left()) === 0)
    const proposals = await db
      .selectFrom('operator_proposal')
      .select('reason')
      .where('customer_id', '=', an.id)
      .orderBy('expires_at')
      .execute()
    // One proposal waits for approval.
    expect(proposals).toEqual([{ reason: null }, { reason: 'Cô An' }])
    expect((await verifyTrail(db)).findings).toEqual([])
    const head = await db.selectFrom('operator_act_head').select('seq').executeTakeFirstOrThrow()
    await forgetClosed(db, systemClock)
    expect(await db.selectFrom('operator_act_head').select('seq').executeTakeFirst()).toEqual(head)
  })

  test('and nobody whose account is open: such an erasure is found', async () => {
    const an = await portal.customer()
    await support.act('customer.note', { customer: an.id, text: 'Cô An ở Huế' })
    await transaction(portal.app.db, async (tx) => {
      await holdTrail(tx)
      await eraseActs(tx, systemClock, an.id, erasers.customer)
    })
    expect((await verifyTrail(portal.app.db)).findings).toMatchObject([
      { fault: expect.stringContaining('has not closed') },
    ])
  })

  test('and nobody else’s act is emptied, or one twice', async () => {
    const refused = (set: string, where: string) =>
      expect(
        sql.raw(`update operator_act set ${set} where ${where}`).execute(portal.app.db),
      ).rejects.toThrow(/append-only/)
    await refused('reason = null, salt = null', 'erased_by is null')
    await refused("erased_by = seq + 1, reason = 'x', salt = null", 'erased_by is null')
    await refused(
      "erased_by = seq + 1, reason = null, salt = null, actor = 'x'",
      'erased_by is null',
    )
    await refused('erased_by = erased_by + 1, reason = null', 'erased_by is not null')
  })
})
