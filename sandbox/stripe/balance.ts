/**
 * The merchant's balance: every movement is a balance transaction. A pay-out pays all transactions
 * that have no pay-out yet to the bank. https://docs.stripe.com/api/balance_transactions
 */
import type { Transaction } from '../database.ts'
import { invalid, ok, type Answer } from './answer.ts'
import { load, newId, publicFields, save, type Stored } from './store.ts'

/** The fee of a charge: 1.75 % and 30 minor units, as Stripe's in Australia. */
export const chargeFee = (amount: number): number => Math.round((amount * 175) / 10_000) + 30

const types: Readonly<Record<string, string>> = {
  dispute: 'adjustment',
  dispute_reversal: 'adjustment',
  fee: 'stripe_fee',
  payout_reversal: 'payout_failure',
}

/** Records a movement; returns the transaction as Stripe shows it. */
export async function noteMovement(
  tx: Transaction,
  {
    of,
    category,
    amount,
    fee = 0,
  }: {
    of: Stored & { currency: string }
    category: string
    amount: number
    fee?: number
  },
): Promise<Stored> {
  const created = Math.floor(Date.now() / 1000)
  const made: Stored = {
    id: newId('txn'),
    object: 'balance_transaction',
    amount,
    available_on: created,
    created,
    currency: of.currency,
    description: null,
    exchange_rate: null,
    fee,
    fee_details: [],
    net: amount - fee,
    reporting_category: category,
    source: of.id,
    status: 'available',
    type: types[category] ?? category,
    balance_type: 'payments',
    _payout: null,
    _sourceKind: of.object,
  }
  await save(tx, made)
  return publicFields(made) as Stored
}

async function unpaid(tx: Transaction, currency: string): Promise<Stored[]> {
  const { rows } = await tx.query<{ data: Stored }>(
    `select data from sandbox.stripe_objects where kind = 'balance_transaction'
      and data ->> 'currency' = $1 and data ->> '_payout' is null
      order by number for update`,
    [currency],
  )
  return rows.map(({ data }) => data)
}

/**
 * Pays out everything that waits in a currency. `manner`: by a schedule, by hand, or with
 * transactions that Stripe temporarily does not find.
 */
export async function payOut(tx: Transaction, currency: string, manner: string): Promise<Answer> {
  const movements = await unpaid(tx, currency)
  const amount = movements.reduce((sum, { net }) => sum + Number(net), 0)
  if (movements.length === 0) return invalid('Nothing waits to be paid out.')
  const created = Math.floor(Date.now() / 1000)
  const payout: Stored = {
    id: newId('po'),
    object: 'payout',
    amount,
    arrival_date: created,
    automatic: manner !== 'manual',
    created,
    currency,
    livemode: false,
    metadata: {},
    method: 'standard',
    reconciliation_status: 'completed',
    status: 'paid',
    type: 'bank_account',
    _unreadable: manner === 'unreadable',
  }
  await save(tx, payout)
  for (const movement of movements) await save(tx, { ...movement, _payout: payout.id })
  const own = { ...payout, currency }
  const entry = await noteMovement(tx, { of: own, category: 'payout', amount: -amount })
  const stored = await load<Stored>(tx, 'balance_transaction', entry.id)
  if (stored) await save(tx, { ...stored, _payout: payout.id })
  return ok(publicFields(payout))
}

/** The bank returns a pay-out. */
export async function failPayout(tx: Transaction, id: string): Promise<Answer> {
  const payout = await load<Stored>(tx, 'payout', id)
  if (payout?.['status'] !== 'paid') return invalid('No such pay-out.', {}, 404)
  payout['status'] = 'failed'
  await save(tx, payout)
  const of = { ...payout, currency: String(payout['currency']) }
  await noteMovement(tx, { of, category: 'payout_reversal', amount: Number(payout['amount']) })
  return ok(publicFields(payout))
}

/** Charges a fee of Stripe's own, besides those of charges. */
export async function takeFee(tx: Transaction, currency: string, amount: number): Promise<Answer> {
  const of = { id: newId('fee'), object: 'fee', created: 0, currency }
  return ok(await noteMovement(tx, { of, category: 'fee', amount: -amount }))
}

/** The transactions of a pay-out, newest first; `source` is expanded on request. */
export async function transactionsOf(
  tx: Transaction,
  payout: string | undefined,
  expand: readonly string[],
  limit: number,
): Promise<object[] | Answer> {
  const of = payout === undefined ? undefined : await load<Stored>(tx, 'payout', payout)
  if (of?.['automatic'] === false)
    return invalid(
      'Balance transaction history can only be filtered on automatic transfers, not manual.',
    )
  if (of?.['_unreadable'] === true) return invalid('No such payout.', { param: 'payout' }, 404)
  const { rows } = await tx.query<{ data: Stored }>(
    `select data from sandbox.stripe_objects where kind = 'balance_transaction'
      and ($1::text is null or data ->> '_payout' = $1) order by number desc limit $2`,
    [payout ?? null, limit],
  )
  const shown: object[] = []
  for (const { data } of rows) {
    const source = expand.includes('data.source')
      ? await load<Stored>(tx, String(data['_sourceKind']), String(data['source']))
      : undefined
    shown.push({ ...publicFields(data), ...(source && { source: publicFields(source) }) })
  }
  return shown
}
