/** A gateway's word, from the wire to the settlement: stored raw first, then verified, then settled, then answered in the gateway's own words. */
import type { Clock } from '../platform/clock.ts'
import type { Database } from '../platform/db.ts'
import type { Log } from '../platform/log.ts'
import { ForgedNotice, type NoticeAnswer, type NoticeOutcome, type NoticeRequest, type PaymentDriver } from './driver.ts'
import type { Settlement } from './settle.ts'

/** A body longer than this is no notice. Bytes. */
const maxKeptBody = 64 * 1024

export async function receiveNotice(deps: { db: Database; clock: Clock; log: Log; settlement: Settlement }, driver: PaymentDriver, request: NoticeRequest): Promise<NoticeAnswer> {
  const { db, clock, log, settlement } = deps
  let stored: bigint | undefined
  let outcome: NoticeOutcome = 'error'
  let paymentId: string | null = null
  let eventId: string | null = null
  try {
    const raw = { method: request.method, query: request.query.toString(), body: request.rawBody.subarray(0, maxKeptBody).toString('utf8') }
    const row = await db.insertInto('payment_notice').values({ driver: driver.name, raw: JSON.stringify(raw), received_at: clock.now() }).returning('id').executeTakeFirstOrThrow()
    stored = row.id
    const notice = driver.readNotice(request)
    eventId = notice.eventId
    ;({ outcome, paymentId } = await settlement.settle(driver.name, notice))
  } catch (error) {
    if (error instanceof ForgedNotice) outcome = 'forged'
    log[error instanceof ForgedNotice ? 'warn' : 'error']({ err: error, driver: driver.name }, 'notice refused')
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
