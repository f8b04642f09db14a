/**
 * The stand-in's storage: Square's objects as JSON, each with the idempotency key of its creation.
 */
import { randomBytes } from 'node:crypto'
import type { Transaction } from '../database.ts'

export const squareTables = `
  create table if not exists sandbox.square_objects (
    id text primary key,
    kind text not null,
    number int generated always as identity,
    key text,
    fingerprint text,
    at timestamptz not null default now(),
    data jsonb not null,
    unique (kind, key)
  )`

interface Money {
  readonly amount: number
  readonly currency: string
}
export interface Payment {
  id: string
  status: string
  created_at: string
  updated_at: string
  amount_money: Money
  total_money: Money
  refunded_money?: Money
  refund_ids?: string[]
  source_type: string
  location_id: string
  reference_id?: string
  card_details: { status: string; errors: { category: string; code: string }[] }
}
export interface Refund {
  id: string
  status: string
  payment_id: string
  amount_money: Money
  reason: string
  created_at: string
  location_id: string
}
export interface Dispute {
  id: string
  state: string
  reason: string
  amount_money: Money
  disputed_payment: { payment_id: string }
  created_at: string
  due_at: string
}

export const newId = (prefix: string): string => `${prefix}${randomBytes(12).toString('hex')}`

/** Loads an object and locks it until the end of the transaction. */
export async function load<T>(tx: Transaction, kind: string, id: string): Promise<T | undefined> {
  const { rows } = await tx.query<{ data: T }>(
    'select data from sandbox.square_objects where kind = $1 and id = $2 for update',
    [kind, id],
  )
  return rows[0]?.data
}
/** Finds the object that was created under an idempotency key. */
export async function find<T>(
  tx: Transaction,
  kind: string,
  key: string,
): Promise<{ data: T; fingerprint: string } | undefined> {
  // Two calls with the same key take turns.
  await tx.query('select pg_advisory_xact_lock(hashtext($1))', [`square ${kind} ${key}`])
  const { rows } = await tx.query<{ data: T; fingerprint: string }>(
    'select data, fingerprint from sandbox.square_objects where kind = $1 and key = $2',
    [kind, key],
  )
  return rows[0]
}
export async function list<T>(
  tx: Transaction,
  kind: string,
  of: { from: string; to: string; after: number; limit: number },
): Promise<{ number: number; data: T }[]> {
  const { rows } = await tx.query<{ number: number; data: T }>(
    `select number, data from sandbox.square_objects where kind = $1 and at >= $2::timestamptz
      and at <= $3::timestamptz and number > $4 order by number limit $5`,
    [kind, of.from, of.to, of.after, of.limit],
  )
  return rows
}
export async function save(
  tx: Transaction,
  kind: string,
  of: { readonly id: string },
  made?: { readonly key: string; readonly fingerprint: string },
): Promise<void> {
  await tx.query(
    `insert into sandbox.square_objects (id, kind, key, fingerprint, data)
     values ($1, $2, $3, $4, $5)
     on conflict (id) do update set data = excluded.data`,
    [of.id, kind, made?.key ?? null, made?.fingerprint ?? null, JSON.stringify(of)],
  )
}
