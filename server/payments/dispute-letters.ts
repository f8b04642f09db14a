/** Letters to the staff about disputes: that one was opened, and that its evidence is due soon. */
import { sql } from 'kysely'
import { currency as currencySchema, formatMoney } from '../../contract/money.ts'
import { days, later, type Clock } from '../platform/clock.ts'
import { transaction, type Database, type Queryable, type Tx } from '../platform/db.ts'
import type { Jobs } from '../platform/jobs.ts'
import type { PaymentDriver } from './driver.ts'

export interface DisputeLetterDeps {
  readonly clock: Clock
  readonly drivers: ReadonlyMap<string, PaymentDriver>
  readonly mail: (tx: Tx, to: string, subject: string, text: string) => Promise<void>
  /** Email addresses of members who look after money. */
  readonly moneyMembers: (db: Queryable) => Promise<string[]>
  readonly portalUrl: string
  readonly brandName: string
}

interface Told {
  readonly id: string
  readonly driver: string
  readonly code: string
  /** Minor units. */
  readonly amount: bigint
  readonly currency: string
  readonly reason: string
  readonly evidence_due_at: Date | null
}

/** How long before its evidence is due a dispute is told of again. */
export const remindedBeforeMs = days(2)
const atOnce = 50

/** Minutes in UTC: members may work anywhere. */
const momentOf = (at: Date): string => `${at.toISOString().slice(0, 16).replace('T', ' ')} UTC`

/** A member's language is unknown: the letter has both. */
async function write(
  tx: Tx,
  deps: DisputeLetterDeps,
  of: Told,
  isReminder: boolean,
): Promise<void> {
  const { code, evidence_due_at: due } = of
  const gateway = deps.drivers.get(of.driver)?.displayName ?? of.driver
  const currency = currencySchema.parse(of.currency)
  const amountIn = (language: 'en' | 'vi') => formatMoney(Number(of.amount), currency, language)
  const dueEn = due === null ? '' : ` Evidence is due by ${momentOf(due)}.`
  const dueVi = due === null ? '' : ` Hạn gửi bằng chứng: ${momentOf(due)}.`
  const subject = isReminder
    ? `evidence for ${code} is due soon · sắp hết hạn gửi bằng chứng`
    : `payment ${code} is disputed · giao dịch bị khiếu nại`
  const [waitsEn, waitsVi] = isReminder
    ? [' Nobody has answered it yet.', ' Chưa có ai phản hồi.']
    : ['', '']
  const text =
    `${gateway}: the payer disputes payment ${code} of ${amountIn('en')} (${of.reason}).${dueEn}` +
    `${waitsEn}\n` +
    `${gateway}: người trả tiền khiếu nại giao dịch ${code}, số tiền ${amountIn('vi')} ` +
    `(${of.reason}).${dueVi}${waitsVi}\n` +
    `${deps.portalUrl}/operator/disputes/${of.id}`
  for (const to of await deps.moneyMembers(tx))
    await deps.mail(tx, to, `${deps.brandName}: ${subject}`, text)
}

/** A dispute was opened, in the transaction that stores it. */
export async function tellOfDispute(tx: Tx, deps: DisputeLetterDeps, of: Told): Promise<void> {
  await write(tx, deps, of, false)
  // A letter a moment later would say the same.
  if (
    of.evidence_due_at !== null &&
    of.evidence_due_at <= later(deps.clock.now(), remindedBeforeMs)
  )
    await noteReminded(tx, deps.clock, of.id)
}

const noteReminded = (tx: Tx, clock: Clock, id: string) =>
  tx.updateTable('payment_dispute').set({ due_told_at: clock.now() }).where('id', '=', id).execute()

/** Disputes that need evidence which nobody has sent, by the index `payment_dispute_open`. */
const unanswered = (db: Queryable) =>
  db
    .selectFrom('payment_dispute as d')
    .where('d.closed_at', 'is', null)
    .where('d.state', '=', 'needs_evidence')
    .where('d.evidence_due_at', 'is not', null)
    .where(
      sql<boolean>`not exists (select from payment_dispute_answer a
        where a.dispute_id = d.id and a.status <> 'refused')`,
    )

/** When evidence is due next, of disputes that nobody has answered; null: of none. */
export async function soonestEvidence(db: Queryable, now: Date): Promise<Date | null> {
  const { due } = await unanswered(db)
    .select((eb) => eb.fn.min('d.evidence_due_at').as('due'))
    .where('d.evidence_due_at', '>', now)
    .executeTakeFirstOrThrow()
  return due
}

/** Reminds of each dispute once, two days before its evidence is due, unless it was answered. */
export async function remindOfEvidence(db: Database, deps: DisputeLetterDeps): Promise<void> {
  const now = deps.clock.now()
  const remindSome = async (tx: Tx): Promise<number> => {
    const rows = await unanswered(tx)
      .innerJoin('payment as p', 'p.id', 'd.payment_id')
      .select(['d.id', 'd.driver', 'd.amount', 'd.currency', 'd.reason', 'd.evidence_due_at'])
      .select('p.code')
      .where('d.due_told_at', 'is', null)
      .where('d.evidence_due_at', '>', now)
      .where('d.evidence_due_at', '<=', later(now, remindedBeforeMs))
      .orderBy('d.evidence_due_at')
      .limit(atOnce)
      .forUpdate('d')
      .skipLocked()
      .execute()
    for (const row of rows) {
      await write(tx, deps, row, true)
      await noteReminded(tx, deps.clock, row.id)
    }
    return rows.length
  }
  while ((await transaction(db, remindSome)) === atOnce);
}

/** The job that looks for them. */
export function defineEvidenceReminders(
  deps: DisputeLetterDeps & { readonly db: Database; readonly jobs: Pick<Jobs, 'define'> },
): void {
  deps.jobs.define({
    name: 'remind-of-evidence',
    cron: '13 * * * *',
    run: () => remindOfEvidence(deps.db, deps),
  })
}
