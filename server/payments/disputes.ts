/**
 * Disputes. After every webhook about a dispute, and hourly for all of them, we query the gateway;
 * so neither the order of webhooks nor a missed one matters. The money follows once what the
 * gateway has done with it (reversals.ts). An operator's answer is a job that may run twice and
 * acts once.
 */
import { randomUUID } from 'node:crypto'
import { sql, type Selectable } from 'kysely'
import { days, later } from '../platform/clock.ts'
import type { DB } from '../platform/db-types.ts'
import { isUuid, transaction, type Database, type Tx } from '../platform/db.ts'
import { DriverFailure, type Sentence } from '../platform/errors.ts'
import type { Jobs } from '../platform/jobs.ts'
import type { Log } from '../platform/log.ts'
import type { OperatorOutbox } from '../realtime/index.ts'
import { tellOfDispute, type DisputeLetterDeps } from './dispute-letters.ts'
import type { GatewayDispute, PaymentDriver, PaymentUpdate } from './driver.ts'
import type { Settled, Settlement } from './settle.ts'

export type DisputeRow = Selectable<DB['payment_dispute']>

/**
 * Card schemes let a payer dispute a payment for about four months, and decide within another four.
 */
const listedMs = days(250)
const answerJob = (driver: string): string => `answer-dispute-${driver}`

/** Why a dispute cannot be answered, for the operator. */
export class NotAnswerable extends Error {
  readonly text: Sentence
  constructor(text: Sentence) {
    super(text.en)
    this.text = text
  }
}

export interface Answered {
  readonly dispute: DisputeRow
  readonly answerId: string
  readonly customerId: string
}
export interface Disputes {
  /** Queries the gateway for the state of a dispute and applies it. */
  refresh(driver: PaymentDriver, reference: string): Promise<Settled>
}
export interface DisputeAnswers {
  /**
   * Schedules the operator's answer; without `text` the dispute is accepted. A job calls the
   * gateway. Throws NotAnswerable.
   */
  answerIn(tx: Tx, disputeId: string, text?: string): Promise<Answered>
}

const isDecided = ({ state }: Pick<GatewayDispute, 'state'>): boolean =>
  state === 'won' || state === 'lost' || state === 'closed'

/**
 * Whether the dispute is in the state that an answer of this kind leads to. Accepting an inquiry
 * takes no money, so it ends as `closed`.
 */
const isAnswered = (kind: string, { state, isInquiry }: GatewayDispute): boolean =>
  kind === 'evidence'
    ? state === 'under_review'
    : state === 'lost' || (isInquiry && state === 'closed')

/** The updates that say how the gateway moved the money. */
function movesOf(dispute: GatewayDispute, reference: string): PaymentUpdate[] {
  const move = (status: 'reversed' | 'restored'): PaymentUpdate => ({
    eventId: `dispute:${dispute.id}:${status}`,
    reference,
    providerTransactionId: dispute.id,
    status,
    amount: dispute.amount,
    currency: dispute.currency,
    occurredAt: dispute.openedAt,
    detail: `dispute ${dispute.reason}`,
  })
  if (dispute.money === 'kept') return []
  return dispute.money === 'taken' ? [move('reversed')] : [move('reversed'), move('restored')]
}

interface Deps extends DisputeLetterDeps {
  readonly db: Database
  readonly jobs: Jobs
  readonly log: Log
  readonly outbox: OperatorOutbox
}

/** A gateway's report about a dispute, and its time. */
interface Said {
  /** A lower bound for the time at which the report is true. */
  readonly at: Date
  /** Whether the gateway was asked about this one alone, now: a list may be older than it looks. */
  readonly isFresh: boolean
}

/**
 * Stores the dispute's state unless a newer one is stored. A fresh state also decides an answer
 * whose outcome was unknown.
 */
async function note(
  deps: DisputeLetterDeps & Pick<Deps, 'db' | 'outbox'>,
  driver: string,
  payment: { readonly id: string; readonly code: string; readonly customer_id: string },
  dispute: GatewayDispute,
  said: Said,
): Promise<void> {
  const { db, clock, outbox } = deps
  const now = clock.now()
  const told = {
    state: dispute.state,
    is_inquiry: dispute.isInquiry,
    amount: dispute.amount,
    reason: dispute.reason,
    fee: dispute.fee,
    money: dispute.money,
    evidence_due_at: dispute.evidenceDueAt,
    seen_at: said.at,
  }
  await transaction(db, async (tx) => {
    const before = await tx
      .selectFrom('payment_dispute')
      .select('closed_at')
      .where('driver', '=', driver)
      .where('reference', '=', dispute.id)
      .forUpdate()
      .executeTakeFirst()
    const row = await tx
      .insertInto('payment_dispute')
      .values({
        ...told,
        id: randomUUID(),
        driver,
        reference: dispute.id,
        payment_id: payment.id,
        currency: dispute.currency,
        opened_at: dispute.openedAt,
        closed_at: isDecided(dispute) ? now : null,
      })
      .onConflict((conflict) =>
        conflict
          .columns(['driver', 'reference'])
          .doUpdateSet((eb) => ({
            ...told,
            // The moment at which it was first found decided stays.
            closed_at: isDecided(dispute)
              ? eb.fn.coalesce('payment_dispute.closed_at', eb.val(now))
              : null,
          }))
          .where('payment_dispute.seen_at', '<=', said.at),
      )
      .returning(['id', 'closed_at', sql<boolean>`xmax = 0`.as('isNew')])
      .executeTakeFirst()
    if (!row) return
    const isFirstDecided = row.closed_at !== null && before?.closed_at === null
    if (row.isNew || isFirstDecided)
      await outbox.tellOperator(tx, {
        event: row.isNew ? 'dispute.opened' : 'dispute.decided',
        customerId: payment.customer_id,
        payload: {
          dispute: {
            id: row.id,
            gateway: driver,
            transaction_code: payment.code,
            state: dispute.state,
            reason: dispute.reason,
            amount: Number(dispute.amount),
            currency: dispute.currency,
            evidence_due_at: dispute.evidenceDueAt?.toISOString() ?? null,
          },
        },
      })
    // A gateway's first list has old disputes too, that nobody can answer any more.
    if (row.isNew && row.closed_at === null)
      await tellOfDispute(tx, deps, {
        ...told,
        id: row.id,
        driver,
        code: payment.code,
        currency: dispute.currency,
      })
    if (!said.isFresh) return
    // An answer is `unclear` when its outcome was unknown. If the dispute still needs evidence, the
    // gateway did not receive the answer.
    const status = dispute.state === 'needs_evidence' ? 'refused' : 'done'
    await tx
      .updateTable('payment_dispute_answer')
      .set({ status, settled_at: now })
      .where('dispute_id', '=', row.id)
      .where('status', '=', 'unclear')
      .execute()
  })
}

export function createDisputes(deps: Deps & { readonly settlement: Settlement }): Disputes {
  const { db, jobs, log, drivers, settlement } = deps

  async function apply(
    driver: PaymentDriver,
    dispute: GatewayDispute,
    said: Said,
  ): Promise<Settled> {
    const payment = await db
      .selectFrom('payment')
      .select(['id', 'code', 'customer_id', 'reference'])
      .where('driver', '=', driver.name)
      .where((eb) =>
        eb.or([
          eb('provider_ref', '=', dispute.paymentRef),
          eb('provider_transaction_id', '=', dispute.paymentRef),
        ]),
      )
      .executeTakeFirst()
    // The account may sell other things too.
    if (!payment) return { outcome: 'unknown_order', paymentId: null }
    let outcome: Settled['outcome'] = 'already'
    for (const update of movesOf(dispute, payment.reference)) {
      const settled = await settlement.settle(driver, update)
      if (settled.outcome !== 'already') outcome = settled.outcome
    }
    await note(deps, driver.name, payment, dispute, said)
    return { outcome, paymentId: payment.id }
  }

  async function refresh(driver: PaymentDriver, reference: string): Promise<Settled> {
    const at = deps.clock.now()
    const dispute = (await driver.disputes?.get(reference)) ?? null
    if (!dispute) return { outcome: 'unknown_order', paymentId: null }
    return await apply(driver, dispute, { at, isFresh: true })
  }

  /** References of disputes with an answer of unknown outcome. */
  async function unclear(driver: PaymentDriver): Promise<string[]> {
    const rows = await db
      .selectFrom('payment_dispute_answer as a')
      .innerJoin('payment_dispute as d', 'd.id', 'a.dispute_id')
      .select('d.reference')
      .where('d.driver', '=', driver.name)
      .where('a.status', '=', 'unclear')
      .execute()
    return rows.map(({ reference }) => reference)
  }

  for (const driver of drivers.values()) {
    const { disputes } = driver
    if (!disputes) continue
    jobs.define({
      name: `look-at-disputes-${driver.name}`,
      cron: '41 * * * *',
      // The next one asks for the same and more.
      retries: 0,
      limitSeconds: 600,
      async run() {
        try {
          // The gateway keeps to the wall's clock.
          const at = deps.clock.now()
          for (const dispute of await disputes.list(later(new Date(), -listedMs)))
            await apply(driver, dispute, { at, isFresh: false })
          for (const reference of await unclear(driver)) await refresh(driver, reference)
        } catch (error) {
          if (!(error instanceof DriverFailure)) throw error
          log.warn({ err: error, driver: driver.name }, 'a gateway gave no list of its disputes')
        }
      },
    })
    jobs.define<{ answerId: string }>({
      name: answerJob(driver.name),
      retries: 12,
      retryDelaySeconds: 2,
      limitSeconds: 60,
      run: ({ answerId }, attempt) => send(driver, answerId, attempt.last),
    })
  }

  async function send(driver: PaymentDriver, answerId: string, last: boolean): Promise<void> {
    const calls = driver.disputes
    const answer = await db
      .selectFrom('payment_dispute_answer as a')
      .innerJoin('payment_dispute as d', 'd.id', 'a.dispute_id')
      .select(['a.kind', 'a.text', 'a.status', 'd.reference'])
      .where('a.id', '=', answerId)
      .executeTakeFirstOrThrow()
    if (!calls || answer.status === 'done' || answer.status === 'refused') return
    const close = (status: 'done' | 'refused' | 'unclear', detail: string | null) =>
      db
        .updateTable('payment_dispute_answer')
        .set({ status, detail, settled_at: status === 'unclear' ? null : deps.clock.now() })
        .where('id', '=', answerId)
        .where('status', 'in', ['requested', 'unclear'])
        .execute()
    const key = answerId.replaceAll('-', '')
    try {
      const now =
        answer.kind === 'evidence'
          ? await calls.submit(answer.reference, { answerId: key, text: answer.text })
          : await calls.accept(answer.reference, key)
      // A state reported before this moment is older than our answer.
      const at = deps.clock.now()
      await close('done', null)
      await apply(driver, now, { at, isFresh: true })
    } catch (error) {
      if (!(error instanceof DriverFailure)) throw error
      log.error({ err: error, answer: answerId, driver: driver.name }, 'a dispute was not answered')
      if (error.kind !== 'rejected' && !last) throw error
      // An earlier attempt whose response was lost may have succeeded: the dispute's state decides.
      const at = deps.clock.now()
      const now = await calls.get(answer.reference).catch((failure: unknown) => {
        if (failure instanceof DriverFailure) return undefined
        throw failure
      })
      if (now === undefined) return void (await close('unclear', error.message))
      const isSent = now !== null && isAnswered(answer.kind, now)
      await close(isSent ? 'done' : 'refused', isSent ? null : error.message)
      if (now) await apply(driver, now, { at, isFresh: true })
    }
  }

  return { refresh }
}

/** Commands use it too; they only add the job and do not run it. */
export function createDisputeAnswers(
  deps: Pick<Deps, 'clock' | 'drivers'> & { readonly jobs: Pick<Jobs, 'add'> },
): DisputeAnswers {
  return {
    async answerIn(tx, disputeId, text) {
      const row = isUuid(disputeId)
        ? await tx
            .selectFrom('payment_dispute')
            .selectAll()
            .where('id', '=', disputeId)
            .forUpdate()
            .executeTakeFirst()
        : undefined
      const calls = row && deps.drivers.get(row.driver)?.disputes
      if (!row)
        throw new NotAnswerable({ en: 'There is no such dispute.', vi: 'Không có khiếu nại này.' })
      if (!calls)
        throw new NotAnswerable({
          en: 'This gateway takes answers at its own desk only.',
          vi: 'Cổng này chỉ nhận phản hồi trên trang quản trị của họ.',
        })
      if (row.state !== 'needs_evidence')
        throw new NotAnswerable({
          en: 'This dispute waits for no answer.',
          vi: 'Khiếu nại này không chờ phản hồi.',
        })
      if (text !== undefined && text.length > calls.longestText)
        throw new NotAnswerable({
          en: `This gateway takes ${calls.longestText} characters at most.`,
          vi: `Cổng này chỉ nhận tối đa ${calls.longestText} ký tự.`,
        })
      const before = await tx
        .selectFrom('payment_dispute_answer')
        .select('id')
        .where('dispute_id', '=', row.id)
        .where('status', '!=', 'refused')
        .executeTakeFirst()
      if (before)
        throw new NotAnswerable({
          en: 'This dispute has its answer already.',
          vi: 'Khiếu nại này đã được phản hồi.',
        })
      const answerId = randomUUID()
      await tx
        .insertInto('payment_dispute_answer')
        .values({
          id: answerId,
          dispute_id: row.id,
          kind: text === undefined ? 'acceptance' : 'evidence',
          text: text ?? '',
          status: 'requested',
          created_at: deps.clock.now(),
        })
        .execute()
      await deps.jobs.add(tx, answerJob(row.driver), { answerId })
      const { customer_id: customerId } = await tx
        .selectFrom('payment')
        .select('customer_id')
        .where('id', '=', row.payment_id)
        .executeTakeFirstOrThrow()
      return { dispute: row, answerId, customerId }
    },
  }
}
