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
import type { Attempt, Jobs } from '../platform/jobs.ts'
import type { Ledger } from '../wallet/index.ts'
import { moved } from './letter.ts'
import { readImport, type CurrencyOf, type ImportRow } from './rows.ts'
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
  const all = rows.map((row) => ({ id: randomUUID(), row }))
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
        })),
      )
      .execute()
  return { created: made.length, withoutPhone: second.size }
}

/** One batch of accounts; true: there is more of them. */
async function nextAccounts(
  needs: WorkNeeds,
  id: string,
  passwordHash: string,
  rowsOf: (file: string) => readonly ImportRow[],
): Promise<boolean> {
  return await transaction(needs.db, async (tx) => {
    const of = await held(tx, id)
    if (!of || of.done_at !== null || of.file === null) return false
    const rows = rowsOf(of.file)
    const batch = rows.slice(of.done_rows, of.done_rows + rowsAtOnce)
    const { created, withoutPhone } = await createAccounts(tx, needs, id, {
      rows: batch,
      passwordHash,
    })
    const done = of.done_rows + batch.length
    const isDone = done >= rows.length
    await tx
      .updateTable('customer_import')
      .set({
        done_rows: done,
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
      .select('customer_id')
      .where('import_id', '=', id)
      .where('came_at', 'is', null)
      .where((eb) => eb.or([eb('written_at', 'is', null), eb('written_at', '<', asked)]))
      .orderBy('line')
      .limit(rowsAtOnce)
      .execute()
    if (waiting.length === 0) return false
    const ids = waiting.map(({ customer_id }) => customer_id)
    const shown = await showCustomers(tx, ids)
    for (const customer of (await needs.customersOf(tx, ids)).values()) {
      if (shown.get(customer.id)?.blocked !== false) continue
      const { email, language } = customer
      const link = `${needs.portalUrl}/auth/pass-recovery?email=${encodeURIComponent(email)}`
      const { subject, text } = moved[language]({ brandName: needs.brandName, email, link })
      await needs.mail(tx, email, subject, text)
    }
    await tx
      .updateTable('imported_customer')
      .set({ written_at: needs.clock.now() })
      .where('customer_id', 'in', ids)
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
      let read: readonly ImportRow[] | undefined
      const rowsOf = (file: string) => (read ??= readImport(file, needs.currencyOf).rows)
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
