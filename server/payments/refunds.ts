/**
 * Refunds to the source: the wallet is debited first, then a job that may run twice and acts once
 * asks the gateway. If the gateway refuses, the wallet is credited again; if the result is unclear,
 * an operator decides.
 */
import { randomUUID } from 'node:crypto'
import type { Insertable } from 'kysely'
import type { Currency } from '../../contract/money.ts'
import { later, minutes, type Clock } from '../platform/clock.ts'
import type { DB } from '../platform/db-types.ts'
import { isUuid, transaction, type Database, type Queryable, type Tx } from '../platform/db.ts'
import { DriverFailure } from '../platform/errors.ts'
import type { Jobs } from '../platform/jobs.ts'
import type { Log } from '../platform/log.ts'
import type { Ledger } from '../wallet/index.ts'
import type { PaymentDriver } from './driver.ts'
import type { Letters } from './letters.ts'
import { isClosed, type Orders, type PaymentRow } from './orders.ts'
import { closeRefund, type RefundEnd, decidedByHand } from './refund-close.ts'
import { NotRefundable, type BegunRefund, type Refunds, type RefundWay } from './refund-terms.ts'
import { refundedTotal, refusedAmong } from './reversals.ts'

/** One queue per gateway: a gateway that hangs delays only its own customers. */
const jobOf = (driver: string): string => `refund-to-source-${driver}`
/** The one queue of releases from before each gateway had its own. */
const formerJob = 'refund-to-source'

/** A payment and what of it is given back, minor units. */
interface Refundable {
  readonly payment: PaymentRow
  readonly amount: bigint
  readonly provider: string
}

const begun = (id: string, { payment, amount }: Refundable): BegunRefund => ({
  id,
  customerId: payment.customer_id,
  amount,
  currency: payment.currency as Currency,
})

/** After this time, ms, a refund without an answer is stuck: its job was given up or never ran. */
export const refundLimitMs = minutes(60)

export function createRefunds(deps: {
  db: Database
  clock: Clock
  ledger: Ledger
  jobs: Jobs
  drivers: ReadonlyMap<string, PaymentDriver>
  orders: Orders
  log: Log
  letters: Letters
}): Refunds {
  const { db, clock, ledger, jobs, drivers, orders, log } = deps

  const rowOf = async (from: Queryable, id: string) => {
    const refund = await from
      .selectFrom('payment_refund')
      .selectAll()
      .where('id', '=', id)
      .executeTakeFirstOrThrow()
    const payment = await from
      .selectFrom('payment')
      .selectAll()
      .where('id', '=', refund.payment_id)
      .executeTakeFirstOrThrow()
    // A gateway whose keys were removed keeps its open refunds: an operator can still decide them.
    const provider = drivers.get(payment.driver)?.displayName ?? payment.driver
    return { refund, payment, provider }
  }
  const close = async (id: string, provider: string, end: RefundEnd): Promise<void> =>
    await transaction(db, async (tx) => await closeRefund(deps, tx, id, provider, end))

  async function act(id: string, last: boolean): Promise<void> {
    const { refund, payment, provider } = await rowOf(db, id)
    if (refund.status === 'done' || refund.status === 'refused') return
    const driver = drivers.get(payment.driver)
    if (!driver) throw new Error(`${payment.driver} is not configured`)
    // Stored before the gateway is called: if the process is killed now, the next attempt knows of
    // this one.
    const { attempts, doubted_at: doubtedAt } = await db
      .updateTable('payment_refund')
      .set((row) => ({
        attempts: row('attempts', '+', 1),
        doubted_at: row.fn.coalesce('doubted_at', row.val(clock.now())),
      }))
      .where('id', '=', id)
      .returning(['attempts', 'doubted_at'])
      .executeTakeFirstOrThrow()
    // `isFirst`: no earlier attempt can have refunded. An attempt begun since the row was read
    // counts as earlier.
    const isFirst = refund.doubted_at === null && attempts === refund.attempts + 1
    try {
      if (!driver.refund) throw new DriverFailure('rejected', `${driver.name} cannot refund`)
      const order = orders.orderOf(payment, await orders.buyerOf(payment.customer_id))
      const update = await driver.refund(order, {
        refundId: id.replaceAll('-', ''),
        amount: refund.amount,
        reason: refund.reason,
        providerTransactionId: payment.provider_transaction_id,
        // Gateways keep to the wall's clock, also where ours was moved.
        ...(!isFirst &&
          doubtedAt !== null && {
            firstAskedAt: later(new Date(), doubtedAt.getTime() - clock.now().getTime()),
          }),
      })
      await close(id, provider, {
        wanted: update.status === 'failed' ? 'refused' : 'done',
        detail: update.detail,
        providerRefundId: update.providerTransactionId,
        sole: attempts,
      })
    } catch (error) {
      if (!(error instanceof DriverFailure)) throw error
      // A refusal of this attempt says nothing of an earlier attempt whose response was lost: then
      // an operator decides.
      const none = { detail: error.message, providerRefundId: null }
      if (error.kind === 'rejected') {
        const wanted = isFirst ? 'refused' : 'unclear'
        return await close(id, provider, { ...none, wanted, sole: attempts })
      }
      // This attempt certainly did nothing. The update is conditional, because another attempt may
      // have begun meanwhile.
      if (error.kind === 'unavailable' && isFirst)
        await db
          .updateTable('payment_refund')
          .set({ doubted_at: null })
          .where('id', '=', id)
          .where('attempts', '=', attempts)
          .execute()
      // The refund may have happened: the same id is sent again, and after the last attempt an
      // operator decides.
      log.error({ err: error, refund: id, driver: driver.name }, 'a refund is not decided')
      if (last) return await close(id, provider, { ...none, wanted: 'unclear' })
      throw error
    }
  }
  for (const name of [formerJob, ...[...drivers.keys()].map(jobOf)])
    jobs.define<{ refundId: string }>({
      name,
      retries: 12,
      retryDelaySeconds: 2,
      limitSeconds: 60,
      run: ({ refundId }, attempt) => act(refundId, attempt.last),
    })

  /**
   * The payment, locked, and how much of it to give back: `wanted`, or all that is left, minor
   * units. Throws NotRefundable.
   */
  async function refundable(
    tx: Tx,
    code: string,
    wanted: bigint | undefined,
    way: RefundWay,
  ): Promise<Refundable> {
    const payment = await tx
      .selectFrom('payment')
      .selectAll()
      .where('code', '=', code)
      .forUpdate()
      .executeTakeFirst()
    if (!payment)
      throw new NotRefundable({
        en: `There is no payment ${code}.`,
        vi: `Không có giao dịch ${code}.`,
      })
    const driver = drivers.get(payment.driver)
    const provider = driver?.displayName ?? payment.driver
    if (way === 'gateway' && !driver?.refund)
      throw new NotRefundable({
        en: `${provider} gives no money back; transfer it by hand.`,
        vi: `${provider} không hỗ trợ hoàn tiền; hãy chuyển khoản thủ công.`,
      })
    if (way === 'hand' && (await isClosed(tx, payment.customer_id)))
      throw new NotRefundable({
        en: 'The account of this payment is closed: nothing can be entered in its wallet.',
        vi: 'Tài khoản của giao dịch này đã đóng: không thể ghi nhận vào ví.',
      })
    if (way === 'hand' && driver?.refund && !(await refusedAmong(tx, [payment.id])).has(payment.id))
      throw new NotRefundable({
        en: `${provider} gives money back itself: begin a refund. If it refuses, enter a transfer.`,
        vi:
          `${provider} có hỗ trợ hoàn tiền: hãy dùng chức năng hoàn tiền. Nếu bị từ chối, hãy ` +
          'chuyển khoản rồi ghi nhận.',
      })
    if (payment.status !== 'succeeded')
      throw new NotRefundable({
        en: `The payment ${code} has brought no money.`,
        vi: `Giao dịch ${code} chưa nhận được tiền.`,
      })
    const gone = await refundedTotal(tx, payment.id)
    const left = payment.received > gone ? payment.received - gone : 0n
    const amount = wanted ?? left
    if (amount <= 0n || amount > left)
      throw new NotRefundable({
        en: `Of the payment ${code} ${left} are left to give back.`,
        vi: `Giao dịch ${code} chỉ còn ${left} có thể hoàn lại.`,
      })
    return { payment, amount, provider }
  }

  const detailsOf = ({ payment, provider }: Refundable, reason: string) => ({
    provider,
    code: payment.code,
    reason,
  })

  /** Takes the money out of the wallet; returns the refund's id. Undefined: the wallet is short. */
  async function withhold(tx: Tx, of: Refundable, reason: string): Promise<string | undefined> {
    const { payment, amount } = of
    const id = randomUUID()
    const { outcome } = await ledger.withhold(tx, {
      key: `refund:${id}`,
      customerId: payment.customer_id,
      driver: payment.driver,
      amount,
      currency: payment.currency as Currency,
      details: detailsOf(of, reason),
    })
    if (outcome === 'short') return undefined
    await write(tx, of, { id, reason, status: 'requested' })
    return id
  }

  /**
   * Books money that leaves by a transfer of ours. What the wallet no longer holds is owed, and the
   * customer told. Returns the refund's id.
   */
  async function sentBack(
    tx: Tx,
    of: Refundable,
    reason: string,
    bankReference: string,
  ): Promise<string> {
    const { payment, amount, provider } = of
    const id = randomUUID()
    const moved = {
      customerId: payment.customer_id,
      amount,
      currency: payment.currency as Currency,
    }
    const { owed } = await ledger.sendBack(tx, {
      ...moved,
      key: `refund:${id}`,
      driver: payment.driver,
      details: detailsOf(of, reason),
    })
    await deps.letters.transferred(tx, { ...moved, provider, transactionCode: payment.code, owed })
    await write(tx, of, {
      id,
      reason,
      status: 'done',
      detail: decidedByHand,
      provider_refund_id: bankReference,
      settled_at: clock.now(),
    })
    return id
  }

  const write = (
    tx: Tx,
    { payment, amount }: Refundable,
    refund: Pick<Insertable<DB['payment_refund']>, 'id' | 'reason' | 'status'> &
      Partial<Insertable<DB['payment_refund']>>,
  ) =>
    tx
      .insertInto('payment_refund')
      .values({ payment_id: payment.id, amount, created_at: clock.now(), ...refund })
      .execute()

  /** Throws NotRefundable for a transfer that stands beside this payment already. */
  async function refuseEntered(tx: Tx, payment: PaymentRow, bankReference: string): Promise<void> {
    const entered = await tx
      .selectFrom('payment_refund')
      .select('id')
      .where('payment_id', '=', payment.id)
      .where('provider_refund_id', '=', bankReference)
      .executeTakeFirst()
    if (entered)
      throw new NotRefundable({
        en: `The transfer ${bankReference} was entered for this payment already.`,
        vi: `Giao dịch chuyển khoản ${bankReference} đã được ghi nhận cho giao dịch này.`,
      })
  }

  const refunds: Refunds = {
    decide: (id, status) =>
      transaction(db, async (tx) => void (await refunds.decideIn(tx, id, status))),
    async decideIn(tx, id, status) {
      const refund = isUuid(id)
        ? await tx
            .selectFrom('payment_refund')
            .selectAll()
            .where('id', '=', id)
            .forUpdate()
            .executeTakeFirst()
        : undefined
      if (!refund)
        throw new NotRefundable({
          en: `There is no refund ${id}.`,
          vi: `Không có khoản hoàn tiền ${id}.`,
        })
      if (refund.status === 'done' || refund.status === 'refused')
        throw new NotRefundable({
          en: `The refund ${id} is ${refund.status}.`,
          vi: `Khoản hoàn tiền ${id} đã kết thúc (${refund.status}).`,
        })
      if (refund.status === 'requested' && refund.created_at > later(clock.now(), -refundLimitMs))
        throw new NotRefundable({
          en: `The gateway is still being asked for the refund ${id}.`,
          vi: `Đang chờ cổng thanh toán trả lời về khoản hoàn tiền ${id}.`,
        })
      const { payment, provider } = await rowOf(tx, id)
      await closeRefund(deps, tx, id, provider, {
        wanted: status,
        detail: decidedByHand,
        providerRefundId: refund.provider_refund_id,
      })
      const { customer_id: customerId, currency } = payment
      return { customerId, amount: refund.amount, currency: currency as Currency }
    },
    async begin(code, wanted, reason) {
      const { id } = await transaction(db, (tx) => refunds.beginIn(tx, code, wanted, reason))
      return id
    },
    async beginIn(tx, code, wanted, reason) {
      const of = await refundable(tx, code, wanted, 'gateway')
      const id = await withhold(tx, of, reason)
      if (id === undefined)
        throw new NotRefundable({
          en: 'The wallet does not hold that much any more.',
          vi: 'Số dư ví không còn đủ.',
        })
      await jobs.add(tx, jobOf(of.payment.driver), { refundId: id })
      return begun(id, of)
    },
    async recordIn(tx, code, wanted, bankReference) {
      const of = await refundable(tx, code, wanted, 'hand')
      await refuseEntered(tx, of.payment, bankReference)
      return begun(await sentBack(tx, of, 'refund', bankReference), of)
    },
    async amountIn(tx, code, wanted, way) {
      const { amount } = await refundable(tx, code, wanted, way)
      return amount
    },
  }
  return refunds
}
