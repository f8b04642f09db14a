/**
 * Money in suspense, decided by a person, once: assigned to its customer, or booked out because it
 * was sent back to its payer.
 */
import { sql } from 'kysely'
import type { Currency } from '../../contract/money.ts'
import { jobNames } from '../billing/index.ts'
import type { Sentence } from '../platform/errors.ts'
import type { Clock } from '../platform/clock.ts'
import type { Tx } from '../platform/db.ts'
import type { Jobs } from '../platform/jobs.ts'
import type { Ledger } from '../wallet/index.ts'
import type { PaymentDriver } from './driver.ts'
import type { Letters } from './letters.ts'
import { isClosed } from './orders.ts'
import { resolveSuspense, type SuspenseRow } from './suspense-rows.ts'

/** Why money in suspense was not assigned, as a sentence for the operator. */
export class NotAssignable extends Error {
  readonly text: Sentence
  constructor(text: Sentence) {
    super(text.en)
    this.text = text
  }
}

/**
 * The customer named by a transaction code, by a payment's name at the gateway (which money in
 * suspense comes with), or by an email address; with the transaction code if there is one. Throws
 * NotAssignable.
 */
export async function customerMeant(
  tx: Tx,
  who: string,
  driver: string,
): Promise<{ customerId: string; code: string | null }> {
  const payment = await tx
    .selectFrom('payment')
    .select(['customer_id', 'code'])
    .where((eb) =>
      eb.or([eb('code', '=', who), eb.and([eb('driver', '=', driver), eb('reference', '=', who)])]),
    )
    // A match by our own payment code ranks first: only we issue such codes.
    .orderBy(sql`code = ${who}`, 'desc')
    .executeTakeFirst()
  if (payment) return { customerId: payment.customer_id, code: payment.code }
  const customer = await tx
    .selectFrom('customer')
    .select('id')
    .where('email', '=', who.toLowerCase())
    .where('active', '=', true)
    .executeTakeFirst()
  if (!customer)
    throw new NotAssignable({
      en: `${who} is neither a transaction code nor a customer's e-mail address.`,
      vi: `${who} không phải là mã giao dịch hay email của khách hàng.`,
    })
  return { customerId: customer.id, code: null }
}

/** The open row with this number, locked until the transaction ends. Throws NotAssignable. */
async function lockWaiting(tx: Tx, id: bigint): Promise<SuspenseRow> {
  const parked = await tx
    .selectFrom('payment_suspense')
    .selectAll()
    .where('id', '=', id)
    .forUpdate()
    .executeTakeFirst()
  if (!parked)
    throw new NotAssignable({
      en: `Nothing waits under the number ${id}.`,
      vi: `Không có khoản nào đang chờ với số ${id}.`,
    })
  if (parked.resolved_at !== null)
    throw new NotAssignable({
      en: `What waited under the number ${id} is decided already.`,
      vi: `Khoản số ${id} đã được xử lý.`,
    })
  return parked
}

/**
 * Books money out of suspense that was sent back to its payer: the gateway no longer holds it.
 * Throws NotAssignable.
 */
export async function returnSuspenseIn(
  tx: Tx,
  { clock, ledger, drivers }: Pick<AssignDeps, 'clock' | 'ledger' | 'drivers'>,
  id: bigint,
): Promise<Omit<Assigned, 'customerId'>> {
  const { driver, amount, code, ...parked } = await lockWaiting(tx, id)
  const currency = parked.currency as Currency
  await ledger.returnFromSuspense(tx, {
    key: `suspense:${id}:returned`,
    driver,
    amount,
    currency,
    details: {
      provider: drivers.get(driver)?.displayName ?? driver,
      ...(code !== null && { code }),
    },
  })
  await resolveSuspense(tx, clock, id)
  return { amount, currency }
}

interface AssignDeps {
  readonly clock: Clock
  readonly ledger: Ledger
  readonly letters: Letters
  readonly jobs: Pick<Jobs, 'add'>
  readonly drivers: ReadonlyMap<string, PaymentDriver>
}
interface Assigned {
  readonly customerId: string
  /** Minor units. */
  readonly amount: bigint
  readonly currency: Currency
}

/**
 * Credits what waits under this number of `payment_suspense` to a customer's wallet; open invoices
 * are paid next. Throws NotAssignable.
 */
export async function assignSuspenseIn(
  tx: Tx,
  deps: AssignDeps,
  id: bigint,
  who: string,
): Promise<Assigned> {
  const { clock, ledger, letters, jobs, drivers } = deps
  const parked = await lockWaiting(tx, id)
  const { customerId, code } = await customerMeant(tx, who, parked.driver)
  if (await isClosed(tx, customerId))
    throw new NotAssignable({
      en: 'This customer has closed the account: send the money back.',
      vi: 'Khách hàng này đã đóng tài khoản: hãy hoàn tiền về nguồn.',
    })
  const { currency } = await ledger.balanceOf(tx, customerId)
  if (currency !== parked.currency)
    throw new NotAssignable({
      en: `The wallet holds ${currency}, and this money is ${parked.currency}.`,
      vi: `Ví dùng ${currency}, còn khoản này là ${parked.currency}.`,
    })
  const { driver, amount } = parked
  const provider = drivers.get(driver)?.displayName ?? driver
  const transactionCode = code ?? parked.code ?? parked.provider_transaction_id
  const { setOff } = await ledger.assign(tx, {
    key: `suspense:${id}:assigned`,
    customerId,
    driver,
    amount,
    currency,
    details: { provider, code: transactionCode },
  })
  await resolveSuspense(tx, clock, id)
  if (code !== null && setOff > 0n)
    await tx
      .updateTable('payment')
      .set((row) => ({ set_off: row('set_off', '+', setOff) }))
      .where('code', '=', code)
      .where('status', '=', 'succeeded')
      .execute()
  await letters.toppedUp(tx, { customerId, amount, currency, provider, transactionCode, setOff })
  await jobs.add(tx, jobNames.payOpen, { customerId })
  return { customerId, amount, currency }
}
