/** Queries of the operator's desk about pay-outs. */
import type { Selectable } from 'kysely'
import type * as z from 'zod/mini'
import { currency as currencySchema } from '../../contract/money.ts'
import type { holdings, Payout, payout as payoutApi } from '../../contract/operator-money.ts'
import { newestFirst, type KeysetPage, type PageRequest } from '../platform/cursor.ts'
import type { DB } from '../platform/db-types.ts'
import { isUuid, type Queryable } from '../platform/db.ts'
import { Refusal } from '../platform/errors.ts'
import { holdingsOf } from '../wallet/index.ts'
import type { PaymentDriver } from './driver.ts'

const shownLines = 500

interface Needs {
  readonly db: Queryable
  readonly drivers: ReadonlyMap<string, PaymentDriver>
}
type Whole = z.output<typeof payoutApi.result>
type Line = Whole['lines'][number]

const selected = (db: Queryable) =>
  db
    .selectFrom('gateway_payout as o')
    .selectAll('o')
    .select((eb) =>
      eb
        .selectFrom('gateway_payout_line as l')
        .select((count) => count.fn.countAll<bigint>().as('n'))
        .whereRef('l.payout_id', '=', 'o.id')
        .where('l.fault', 'is not', null)
        .where('l.closed_at', 'is', null)
        .as('faults'),
    )

const show = (
  { drivers }: Needs,
  row: Selectable<DB['gateway_payout']> & { faults: bigint | null },
): Payout => ({
  id: row.id,
  gateway: drivers.get(row.driver)?.displayName ?? row.driver,
  reference: row.reference,
  currency: currencySchema.parse(row.currency),
  amount: Number(row.amount),
  fees: Number(row.fees),
  status: row.status as Payout['status'],
  arrivesAt: row.arrives_at.toISOString(),
  file: row.file_name,
  postedAt: row.posted_at?.toISOString() ?? null,
  differences:
    Number(row.faults ?? 0) +
    (row.line_sum !== null && row.line_sum !== row.amount && row.closed_at === null ? 1 : 0),
})

/** Newest first. */
export async function listPayouts(needs: Needs, page: PageRequest): Promise<KeysetPage<Payout>> {
  const { rows, next } = await newestFirst(selected(needs.db), 'o.number', page)
  return { rows: rows.map((row) => show(needs, row)), next }
}

/** Refuses with not_found. */
export async function payoutOf(needs: Needs, id: string): Promise<Whole> {
  const { db } = needs
  const row = isUuid(id) ? await selected(db).where('o.id', '=', id).executeTakeFirst() : undefined
  if (!row) throw new Refusal('not_found')
  const lines = await db
    .selectFrom('gateway_payout_line')
    .selectAll()
    .where('payout_id', '=', id)
    .orderBy((eb) => eb.and([eb('fault', 'is not', null), eb('closed_at', 'is', null)]), 'desc')
    .orderBy('id')
    .limit(shownLines)
    .execute()
  return {
    ...show(needs, row),
    lineSum: row.line_sum === null ? null : Number(row.line_sum),
    lines: lines.map((line) => ({
      id: Number(line.id),
      reference: line.reference,
      kind: line.kind as Line['kind'],
      amount: Number(line.amount),
      fee: Number(line.fee),
      code: line.code,
      movement: line.movement,
      fault: line.fault as Line['fault'],
      expected: line.expected === null ? null : Number(line.expected),
      closed: line.closed_at !== null,
    })),
  }
}

/** Balances of the gateways' accounts in the ledger. */
export async function holdingsOfGateways({
  db,
  drivers,
}: Needs): Promise<z.output<typeof holdings.result>> {
  const found = await holdingsOf(db, [...drivers.keys()])
  return {
    gateways: found.gateways.map(({ driver, currency, waiting, fees }) => ({
      gateway: drivers.get(driver)?.displayName ?? driver,
      name: driver,
      currency: currencySchema.parse(currency),
      waiting: Number(waiting),
      fees: Number(fees),
      asked: drivers.get(driver)?.payouts !== undefined,
    })),
    banks: found.banks.map(({ currency, amount }) => ({
      currency: currencySchema.parse(currency),
      amount: Number(amount),
    })),
  }
}
