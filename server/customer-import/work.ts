/**
 * The job of an import: it creates accounts in batches, and sends the letters that were asked for.
 * Each batch and how far it came are one transaction, so a job that is killed, or runs twice, goes
 * on where the last batch ended.
 */
import { randomBytes, randomUUID } from 'node:crypto'
import { createImported, customersByIds, hashPassword, showCustomers } from '../auth/index.ts'
import { addressesHeld } from '../auth/index.ts'
import type { Clock } from '../platform/clock.ts'
import { transaction, type Database, type Tx } from '../platform/db.ts'
import { Refusal } from '../platform/errors.ts'
import type { Attempt, Jobs } from '../platform/jobs.ts'
import type { Ledger } from '../wallet/index.ts'
import { moved } from './letter.ts'
import { whySkipped } from './known.ts'
import { digestOf, readImport, type CurrencyOf, type ImportRow } from './rows.ts'
import { importJob } from './start.ts'

const rowsAtOnce = 200
/** Of one run; then the job makes room for others. */
const batchesAtOnce = 25

export interface WorkNeeds {
  readonly db: Database
  readonly clock: Clock
  readonly jobs: Pick<Jobs, 'add' | 'define'>
  readonly ledger: Pick<Ledger, 'openWallet' | 'bringOver'>
  readonly currencyOf: CurrencyOf
  readonly customersOf: (tx: Tx, ids: readonly string[]) => ReturnType<typeof customersByIds>
  readonly mail: (tx: Tx, to: string, subject: string, text: string) => Promise<void>
  readonly portalUrl: string
  readonly brandName: string
}

/** The import, locked until the transaction ends: two runs of the job take turns. */
const held = (tx: Tx, id: string) =>
  tx
    .selectFrom('customer_import')
    .selectAll()
    .where('id', '=', id)
    .where('started_at', 'is not', null)
    .forUpdate()
    .executeTakeFirst()

/** Creates what of these rows is new; answers the counts. */
async function createAccounts(
  tx: Tx,
  { clock, ledger }: WorkNeeds,
  importId: string,
  { rows, passwordHash }: { readonly rows: readonly ImportRow[]; readonly passwordHash: string },
): Promise<{ created: number; withoutPhone: number }> {
  // Another import may have brought some of them since this one was judged.
  const known = await whySkipped(tx, rows)
  const all = rows.filter(({ line }) => !known.has(line)).map((row) => ({ id: randomUUID(), row }))
  const accountOf = ({ id, row }: (typeof all)[number]) => ({ ...row, id })
  const first = await createImported(tx, clock, all.map(accountOf), passwordHash)
  // Left out because the address, or only the number, has got an account since.
  const left = all.filter(({ id }) => !first.has(id))
  const { emails } = await addressesHeld(
    tx,
    left.map(({ row }) => row.email),
    [],
  )
  const numberless = left.filter(({ row }) => !emails.has(row.email))
  const second = await createImported(
    tx,
    clock,
    numberless.map((each) => ({ ...accountOf(each), phone: null })),
    passwordHash,
  )
  const made = all.filter(({ id }) => first.has(id) || second.has(id))
  for (const { id, row } of made) {
    await ledger.openWallet(tx, id, row.currency)
    if (row.balance > 0n)
      await ledger.bringOver(tx, {
        key: `opening:${importId}:${row.line}`,
        customerId: id,
        amount: row.balance,
        currency: row.currency,
      })
  }
  if (made.length > 0)
    await tx
      .insertInto('imported_customer')
      .values(
        made.map(({ id, row }) => ({
          customer_id: id,
          import_id: importId,
          line: row.line,
          reference: row.reference,
          imported_at: clock.now(),
          had_balance: row.balance > 0n,
        })),
      )
      .execute()
  return { created: made.length, withoutPhone: second.size }
}

type Held = NonNullable<Awaited<ReturnType<typeof held>>>
/** The rows of an import, and which of them become accounts. */
interface Approved {
  readonly rows: readonly ImportRow[]
  readonly fresh: ReadonlySet<number>
}

/**
 * The file as it was read when the import was begun. Undefined: this release reads it otherwise, or
 * the import was begun by one that did not keep how.
 */
function approvedRows(of: Held, file: string, currencyOf: CurrencyOf): Approved | undefined {
  let read
  try {
    read = readImport(file, currencyOf)
  } catch (error) {
    if (error instanceof Refusal) return undefined
    throw error
  }
  const { rows, faults } = read
  const fresh = new Set(of.fresh_lines)
  const isSame =
    faults.length === 0 &&
    rows.length === of.total_rows &&
    digestOf(rows.filter(({ line }) => fresh.has(line))) === of.fresh_digest
  return isSame ? { rows, fresh } : undefined
}

/** One batch of accounts; true: there is more of them. */
async function nextAccounts(
  needs: WorkNeeds,
  id: string,
  passwordHash: string,
  rowsOf: (of: Held, file: string) => Approved | undefined,
): Promise<boolean> {
  return await transaction(needs.db, async (tx) => {
    const of = await held(tx, id)
    if (!of || of.done_at !== null || of.stopped_at !== null || of.file === null) return false
    const approved = rowsOf(of, of.file)
    if (!approved) {
      // Whoever approved it has seen other rows. The same file can be previewed and imported anew:
      // who has an account by now is skipped.
      await tx
        .updateTable('customer_import')
        .set({ stopped_at: needs.clock.now(), file: null })
        .where('id', '=', id)
        .execute()
      return false
    }
    const batch = approved.rows.filter(({ line }) => line > of.done_line).slice(0, rowsAtOnce)
    const { created, withoutPhone } = await createAccounts(tx, needs, id, {
      rows: batch.filter(({ line }) => approved.fresh.has(line)),
      passwordHash,
    })
    const done = of.done_rows + batch.length
    const isDone = done >= approved.rows.length
    await tx
      .updateTable('customer_import')
      .set({
        done_rows: done,
        done_line: batch.at(-1)?.line ?? of.done_line,
        created: of.created + created,
        skipped: of.skipped + batch.length - created,
        without_phone: of.without_phone + withoutPhone,
        // The file of so many people is kept no longer than it is needed.
        ...(isDone && { done_at: needs.clock.now(), file: null }),
      })
      .where('id', '=', id)
      .execute()
    return !isDone
  })
}

/** One batch of letters; true: there is more of them. */
async function nextLetters(needs: WorkNeeds, id: string): Promise<boolean> {
  return await transaction(needs.db, async (tx) => {
    const of = await held(tx, id)
    const asked = of?.letters_asked_at ?? null
    if (asked === null) return false
    const waiting = await tx
      .selectFrom('imported_customer')
      .select(['customer_id', 'had_balance'])
      .where('import_id', '=', id)
      .where('came_at', 'is', null)
      .where((eb) => eb.or([eb('considered_at', 'is', null), eb('considered_at', '<', asked)]))
      .orderBy('line')
      .limit(rowsAtOnce)
      .execute()
    if (waiting.length === 0) return false
    const ids = waiting.map(({ customer_id }) => customer_id)
    const rich = new Set(waiting.filter((one) => one.had_balance).map((one) => one.customer_id))
    const shown = await showCustomers(tx, ids)
    const written: string[] = []
    for (const customer of (await needs.customersOf(tx, ids)).values()) {
      if (shown.get(customer.id)?.blocked !== false) continue
      const { email, language } = customer
      const link = `${needs.portalUrl}/auth/pass-recovery?email=${encodeURIComponent(email)}`
      const { subject, text } = moved[language]({
        brandName: needs.brandName,
        email,
        link,
        hadBalance: rich.has(customer.id),
      })
      await needs.mail(tx, email, subject, text)
      written.push(customer.id)
    }
    // The time of the asking itself: this machine's clock may be behind the one that asked.
    await tx
      .updateTable('imported_customer')
      .set({ considered_at: asked })
      .where('customer_id', 'in', ids)
      .execute()
    if (written.length > 0)
      await tx
        .updateTable('imported_customer')
        .set({ written_at: needs.clock.now() })
        .where('customer_id', 'in', written)
        .execute()
    return waiting.length === rowsAtOnce
  })
}

export function defineImports(needs: WorkNeeds): void {
  needs.jobs.define<{ importId: string }>({
    name: importJob,
    retries: 'unlimited',
    async run({ importId }, { signal }: Attempt) {
      // One hash for all of them: its password is random, and nobody ever sees it.
      const passwordHash = await hashPassword(randomBytes(32).toString('base64url'))
      let read: Approved | undefined
      const rowsOf = (of: Held, file: string) => (read ??= approvedRows(of, file, needs.currencyOf))
      let next: () => Promise<boolean> = () => nextAccounts(needs, importId, passwordHash, rowsOf)
      let isLetters = false
      for (let batch = 0; batch < batchesAtOnce; batch++) {
        signal.throwIfAborted()
        if (await next()) continue
        if (isLetters) return
        isLetters = true
        next = () => nextLetters(needs, importId)
      }
      await transaction(needs.db, (tx) => needs.jobs.add(tx, importJob, { importId }))
    },
  })
}
