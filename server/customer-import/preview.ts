/** What a file of customers would do, compared with the accounts that there are. */
import { createHash, randomUUID } from 'node:crypto'
import { currencies, type Currency } from '../../contract/money.ts'
import { addressesHeld } from '../auth/index.ts'
import type { Clock } from '../platform/clock.ts'
import type { Queryable, Tx } from '../platform/db.ts'
import type { Sentence } from '../platform/errors.ts'
import { whySkipped } from './known.ts'
import { digestOf, readImport, type CurrencyOf, type Fault, type ImportRow } from './rows.ts'

export interface Sum {
  readonly currency: Currency
  readonly accounts: number
  /** Minor units. */
  readonly amount: bigint
}
export interface Judged {
  /** Rows of the file below its header. */
  readonly total: number
  /** Rows that become accounts. */
  readonly fresh: readonly ImportRow[]
  /** Rows whose customer is here already, and how we know. */
  readonly skipped: readonly (ImportRow & { readonly why: Sentence })[]
  readonly faults: readonly Fault[]
  readonly sums: readonly Sum[]
  readonly ignored: readonly string[]
}

const phoneTaken: Sentence = {
  en: 'Another account has this phone number.',
  vi: 'Số điện thoại này đã thuộc về một tài khoản khác.',
}

const skippedBefore: Sentence = {
  en: 'This row was skipped in the preview.',
  vi: 'Dòng này đã bị bỏ qua trong bản xem trước.',
}

/**
 * Refuses with invalid_input a file that cannot be read at all.
 * @param previewed the lines that the preview showed as accounts: every other one is skipped, also
 *   when its address is free now. Null: there was no preview
 */
export async function judgeImport(
  db: Queryable,
  currencyOf: CurrencyOf,
  text: string,
  previewed: readonly number[] | null = null,
): Promise<Judged> {
  const { rows, faults, ignored } = readImport(text, currencyOf)
  const reasons = await whySkipped(db, rows)
  const shown = previewed && new Set(previewed)
  const whyNot = ({ line }: ImportRow): Sentence | undefined =>
    reasons.get(line) ?? (shown?.has(line) === false ? skippedBefore : undefined)
  const skipped = rows.flatMap((row) => {
    const why = whyNot(row)
    return why ? [{ ...row, why }] : []
  })
  const fresh = rows.filter((row) => whyNot(row) === undefined)
  const held = await addressesHeld(
    db,
    [],
    fresh.flatMap(({ phone }) => phone ?? []),
  )
  const taken = fresh.filter(({ phone }) => phone !== null && held.phones.has(phone))
  return {
    total: rows.length + faults.length,
    fresh,
    skipped,
    faults: [...faults, ...taken.map(({ line }) => ({ line, text: phoneTaken }))].toSorted(
      (one, other) => one.line - other.line,
    ),
    sums: currencies.flatMap((currency) => {
      const of = fresh.filter((row) => row.currency === currency)
      const amount = of.reduce((sum, { balance }) => sum + balance, 0n)
      return of.length === 0 ? [] : [{ currency, accounts: of.length, amount }]
    }),
    ignored,
  }
}

/** What an import is allowed to create, as its row keeps it. */
export const approvedOf = (fresh: readonly ImportRow[]) => ({
  fresh_lines: fresh.map(({ line }) => line),
  fresh_digest: digestOf(fresh),
})

/** Keeps a file, for the act that imports it; answers its id. */
export async function keepUpload(
  tx: Tx,
  clock: Clock,
  of: {
    readonly fileName: string
    readonly file: string
    readonly rows: number
    /** Rows that the preview shows as accounts to create. */
    readonly fresh: readonly ImportRow[]
    /** A member's name, or `command`. */
    readonly by: string
  },
): Promise<string> {
  const id = randomUUID()
  await tx
    .insertInto('customer_import')
    .values({
      id,
      file_name: of.fileName,
      file: of.file,
      sha256: createHash('sha256').update(of.file).digest('hex'),
      uploaded_at: clock.now(),
      uploaded_by: of.by,
      total_rows: of.rows,
      ...approvedOf(of.fresh),
    })
    .execute()
  return id
}
