/** A customer's export: the stored data, read table by table while it is sent. */
import { sql, type RawBuilder } from 'kysely'
import { shownPhone } from '../auth/index.ts'
import type { Queryable } from '../platform/db.ts'
import { stored, type Stored } from './stored.ts'

export interface Person {
  readonly id: string
  /** E-mail address and phone number, to which letters went. */
  readonly recipients: readonly string[]
}

/** Rows of one query. */
const batch = 500
/** Limit for a table without a key: more rows than anybody has. */
const mostWithoutKey = 10_000

/** Ids may be larger than a number holds exactly. */
const plain = (_key: string, value: unknown): unknown => {
  if (typeof value !== 'bigint') return value
  const number = Number(value)
  return Number.isSafeInteger(number) ? number : String(value)
}

const find = (table: string): Stored => {
  const found = stored.find((one) => one.table === table)
  if (!found) throw new Error(`${table} is not in the list of what is stored`)
  return found
}

/** Which rows are theirs, and may be given out. */
function theirs(one: Stored, person: Person): RawBuilder<boolean> {
  const all = rowsOfPerson(one, person)
  return one.but ? sql<boolean>`${all} and ${sql.ref(one.but.column)} <> ${one.but.value}` : all
}

function rowsOfPerson({ by }: Stored, person: Person): RawBuilder<boolean> {
  // Somebody else may have had the address before.
  if ('recipient' in by)
    return sql<boolean>`(${sql.ref(by.recipient)} = any(${sql.val(person.recipients)})
        and created_at >= (select created_at from customer where id = ${person.id})
      or exists (select from former_address f where f.customer_id = ${person.id}
        and f.address = ${sql.ref(by.recipient)} and created_at between f.from_at and f.until_at))`
  if (!('of' in by)) return sql<boolean>`${sql.ref(by.column)} = ${person.id}`
  return sql<boolean>`${sql.ref(by.column)} in (
    select ${sql.ref(by.its)} from ${sql.table(by.of)} where ${theirs(find(by.of), person)})`
}

async function* rowsOf(
  db: Queryable,
  one: Stored,
  person: Person,
): AsyncGenerator<Record<string, unknown>> {
  const columns = sql.join(one.columns.map((column) => sql.ref(column)))
  const from = sql`from ${sql.table(one.table)} where ${theirs(one, person)}`
  if (one.key === null) {
    const { rows } = await sql<Record<string, unknown>>`
      select ${columns} ${from} limit ${mostWithoutKey}`.execute(db)
    // An account that was brought over may have no number.
    yield* one.table === 'customer'
      ? rows.map((row) => ({ ...row, phone: shownPhone(String(row['phone'])) }))
      : rows
    return
  }
  const key = sql.ref(one.key)
  for (let after: unknown; ;) {
    const beyond = after === undefined ? sql`` : sql`and ${key} > ${after}`
    const { rows } = await sql<Record<string, unknown> & { place: unknown }>`
      select ${columns}, ${key} as place ${from} ${beyond} order by ${key} limit ${batch}`.execute(
      db,
    )
    for (const { place, ...row } of rows) {
      after = place
      yield row
    }
    if (rows.length < batch) return
  }
}

/**
 * The file in pieces: JSON with a list per table, times in UTC, money in minor units. Each query
 * has its own snapshot, so a concurrent change may be in one list and not in another.
 */
export async function* personalData(
  db: Queryable,
  person: Person,
  now: Date,
): AsyncGenerator<string> {
  yield `{\n"format": 1,\n"madeAt": ${JSON.stringify(now)}`
  for (const one of stored) {
    yield `,\n${JSON.stringify(one.table)}: [`
    let isFirst = true
    for await (const row of rowsOf(db, one, person)) {
      yield `${isFirst ? '' : ','}\n${JSON.stringify(row, plain)}`
      isFirst = false
    }
    yield ']'
  }
  yield '\n}\n'
}
