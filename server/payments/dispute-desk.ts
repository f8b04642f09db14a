/** Queries of the operator's desk about disputes. */
import type * as z from 'zod/mini'
import { currency as currencySchema, type Currency } from '../../contract/money.ts'
import type { Dispute, dispute as disputeApi } from '../../contract/operator-money.ts'
import { newestFirst, type KeysetPage, type PageRequest } from '../platform/cursor.ts'
import { isUuid, type Queryable } from '../platform/db.ts'
import { Refusal } from '../platform/errors.ts'
import { postingOf } from '../wallet/index.ts'
import { keyOfReversal } from './reversals.ts'
import type { DisputeRow } from './disputes.ts'
import type { PaymentDriver } from './driver.ts'

interface Needs {
  readonly db: Queryable
  readonly drivers: ReadonlyMap<string, PaymentDriver>
}
type Shown = Omit<Dispute, 'customer'> & { readonly customerId: string }

const selected = (db: Queryable) =>
  db
    .selectFrom('payment_dispute as d')
    .innerJoin('payment as p', 'p.id', 'd.payment_id')
    .selectAll('d')
    .select(['p.code', 'p.customer_id'])
    .select((eb) =>
      eb
        .selectFrom('payment_dispute_answer as a')
        .select('a.status')
        .whereRef('a.dispute_id', '=', 'd.id')
        .orderBy('a.created_at', 'desc')
        .limit(1)
        .as('answer'),
    )

const show = (
  { drivers }: Needs,
  row: DisputeRow & { code: string; customer_id: string; answer: string | null },
): Shown => ({
  id: row.id,
  reference: row.reference,
  gateway: drivers.get(row.driver)?.displayName ?? row.driver,
  state: row.state as Dispute['state'],
  isInquiry: row.is_inquiry,
  amount: Number(row.amount),
  currency: currencySchema.parse(row.currency),
  reason: row.reason,
  fee: row.fee === null ? null : Number(row.fee),
  money: row.money as Dispute['money'],
  openedAt: row.opened_at.toISOString(),
  evidenceDueAt: row.evidence_due_at?.toISOString() ?? null,
  closedAt: row.closed_at?.toISOString() ?? null,
  payment: row.code,
  customerId: row.customer_id,
  answer: row.answer as Dispute['answer'],
})

/** How many are not decided, by the index `payment_dispute_open`. */
export async function countOpenDisputes(db: Queryable): Promise<number> {
  const { n } = await db
    .selectFrom('payment_dispute')
    .select((eb) => eb.fn.countAll<bigint>().as('n'))
    .where('closed_at', 'is', null)
    .executeTakeFirstOrThrow()
  return Number(n)
}

/** Newest first. `open`: only disputes that are not decided. */
export async function listDisputes(
  needs: Needs,
  page: PageRequest,
  open: boolean,
): Promise<KeysetPage<Shown>> {
  const all = selected(needs.db)
  const { rows, next } = await newestFirst(
    open ? all.where('d.closed_at', 'is', null) : all,
    'd.number',
    page,
  )
  return { rows: rows.map((row) => show(needs, row)), next }
}

type Whole = Omit<z.output<typeof disputeApi.result>, 'customer'> & { readonly customerId: string }

/** Refuses with not_found. */
export async function disputeOf(needs: Needs, id: string): Promise<Whole> {
  const { db, drivers } = needs
  const row = isUuid(id) ? await selected(db).where('d.id', '=', id).executeTakeFirst() : undefined
  if (!row) throw new Refusal('not_found')
  const answers = await db
    .selectFrom('payment_dispute_answer')
    .selectAll()
    .where('dispute_id', '=', id)
    .orderBy('created_at')
    .execute()
  const taken = await postingOf(db, keyOfReversal(row.driver, row.reference, 'reversed'))
  const returned = await postingOf(db, keyOfReversal(row.driver, row.reference, 'restored'))
  return {
    ...show(needs, row),
    evidenceAtMost: drivers.get(row.driver)?.disputes?.longestText ?? null,
    posted: taken && {
      at: taken.at.toISOString(),
      fromWallet: Number(taken.fromWallet),
      owed: Number(taken.owed),
      setOff: Number(taken.setOff),
    },
    returnedAt: returned?.at.toISOString() ?? null,
    answers: answers.map((answer) => ({
      id: answer.id,
      at: answer.created_at.toISOString(),
      kind: answer.kind as 'evidence' | 'acceptance',
      text: answer.text,
      status: answer.status as Whole['answers'][number]['status'],
      detail: answer.detail,
    })),
  }
}

/** The disputed amount, minor units, and the payment's customer. Undefined: no such dispute. */
export async function disputeMoney(
  db: Queryable,
  id: string,
): Promise<{ amount: bigint; currency: Currency; customerId: string } | undefined> {
  const row = isUuid(id)
    ? await db
        .selectFrom('payment_dispute as d')
        .innerJoin('payment as p', 'p.id', 'd.payment_id')
        .select(['d.amount', 'd.currency', 'p.customer_id'])
        .where('d.id', '=', id)
        .executeTakeFirst()
    : undefined
  return (
    row && {
      amount: row.amount,
      currency: currencySchema.parse(row.currency),
      customerId: row.customer_id,
    }
  )
}
