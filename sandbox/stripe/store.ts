/**
 * The stand-in's storage: Stripe's objects as JSON, and the answers stored under idempotency keys.
 */
import { randomBytes } from 'node:crypto'
import type { Transaction } from '../database.ts'

export const stripeTables = `
  create table if not exists sandbox.stripe_objects (
    id text primary key,
    kind text not null,
    number bigint generated always as identity,
    data jsonb not null
  );
  create index if not exists stripe_objects_kind on sandbox.stripe_objects (kind, number);
  create table if not exists sandbox.stripe_answers (
    key text primary key,
    fingerprint text not null,
    status int,
    body text,
    at timestamptz not null default now()
  )`

/** A stored object. Fields whose names begin with _ are internal and are never sent. */
export interface Stored {
  id: string
  object: string
  created: number
  [field: string]: unknown
}

export const newId = (prefix: string): string => `${prefix}_${randomBytes(12).toString('hex')}`
export const newSecret = (id: string): string => `${id}_secret_${randomBytes(12).toString('hex')}`

/** Loads an object and locks it until the end of the transaction. */
export async function load<T extends Stored>(
  tx: Transaction,
  kind: string,
  id: string,
): Promise<T | undefined> {
  const { rows } = await tx.query<{ data: T }>(
    'select data from sandbox.stripe_objects where kind = $1 and id = $2 for update',
    [kind, id],
  )
  return rows[0]?.data
}

export async function save(tx: Transaction, of: Stored): Promise<void> {
  await tx.query(
    `insert into sandbox.stripe_objects (id, kind, data) values ($1, $2, $3)
     on conflict (id) do update set data = excluded.data`,
    [of.id, of.object, JSON.stringify(of)],
  )
}

/** Newest first. `field` comes from our code, never from a caller. */
export async function find<T extends Stored>(
  tx: Transaction,
  kind: string,
  where: { field: string; is: string } | null,
  limit: number,
): Promise<T[]> {
  const { rows } = await tx.query<{ data: T }>(
    `select data from sandbox.stripe_objects where kind = $1 and ($2::text is null
      or data #>> string_to_array($2, '.') = $3) order by number desc limit $4`,
    [kind, where?.field ?? null, where?.is ?? null, limit],
  )
  return rows.map((row) => row.data)
}

/** The object without its internal fields, as Stripe sends it. */
export function publicFields(of: object): object {
  return Object.fromEntries(Object.entries(of).filter(([name]) => !name.startsWith('_')))
}
