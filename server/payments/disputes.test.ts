/**
 * Disputes at the desk: seen, answered and accepted through the gateways' own calls, and posted
 * once, whatever webhooks are lost or repeated.
 */
import { createHash, randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { ActOutcome } from '../../contract/operator-acts.ts'
import type { Dispute } from '../../contract/operator-money.ts'
import type { Delivery } from '../../contract/webhooks.ts'
import { cardsOf } from '../../test/card-holder.ts'
import { jobsIdle } from '../../test/idle-jobs.ts'
import { runCommand } from '../../test/operator.ts'
import {
  eventually,
  openTestPortal,
  type TestCustomer,
  type TestPortal,
} from '../../test/portal.ts'
import { newMember, type TestMember } from '../../test/staff.ts'
import { stripeBrowser, type Browser } from '../../test/stripe-browser.ts'
import { days, hours, later } from '../platform/clock.ts'
import { transaction } from '../platform/db.ts'

interface Whole extends Dispute {
  posted: { fromWallet: number; owed: number; setOff: number } | null
  returnedAt: string | null
  evidenceAtMost: number | null
  answers: { kind: string; status: string; text: string; detail: string | null }[]
}

let portal: TestPortal
let browser: Browser
let finance: TestMember
let otherFinance: TestMember
let support: TestMember
let owner: TestMember
beforeAll(async () => {
  portal = await openTestPortal({ timing: { askGatewaySeconds: [3600] } })
  browser = stripeBrowser(portal.sandboxUrl, portal.keysOf('stripe')['publishableKey'] ?? '')
  finance = await newMember(portal, 'finance')
  otherFinance = await newMember(portal, 'finance')
  support = await newMember(portal, 'support')
  owner = await newMember(portal, 'owner')
  await owner.act('outgoing_webhook.add', {
    url: `${portal.sandboxUrl}/hooks/books`,
    events: ['dispute.opened', 'dispute.decided'],
    reason: 'The accounting program asks for it',
  })
})
afterAll(() => portal.close())
const { amounts, balances, dashboard, eventsGo, paid } = cardsOf(
  () => portal,
  () => browser,
)

const lookAgain = () =>
  transaction(portal.app.db, (tx) => portal.app.jobs.add(tx, 'look-at-disputes-stripe', {}))

const reason = 'looked at with the customer'
const evidence = 'The server was ordered, used for three months, and signed in to yesterday.'
const disputes = async (show: 'open' | 'all' = 'open'): Promise<Dispute[]> =>
  (await support.call<Dispute[]>('GET', `/api/operator/disputes?show=${show}`)).body.result
const disputeOf = (payment: string, wished: (one: Dispute) => boolean = () => true) =>
  eventually('the dispute is at the desk', async () =>
    (await disputes('all')).find((one) => one.payment === payment && wished(one)),
  )
/** Webhooks about a dispute that the operator's own endpoint received, oldest first. */
async function toldOf(dispute: string) {
  const path = '/api/operator/outgoing-webhooks'
  const [webhook] = (await owner.call<{ id: string }[]>('GET', path)).body.result
  const { deliveries } = (
    await owner.call<{ deliveries: Delivery[] }>('GET', `${path}/${webhook?.id}/deliveries`)
  ).body.result
  return deliveries
    .map(({ body }) => JSON.parse(body) as { type: string; data: { dispute: { id: string } } })
    .filter(({ data }) => data.dispute.id === dispute)
    .toReversed()
}
const wholeOf = async (id: string): Promise<Whole> =>
  (await support.call<Whole>('GET', `/api/operator/disputes/${id}`)).body.result
const square = (fields: Record<string, string>) =>
  fetch(`${portal.sandboxUrl}/square/dashboard`, {
    method: 'POST',
    redirect: 'manual',
    body: new URLSearchParams(fields),
  })
async function paidBySquare(an: TestCustomer, amount = 2000) {
  const locationId = portal.keysOf('square')['locationId'] ?? ''
  const begun = await portal.call('POST', '/api/payments/square/checkout', {
    token: an.token,
    body: { amount, locationId, source_id: 'cnon:card-nonce-ok' },
  })
  expect(begun.status, begun.text).toBe(200)
  await balances(an, amount)
  const { code, provider_ref: payment } = await portal.app.db
    .selectFrom('payment')
    .select(['code', 'provider_ref'])
    .where('customer_id', '=', an.id)
    .executeTakeFirstOrThrow()
  return { code, payment: payment ?? '' }
}
const answerIs = (id: string, status: string) =>
  eventually(`the answer is ${status}`, async () => {
    const whole = await wholeOf(id)
    return whole.answers.some((answer) => answer.status === status) && whole
  })

describe('the staff', () => {
  const lettersOf = async ({ email }: TestMember, code: string): Promise<string[]> => {
    await jobsIdle(portal.app.db)
    return (await portal.inbox(email))
      .map(({ text }) => text)
      .filter((text) => text.includes(`disputes payment ${code}`))
  }
  const reminded = () =>
    transaction(portal.app.db, (tx) => portal.app.jobs.add(tx, 'remind-of-evidence', {}))
  const soonest = async (): Promise<number> => {
    const { text } = await portal.call('GET', '/metrics')
    return Number(/^portal_dispute_evidence_seconds (\S+)$/m.exec(text)?.[1])
  }

  test('that looks after money is told of a new one, and again before it is due', async () => {
    const an = await portal.customer({ region: 'AUD' })
    expect(await soonest()).toBe(30 * 86_400)
    const { code, payment } = await paid(an)
    await dashboard({ action: 'dispute', payment })
    const { id, reference } = await disputeOf(code)
    const told = await eventually('the letter', async () => {
      const all = await lettersOf(finance, code)
      return all.length > 0 && all
    })
    expect(told[0]).toContain(`/operator/disputes/${id}`)
    expect(told[0]).toContain('Evidence is due by')
    expect(await soonest()).toBeLessThan(30 * 86_400)
    await reminded()
    const counts = () =>
      Promise.all([finance, owner, support].map(async (one) => (await lettersOf(one, code)).length))
    expect(await counts()).toEqual([1, 1, 0])
    await portal.app.db
      .updateTable('payment_dispute')
      .set({ evidence_due_at: new Date(Date.now() + days(1)) })
      .where('id', '=', id)
      .execute()
    await reminded()
    await reminded()
    expect(await counts()).toEqual([2, 2, 0])
    expect((await lettersOf(finance, code)).join()).toContain('Nobody has answered it yet')
    await dashboard({ action: 'win', dispute: reference })
    await disputeOf(code, ({ state }) => state === 'won')
  })
})

describe('a dispute at Stripe', () => {
  test('is shown with due date, fee and what was taken; won, it is given back once', async () => {
    const an = await portal.customer({ region: 'AUD' })
    const { code, payment } = await paid(an)
    await dashboard({ action: 'dispute', payment })
    await balances(an, 0)
    const shown = await disputeOf(code)
    expect(shown).toMatchObject({
      gateway: 'Stripe',
      state: 'needs_evidence',
      isInquiry: false,
      amount: 2000,
      currency: 'AUD',
      fee: 1500,
      money: 'taken',
      customer: { id: an.id, email: an.email },
      answer: null,
    })
    expect(Date.parse(shown.evidenceDueAt ?? '')).toBeGreaterThan(Date.now())
    expect(await wholeOf(shown.id)).toMatchObject({
      posted: { fromWallet: 2000, owed: 0, setOff: 0 },
      returnedAt: null,
      evidenceAtMost: 20_000,
    })

    const wish = { dispute: shown.id, evidence, reason, key: randomUUID() }
    expect((await support.act('dispute.answer', wish)).status).toBe(403)
    const done = await finance.act<ActOutcome>('dispute.answer', wish)
    expect(done.body.result).toMatchObject({ state: 'done', before: { state: 'needs_evidence' } })
    expect((await finance.act<ActOutcome>('dispute.answer', wish)).body.result.repeated).toBe(true)
    await answerIs(shown.id, 'done')
    await disputeOf(code, ({ state }) => state === 'under_review')
    const again = await finance.act('dispute.answer', { ...wish, key: randomUUID() })
    expect(again.status).toBe(409)
    expect(again.body.error?.fields).toHaveProperty('dispute')

    await eventsGo('twice')
    await dashboard({ action: 'win', dispute: shown.reference })
    await balances(an, 2000)
    await eventsGo('now')
    const won = await disputeOf(code, ({ state }) => state === 'won')
    expect(won).toMatchObject({ money: 'returned', fee: 0 })
    expect((await wholeOf(won.id)).returnedAt).not.toBeNull()
    expect((await disputes()).some(({ id }) => id === won.id)).toBe(false)
    expect(await amounts(an)).toEqual([2000, -2000, 2000])
    await portal.ledgerHolds()
    const told = await eventually('both are told', async () => {
      const all = await toldOf(won.id)
      return all.some(({ type }) => type === 'dispute.decided') && all
    })
    const of = { customer_id: an.id, dispute: { transaction_code: code, amount: 2000 } }
    expect(told).toMatchObject([
      { type: 'dispute.opened', data: { ...of, dispute: { state: 'needs_evidence' } } },
      { type: 'dispute.decided', data: { ...of, dispute: { state: 'won' } } },
    ])
  })

  test('whose every webhook is lost is found and posted by the hourly look, once', async () => {
    const an = await portal.customer({ region: 'AUD' })
    const { code, payment } = await paid(an)
    await eventsGo('lost')
    await dashboard({ action: 'dispute', payment })
    await lookAgain()
    await balances(an, 0)
    const { id, reference } = await disputeOf(code)
    await dashboard({ action: 'win', dispute: reference })
    await lookAgain()
    await balances(an, 2000)
    await lookAgain()
    await eventsGo('now')
    await disputeOf(code, ({ state }) => state === 'won')
    expect(await amounts(an)).toEqual([2000, -2000, 2000])
    expect((await wholeOf(id)).state).toBe('won')
    await portal.ledgerHolds()
  })

  test('that the bank only asks about moves no money', async () => {
    const an = await portal.customer({ region: 'AUD' })
    const { code, payment } = await paid(an)
    await dashboard({ action: 'inquire', payment })
    const shown = await disputeOf(code)
    expect(shown).toMatchObject({ isInquiry: true, money: 'kept', fee: null })
    expect((await wholeOf(shown.id)).posted).toBeNull()
    await finance.act('dispute.answer', { dispute: shown.id, evidence, reason })
    await disputeOf(code, ({ state }) => state === 'under_review')
    await dashboard({ action: 'win', dispute: shown.reference })
    await disputeOf(code, ({ state }) => state === 'closed')
    await balances(an, 2000)
    expect(await amounts(an)).toEqual([2000])
  })

  test('above the limit is accepted by two members, and lost', async () => {
    const an = await portal.customer({ region: 'AUD' })
    const { code, payment } = await paid(an, 100_000)
    await dashboard({ action: 'dispute', payment })
    const { id } = await disputeOf(code)
    const proposed = await finance.act<ActOutcome>('dispute.accept', { dispute: id, reason })
    expect(proposed.body.result.state).toBe('proposed')
    expect((await wholeOf(id)).answers).toEqual([])
    const approval = `/api/operator/proposals/${proposed.body.result.proposal}/approve`
    expect((await otherFinance.call('POST', approval)).status).toBe(200)
    await disputeOf(code, ({ state }) => state === 'lost')
    expect((await wholeOf(id)).answers).toMatchObject([{ kind: 'acceptance', status: 'done' }])
    await balances(an, 0)
    expect(await amounts(an)).toEqual([100_000, -100_000])
  })

  test('that was decided meanwhile is told to have refused the answer', async () => {
    const an = await portal.customer({ region: 'AUD' })
    const { code, payment } = await paid(an)
    await dashboard({ action: 'dispute', payment })
    const { id, reference } = await disputeOf(code)
    await eventsGo('lost')
    await dashboard({ action: 'lose', dispute: reference })
    await finance.act('dispute.answer', { dispute: id, evidence, reason })
    // It is lost at Stripe: nothing is left to be answered, and the desk says so.
    await disputeOf(code, ({ state }) => state === 'lost')
    await answerIs(id, 'refused')
    await eventsGo('now')
    expect((await finance.act('dispute.accept', { dispute: id, reason })).status).toBe(409)
  })
})

describe('what is read of a dispute', () => {
  test('by a list is not written over what is newer', async () => {
    const an = await portal.customer({ region: 'AUD' })
    const { code, payment } = await paid(an)
    await dashboard({ action: 'dispute', payment })
    const { id, reference } = await disputeOf(code)
    await eventsGo('lost')
    await dashboard({ action: 'lose', dispute: reference })
    const seen = (seen_at: Date) =>
      portal.app.db.updateTable('payment_dispute').set({ seen_at }).where('id', '=', id).execute()
    await seen(later(new Date(), hours(1)))
    await lookAgain()
    await jobsIdle(portal.app.db)
    expect((await wholeOf(id)).state).toBe('needs_evidence')
    await seen(later(new Date(), -hours(1)))
    await lookAgain()
    await disputeOf(code, ({ state }) => state === 'lost')
    await eventsGo('now')
  })

  test('decides an answer of which nobody knew whether it was sent', async () => {
    const an = await portal.customer({ region: 'AUD' })
    const { code, payment } = await paid(an)
    await dashboard({ action: 'dispute', payment })
    const { id } = await disputeOf(code)
    await finance.act('dispute.answer', { dispute: id, evidence, reason })
    await answerIs(id, 'done')
    await jobsIdle(portal.app.db)
    await portal.app.db
      .updateTable('payment_dispute_answer')
      .set({ status: 'unclear', settled_at: null })
      .where('dispute_id', '=', id)
      .execute()
    await lookAgain()
    await answerIs(id, 'done')
  })

  test('that was only an inquiry and is closed says that it is accepted', async () => {
    const an = await portal.customer({ region: 'AUD' })
    const { code, payment } = await paid(an)
    await dashboard({ action: 'inquire', payment })
    const { id, reference } = await disputeOf(code)
    await eventsGo('lost')
    await dashboard({ action: 'lose', dispute: reference })
    await finance.act('dispute.accept', { dispute: id, reason })
    await disputeOf(code, ({ state }) => state === 'closed')
    expect((await wholeOf(id)).answers).toMatchObject([{ kind: 'acceptance', status: 'done' }])
    await balances(an, 2000)
    await eventsGo('now')
  })

  test('and what is answered stands in the trail as a hash', async () => {
    const acts = await portal.app.db
      .selectFrom('operator_act')
      .select('input')
      .where('act', '=', 'dispute.answer')
      .execute()
    expect(acts.length).toBeGreaterThan(0)
    const hash = createHash('sha256').update(evidence).digest('hex')
    for (const { input } of acts) {
      expect(JSON.stringify(input)).not.toContain(evidence)
      expect(input).toMatchObject({ characters: evidence.length, sha256: hash })
    }
  })
})

describe('a dispute at Square', () => {
  test('is answered within its own length, and lost', async () => {
    const an = await portal.customer({ region: 'AUD' })
    const { code, payment } = await paidBySquare(an)
    await square({ action: 'dispute', payment })
    await balances(an, 0)
    const { id, reference, ...shown } = await disputeOf(code)
    expect(shown).toMatchObject({ gateway: 'Square', money: 'taken', fee: null })
    const long = await finance.act('dispute.answer', {
      dispute: id,
      evidence: 'x'.repeat(501),
      reason,
    })
    expect(long.body.error?.fields?.['dispute']).toContain('500')
    await finance.act('dispute.answer', { dispute: id, evidence, reason })
    await answerIs(id, 'done')
    await disputeOf(code, ({ state }) => state === 'under_review')
    await square({ action: 'lose', dispute: reference })
    await disputeOf(code, ({ state }) => state === 'lost')
    expect(await amounts(an)).toEqual([2000, -2000])
    await portal.ledgerHolds()
  })

  test('that is only asked about, and one that is accepted', async () => {
    const an = await portal.customer({ region: 'AUD' })
    const { code, payment } = await paidBySquare(an)
    await square({ action: 'inquire', payment })
    const { id } = await disputeOf(code)
    const { posted, isInquiry } = await wholeOf(id)
    expect([posted, isInquiry]).toEqual([null, true])
    await balances(an, 2000)
    await finance.act('dispute.accept', { dispute: id, reason })
    // Square takes the money of one that is accepted.
    await disputeOf(code, ({ state }) => state === 'lost')
    await balances(an, 0)
  })
})

test('a command answers a dispute too, and tries it first', async () => {
  const an = await portal.customer({ region: 'AUD' })
  const { code, payment } = await paid(an)
  await dashboard({ action: 'dispute', payment })
  const { id } = await disputeOf(code)
  const words = ['act', 'dispute.answer', '--dispute', id, '--evidence', evidence]
  const tried = await runCommand(portal, {}, ...words, '--reason', reason, '--dry-run', '--json')
  expect(JSON.parse(tried.said)).toMatchObject({ dryRun: true, state: 'done' })
  expect((await wholeOf(id)).answers).toEqual([])
  const done = await runCommand(portal, {}, ...words, '--reason', reason, '--json')
  expect(JSON.parse(done.said)).toMatchObject({ state: 'done' })
  await answerIs(id, 'done')
  const gone = await runCommand(portal, {}, ...words, '--reason', reason)
  expect(gone).toMatchObject({ code: 1, said: expect.stringContaining('no answer') as string })
})
