/**
 * A gateway's word, from the wire to the settlement: verified, stored as it came, settled, then
 * answered in the gateway's own words.
 */
import { days, later, type Clock } from '../platform/clock.ts'
import type { Database } from '../platform/db.ts'
import type { Limit } from '../platform/limits.ts'
import type { Log } from '../platform/log.ts'
import { networkOf } from '../platform/network.ts'
import {
  ForgedNotice,
  type Hint,
  type Notice,
  type NoticeAnswer,
  type NoticeOutcome,
  type NoticeRequest,
  type PaymentDriver,
} from './driver.ts'
import type { Orders } from './orders.ts'
import type { Settled, Settlement } from './settle.ts'

/**
 * How much of a word is kept, characters: a gateway's own is far shorter, and of a forged one the
 * beginning tells enough.
 */
const maxKept = { verified: 64 * 1024, forged: 2 * 1024 }

/** PostgreSQL's text holds no NUL. */
const keepable = (text: string, length: number): string =>
  text.slice(0, length).replaceAll('\0', '\uFFFD')

/** A hint is not believed: the gateway is asked about the payment that it names. */
async function followHint(
  deps: { db: Database; settlement: Settlement; orders: Orders },
  driver: PaymentDriver,
  hint: Hint,
): Promise<Settled> {
  const { db, settlement, orders } = deps
  const payment = await db
    .selectFrom('payment')
    .selectAll()
    .where('reference', '=', hint.reference)
    .where('driver', '=', driver.name)
    .executeTakeFirst()
  if (!payment) return { outcome: 'unknown_order', paymentId: null }
  const notice = await driver.lookUp(
    orders.orderOf(payment, await orders.buyerOf(payment.customer_id)),
    hint.about,
  )
  return notice
    ? await settlement.settle(driver, notice)
    : { outcome: 'unknown_order', paymentId: payment.id }
}

/** A word about a refund or a dispute may name the payment only as the gateway does. */
async function named(db: Database, driver: PaymentDriver, notice: Notice): Promise<Notice> {
  if (notice.reference !== null || notice.paymentRef === undefined) return notice
  const payment = await db
    .selectFrom('payment')
    .select('reference')
    // Where the answer to our own call was lost, the gateway's id is known from its word about the
    // money.
    .where((eb) =>
      eb.or([
        eb('provider_ref', '=', notice.paymentRef ?? ''),
        eb('provider_transaction_id', '=', notice.paymentRef ?? ''),
      ]),
    )
    .where('driver', '=', driver.name)
    .executeTakeFirst()
  return { ...notice, reference: payment?.reference ?? null }
}

export async function receiveNotice(
  deps: {
    db: Database
    clock: Clock
    log: Log
    settlement: Settlement
    orders: Orders
    forgeries: Limit
  },
  driver: PaymentDriver,
  request: NoticeRequest & { readonly ip: string },
): Promise<NoticeAnswer> {
  const { db, clock, log, settlement } = deps
  let stored: bigint | undefined
  let outcome: NoticeOutcome = 'error'
  let paymentId: string | null = null
  let eventId: string | null = null
  const store = async (length: number): Promise<void> => {
    const raw = {
      method: request.method,
      query: keepable(request.query.toString(), length),
      body: keepable(request.rawBody.toString('utf8'), length),
    }
    const row = await db
      .insertInto('payment_notice')
      .values({ driver: driver.name, raw: JSON.stringify(raw), received_at: clock.now() })
      .returning('id')
      .executeTakeFirstOrThrow()
    stored = row.id
  }
  try {
    const word = driver.readNotice(request)
    await store(maxKept.verified)
    if (word === null) outcome = 'recorded'
    else {
      eventId = word.eventId
      ;({ outcome, paymentId } =
        'ask' in word
          ? await followHint(deps, driver, word)
          : await settlement.settle(driver, await named(db, driver, word)))
    }
  } catch (error) {
    if (error instanceof ForgedNotice) {
      outcome = 'forged'
      log.warn({ driver: driver.name, reason: error.message }, 'forged notice')
      // A flood of them is told from the log: it shall not fill the table.
      const few = await deps.forgeries.take(networkOf(request.ip)).then(
        () => true,
        () => false,
      )
      if (few)
        await store(maxKept.forged).catch((failure: unknown) =>
          log.error({ err: failure }, 'forged notice not kept'),
        )
    } else log.error({ err: error, driver: driver.name }, 'notice refused')
  }
  if (stored !== undefined) {
    await db
      .updateTable('payment_notice')
      .set({ event_id: eventId, outcome, payment_id: paymentId })
      .where('id', '=', stored)
      .execute()
      .catch((error: unknown) => log.error({ err: error }, 'notice not marked'))
  }
  return driver.answerTo(outcome)
}

const forgedLifeMs = days(30)

/** Anybody can write forged words; they are kept for a month. */
export async function dropForgedNotices(db: Database, clock: Clock): Promise<void> {
  await db
    .deleteFrom('payment_notice')
    .where('outcome', '=', 'forged')
    .where('received_at', '<', later(clock.now(), -forgedLifeMs))
    .execute()
}
