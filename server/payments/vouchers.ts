/**
 * Vouchers: made at the desk, used by customers. A use is one transaction: it locks the voucher's
 * row, writes the use and credits the wallet. A wrong, an ended and a used-up code get the same
 * refusal, and the number of tries is limited, so that codes cannot be guessed.
 */
import { randomUUID } from 'node:crypto'
import type { Selectable } from 'kysely'
import { currency as currencySchema, type Currency } from '../../contract/money.ts'
import type { Voucher } from '../../contract/operator-money.ts'
import { holdOpenAccount } from '../auth/index.ts'
import { jobNames } from '../billing/index.ts'
import type { Clock } from '../platform/clock.ts'
import { drawCode, plainCode, shortestCode } from '../platform/codes.ts'
import { newestFirst, type KeysetPage, type PageRequest } from '../platform/cursor.ts'
import type { DB } from '../platform/db-types.ts'
import { databaseError, type Queryable, type Tx } from '../platform/db.ts'
import { Refusal, type Sentence } from '../platform/errors.ts'
import type { Jobs } from '../platform/jobs.ts'
import type { Limit } from '../platform/limits.ts'
import { networkOf } from '../platform/network.ts'
import type { Ledger } from '../wallet/index.ts'
import type { Letters } from './letters.ts'

type VoucherRow = Selectable<DB['voucher']>

/** Shown to customers in place of a gateway's name. */
const provider = 'Voucher'
export interface VoucherDeps {
  readonly clock: Clock
  readonly ledger: Ledger
  readonly letters: Letters
  readonly jobs: Pick<Jobs, 'add'>
  /** Limits per customer, and for all customers of one network. */
  readonly tries: Limit
  readonly triesOfNetwork: Limit
}
export interface Vouchers {
  /** Refuses with invalid_input and rate_limited. Answers minor units. */
  redeem(
    tx: Tx,
    of: { readonly customerId: string; readonly code: string; readonly ip: string },
  ): Promise<{ amount: number; currency: Currency; balance: number }>
}

const refuse = (text: Sentence): never => {
  throw new Refusal('invalid_input', { fields: { code: text } })
}

export function createVouchers(deps: VoucherDeps): Vouchers {
  const { clock, ledger, letters, jobs } = deps
  return {
    async redeem(tx, { customerId, code, ip }) {
      await deps.tries.take(customerId)
      await deps.triesOfNetwork.take(networkOf(ip))
      // A call that began before the account was closed has its session still.
      if (!(await holdOpenAccount(tx, customerId))) throw new Refusal('forbidden')
      const now = clock.now()
      const voucher = await tx
        .selectFrom('voucher')
        .selectAll()
        .where('code', '=', plainCode(code))
        .forUpdate()
        .executeTakeFirst()
      const before =
        voucher &&
        (await tx
          .selectFrom('voucher_use')
          .select('at')
          .where('voucher_id', '=', voucher.id)
          .where('customer_id', '=', customerId)
          .executeTakeFirst())
      if (before)
        return refuse({
          en: 'You have used this voucher already.',
          vi: 'Bạn đã dùng voucher này rồi.',
        })
      if (!voucher || !isGood(voucher, now))
        return refuse({
          en: 'This voucher is not valid, or is used up.',
          vi: 'Voucher không hợp lệ hoặc đã hết lượt dùng.',
        })
      const wallet = await ledger.balanceOf(tx, customerId)
      if (wallet.currency !== voucher.currency)
        return refuse({
          en: `This voucher is for wallets in ${voucher.currency}.`,
          vi: `Voucher này chỉ dùng cho ví ${voucher.currency}.`,
        })
      const { amount } = voucher
      const { currency } = wallet
      await tx
        .insertInto('voucher_use')
        .values({ voucher_id: voucher.id, customer_id: customerId, at: now })
        .execute()
      await tx
        .updateTable('voucher')
        .set((row) => ({ uses: row('uses', '+', 1) }))
        .where('id', '=', voucher.id)
        .execute()
      const { setOff } = await ledger.creditVoucher(tx, {
        key: `voucher:${voucher.id}:${customerId}`,
        customerId,
        amount,
        currency,
        details: { provider, code: voucher.code },
      })
      const told = { customerId, amount, currency, provider, transactionCode: voucher.code }
      await letters.toppedUp(tx, { ...told, setOff })
      await jobs.add(tx, jobNames.payOpen, { customerId })
      // A good code is no guess.
      await deps.tries.giveBack(customerId)
      const { balance } = await ledger.balanceOf(tx, customerId)
      return { amount: Number(amount), currency, balance: Number(balance) }
    },
  }
}

const isGood = (voucher: VoucherRow, now: Date): boolean =>
  voucher.stopped_at === null &&
  voucher.uses < voucher.max_uses &&
  (voucher.expires_at === null || voucher.expires_at > now)

/**
 * Makes a voucher. Without a code it draws a random one that cannot be guessed. Refuses a code that
 * is taken.
 */
export async function makeVoucher(
  tx: Tx,
  clock: Clock,
  of: {
    readonly code: string | undefined
    readonly amount: bigint
    readonly currency: Currency
    readonly uses: number
    readonly expiresAt: Date | null
  },
): Promise<{ id: string; code: string }> {
  const code = of.code === undefined ? drawCode() : plainCode(of.code)
  const id = randomUUID()
  const taken: Sentence = {
    en: 'There is such a code, or it has fewer than four letters and digits.',
    vi: 'Mã này đã có hoặc có ít hơn bốn chữ và số.',
  }
  if (code.length < shortestCode) throw new Refusal('conflict', { fields: { code: taken } })
  try {
    await tx
      .insertInto('voucher')
      .values({
        id,
        code,
        currency: of.currency,
        amount: of.amount,
        max_uses: of.uses,
        expires_at: of.expiresAt,
        created_at: clock.now(),
      })
      .execute()
  } catch (error) {
    if (databaseError(error)?.constraint !== 'voucher_code_key') throw error
    throw new Refusal('conflict', { fields: { code: taken } })
  }
  return { id, code }
}

/**
 * Ends a voucher; uses so far stay. Refuses with not_found, or with conflict if it has ended
 * already.
 */
export async function stopVoucher(
  tx: Tx,
  clock: Clock,
  code: string,
): Promise<{ id: string; uses: number }> {
  const row = await tx
    .updateTable('voucher')
    .set({ stopped_at: clock.now() })
    .where('code', '=', plainCode(code))
    .where('stopped_at', 'is', null)
    .returning(['id', 'uses'])
    .executeTakeFirst()
  if (!row) throw new Refusal('not_found')
  return row
}

/** Newest first. */
export async function listVouchers(
  db: Queryable,
  page: PageRequest,
  now: Date,
): Promise<KeysetPage<Voucher>> {
  const { rows, next } = await newestFirst(db.selectFrom('voucher').selectAll(), 'number', page)
  return {
    rows: rows.map((row) => ({
      id: row.id,
      code: row.code,
      amount: Number(row.amount),
      currency: currencySchema.parse(row.currency),
      uses: row.uses,
      maxUses: row.max_uses,
      expiresAt: row.expires_at?.toISOString() ?? null,
      stoppedAt: row.stopped_at?.toISOString() ?? null,
      good: isGood(row, now),
    })),
    next,
  }
}
