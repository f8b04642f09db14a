/**
 * A gateway's webhook, from the wire to the settlement: verify, store as received, settle, then
 * answer in the gateway's own format.
 */
import { dropOld } from '../platform/batches.ts'
import type { Clock } from '../platform/clock.ts'
import type { Database, Tx } from '../platform/db.ts'
import { Refusal } from '../platform/errors.ts'
import type { Jobs } from '../platform/jobs.ts'
import type { Limit } from '../platform/limits.ts'
import type { Log } from '../platform/log.ts'
import { networkOf } from '../platform/network.ts'
import {
  ForgedWebhook,
  type DisputeNotice,
  type RecheckRequest,
  type PaymentUpdate,
  type WebhookResponse,
  type UpdateOutcome,
  type WebhookEvent,
  type WebhookRequest,
  type PaymentDriver,
} from './driver.ts'
import type { Disputes } from './disputes.ts'
import { eventOfJson, eventToJson } from './notice-event.ts'
import type { Orders } from './orders.ts'
import type { Settled, Settlement } from './settle.ts'

/**
 * How much of a webhook is stored, characters: a genuine one is far shorter, and of a forged one
 * the beginning suffices.
 */
const maxKept = { verified: 64 * 1024, forged: 2 * 1024 }

/** PostgreSQL's text holds no NUL. */
const keepable = (text: string, length: number): string =>
  text.slice(0, length).replaceAll('\0', '\uFFFD')

/** Queries the gateway about the payment that an untrusted webhook names. */
async function recheckPayment(
  deps: { db: Database; settlement: Settlement; orders: Orders },
  driver: PaymentDriver,
  recheck: RecheckRequest,
): Promise<Settled> {
  const { db, settlement, orders } = deps
  const payment = await db
    .selectFrom('payment')
    .selectAll()
    .where('reference', '=', recheck.reference)
    .where('driver', '=', driver.name)
    .executeTakeFirst()
  if (!payment) return { outcome: 'unknown_order', paymentId: null }
  const update = await driver.lookUp(
    orders.orderOf(payment, await orders.buyerOf(payment.customer_id)),
    recheck.about,
  )
  return update
    ? await settlement.settle(driver, update)
    : { outcome: 'unknown_order', paymentId: payment.id }
}

/** An update about a refund or a dispute may name the payment only by the gateway's id. */
async function named(
  db: Database,
  driver: PaymentDriver,
  update: PaymentUpdate,
): Promise<PaymentUpdate> {
  if (update.reference !== null || update.paymentRef === undefined) return update
  const payment = await db
    .selectFrom('payment')
    .select('reference')
    // If the response to our own call was lost, the webhook about the money is the source of the
    // gateway's id.
    .where((eb) =>
      eb.or([
        eb('provider_ref', '=', update.paymentRef ?? ''),
        eb('provider_transaction_id', '=', update.paymentRef ?? ''),
      ]),
    )
    .where('driver', '=', driver.name)
    .executeTakeFirst()
  return { ...update, reference: payment?.reference ?? null }
}

/**
 * Called after each webhook is handled. `lagSeconds`: seconds between the movement, by the
 * gateway's clock, and the webhook; null where the gateway does not give the time.
 */
export type WebhookObserver = (
  gateway: string,
  outcome: UpdateOutcome,
  lagSeconds: number | null,
) => void

interface WebhookDeps {
  readonly db: Database
  readonly log: Log
  readonly settlement: Settlement
  readonly orders: Orders
  readonly disputes: Disputes
}

/** Handles a genuine webhook. */
async function handle(
  deps: WebhookDeps,
  driver: PaymentDriver,
  event: PaymentUpdate | RecheckRequest | DisputeNotice,
): Promise<Settled> {
  const { db, log, settlement, disputes } = deps
  if ('ask' in event) return await recheckPayment(deps, driver, event)
  if ('dispute' in event) return await disputes.refresh(driver, event.dispute)
  const settled = await settlement.settle(driver, await named(db, driver, event))
  if (event.disputeId !== undefined)
    // The money is booked. The dispute's state is queried again within the hour.
    await disputes.refresh(driver, event.disputeId).catch((error: unknown) => {
      log.warn({ err: error, driver: driver.name }, 'a dispute could not be asked about')
    })
  return settled
}

export async function receiveWebhook(
  deps: WebhookDeps & {
    clock: Clock
    forgeries: Limit
    onWebhook: WebhookObserver
  },
  driver: PaymentDriver,
  request: WebhookRequest & { readonly ip: string },
): Promise<WebhookResponse> {
  const { db, clock, log } = deps
  let stored: bigint | undefined
  let outcome: UpdateOutcome = 'error'
  let paymentId: string | null = null
  let eventId: string | null = null
  let lagSeconds: number | null = null
  const store = async (length: number, event: WebhookEvent = null): Promise<void> => {
    const raw = {
      method: request.method,
      query: keepable(request.query.toString(), length),
      body: keepable(request.rawBody.toString('utf8'), length),
    }
    const row = await db
      .insertInto('payment_notice')
      .values({
        driver: driver.name,
        raw: JSON.stringify(raw),
        event: eventToJson(event),
        received_at: clock.now(),
      })
      .returning('id')
      .executeTakeFirstOrThrow()
    stored = row.id
  }
  try {
    const event = driver.readWebhook(request)
    await store(maxKept.verified, event)
    if (event === null) outcome = 'recorded'
    else {
      eventId = event.eventId
      if ('occurredAt' in event && event.occurredAt)
        lagSeconds = Math.max(0, clock.now().getTime() - event.occurredAt.getTime()) / 1000
      ;({ outcome, paymentId } = await handle(deps, driver, event))
    }
  } catch (error) {
    if (error instanceof ForgedWebhook) {
      outcome = 'forged'
      log.warn({ driver: driver.name, reason: error.message }, 'forged webhook')
      // The log shows a flood of forgeries; they must not fill the table.
      const few = await deps.forgeries.take(networkOf(request.ip)).then(
        () => true,
        () => false,
      )
      if (few)
        await store(maxKept.forged).catch((failure: unknown) =>
          log.error({ err: failure }, 'a forged webhook was not stored'),
        )
    } else log.error({ err: error, driver: driver.name }, 'webhook failed')
  }
  if (stored !== undefined) {
    await db
      .updateTable('payment_notice')
      .set({ event_id: eventId, outcome, payment_id: paymentId })
      .where('id', '=', stored)
      .execute()
      .catch((error: unknown) =>
        log.error({ err: error }, 'the outcome of a webhook was not stored'),
      )
  }
  deps.onWebhook(driver.name, outcome, lagSeconds)
  return driver.answerTo(outcome)
}

const replayJob = 'replay-webhook'

/**
 * Handles a stored webhook again, in the form read when it came: its signature was verified then,
 * and some gateways' signatures are valid for minutes only. Its content is posted once, however
 * often it is handled.
 */
export function defineReplays(
  deps: WebhookDeps & {
    readonly clock: Clock
    readonly jobs: Pick<Jobs, 'define'>
    readonly drivers: ReadonlyMap<string, PaymentDriver>
  },
): void {
  const { db, clock, log } = deps
  deps.jobs.define<{ notice: string }>({
    name: replayJob,
    // The member who asked for the replay sees its result and can ask again.
    retries: 0,
    async run({ notice }) {
      const row = await db
        .selectFrom('payment_notice')
        .select(['driver', 'event'])
        .where('id', '=', BigInt(notice))
        .executeTakeFirst()
      const event = eventOfJson(row?.event)
      const driver = deps.drivers.get(row?.driver ?? '')
      if (!event || !driver) return
      let settled: Settled = { outcome: 'error', paymentId: null }
      try {
        settled = await handle(deps, driver, event)
      } catch (error) {
        log.error({ err: error, driver: driver.name, notice }, 'a webhook failed again')
      }
      await db
        .updateTable('payment_notice')
        .set({
          replayed_at: clock.now(),
          replay_outcome: settled.outcome,
          ...(settled.paymentId !== null && { payment_id: settled.paymentId }),
        })
        .where('id', '=', BigInt(notice))
        .execute()
    },
  })
}

/** Answers which gateway it is of. Refuses with not_found, and with conflict what cannot be. */
export async function replayNotice(
  tx: Tx,
  {
    jobs,
    drivers,
  }: {
    readonly jobs: Pick<Jobs, 'add'>
    readonly drivers: ReadonlyMap<string, PaymentDriver>
  },
  id: number,
): Promise<{ driver: string; outcome: string | null; paymentId: string | null }> {
  const row = await tx
    .selectFrom('payment_notice')
    .select(['driver', 'event', 'outcome', 'payment_id'])
    .where('id', '=', BigInt(id))
    .executeTakeFirst()
  if (!row) throw new Refusal('not_found')
  const { driver, outcome, payment_id: paymentId } = row
  if (!eventOfJson(row.event) || !drivers.has(driver))
    throw new Refusal('conflict', {
      fields: {
        notice: {
          en: 'A forged webhook, one that concerns no payment, or an old one is not handled again.',
          vi: 'Không xử lý lại webhook giả mạo, không liên quan đến thanh toán hoặc quá cũ.',
        },
      },
    })
  await jobs.add(tx, replayJob, { notice: String(id) })
  return { driver, outcome, paymentId }
}

/** Anybody can send forged webhooks; they are stored for a month. */
export const dropForgedWebhooks = (db: Database, clock: Clock): Promise<void> =>
  dropOld(db, clock, 'payment_notice')
