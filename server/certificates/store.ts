/** SQL of certificates, and certificates as the API shows them. */
import { sql, type Selectable } from 'kysely'
import type { CertificateProblem, CertificateState } from '../../contract/certificates.ts'
import { certificateProblems } from '../../contract/certificates.ts'
import type { DB } from '../platform/db-types.ts'
import type { Database, Queryable, Tx } from '../platform/db.ts'
import type { Issued } from './acme/x509.ts'
import type { NameToCertify } from './names.ts'
import type { DueName } from './turns.ts'

export type CertificateRow = Selectable<DB['certificate']>

export const present = (row: CertificateRow, now: Date, name = row.name): CertificateState => ({
  name,
  state: stateOf(row, now),
  issuer: row.issuer,
  issuedAt: row.not_before?.toISOString() ?? null,
  expiresAt: row.not_after?.toISOString() ?? null,
  problem:
    row.problem === null
      ? null
      : {
          code: problemOf(row.problem),
          detail: row.problem_detail ?? '',
          at: (row.problem_at ?? row.created_at).toISOString(),
        },
  nextAt: row.next_at.toISOString(),
})
/** A problem that only a later release knows is shown as `unavailable`. */
const problemOf = (text: string): CertificateProblem =>
  certificateProblems.find((one) => one === text) ?? 'unavailable'

function stateOf(row: CertificateRow, now: Date): CertificateState['state'] {
  if (row.not_after !== null) return row.not_after > now ? 'issued' : 'expired'
  return row.problem === null ? 'pending' : 'failed'
}

export const certificateOf = (db: Queryable, name: string): Promise<CertificateRow | undefined> =>
  db.selectFrom('certificate').selectAll().where('name', '=', name).executeTakeFirst()

export const certificatesOf = (db: Queryable, siteId: string): Promise<CertificateRow[]> =>
  db.selectFrom('certificate').selectAll().where('site_id', '=', siteId).orderBy('id').execute()

/** Some due names: at most `ofEach` per customer, first those that need no new order. */
export async function someDue(
  db: Database,
  now: Date,
  ofEach: number,
): Promise<readonly DueName[]> {
  const { rows } = await sql<DueName>`
    select id, holder, is_new as "isNew", next_at as "dueAt" from (
      select id, coalesce(customer_id, site_id) as holder, next_at,
        chain is null and order_url is null as is_new,
        row_number() over (partition by coalesce(customer_id, site_id)
          order by chain is null and order_url is null, next_at) as place
      from certificate where next_at <= ${now}
    ) due where place <= ${ofEach} order by place, next_at limit ${mostConsidered}`.execute(db)
  return rows
}
/** The others get their turn after these. */
const mostConsidered = 2_000

/**
 * Claims a due name: no other worker takes it before `until`, its new `next_at`. Its lease ends
 * then too, unless its worker gives it back earlier. Undefined: another worker has it, or it is
 * gone.
 */
export async function claim(
  db: Database,
  id: bigint,
  { now, until }: { readonly now: Date; readonly until: Date },
): Promise<CertificateRow | undefined> {
  const { rows } = await sql<CertificateRow>`
    update certificate set next_at = ${until}, leased_until = ${until}
    where id = (
      select id from certificate where id = ${id} and next_at <= ${now} for update skip locked
    ) returning *`.execute(db)
  return rows[0]
}

/** Stores the result of a try; false: the name needs no certificate any more. */
export async function update(
  db: Queryable,
  id: bigint,
  values: Partial<Omit<CertificateRow, 'id' | 'name'>>,
): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('certificate')
    .set(values)
    .where('id', '=', id)
    .executeTakeFirst()
  return numUpdatedRows > 0n
}

/** Replaces the certificate by a newly issued one. */
export const writeIssued = (
  db: Queryable,
  id: bigint,
  of: Issued & {
    readonly keySealed: Buffer
    readonly directory: string
    readonly renewAt: Date
    readonly nextAt: Date
  },
): Promise<boolean> =>
  db
    .updateTable('certificate')
    .set((eb) => ({
      key_sealed: of.keySealed,
      chain: of.chain,
      issuer: of.issuer,
      not_before: of.notBefore,
      not_after: of.notAfter,
      version: eb('version', '+', 1n),
      directory: of.directory,
      renew_at: of.renewAt,
      next_at: of.nextAt,
      attempts: 0,
      problem: null,
      problem_detail: null,
      problem_at: null,
      warned: 0,
      ...noOrder,
    }))
    .where('id', '=', id)
    .executeTakeFirst()
    .then(({ numUpdatedRows }) => numUpdatedRows > 0n)

export const noOrder = { order_directory: null, order_url: null, order_key_sealed: null } as const

/**
 * Deletes a name with its key, unless another site has it meanwhile; answers whether it was there.
 */
export async function forget(db: Queryable, name: string, siteId: string | null): Promise<boolean> {
  const { numDeletedRows } = await db
    .deleteFrom('certificate')
    .where('name', '=', name)
    .where('site_id', 'is not distinct from', siteId)
    .executeTakeFirst()
  return numDeletedRows > 0n
}

/** Adds missing names, due at once; a name that another site has now is transferred to it. */
export async function want(
  tx: Tx | Database,
  names: readonly NameToCertify[],
  now: Date,
): Promise<boolean> {
  if (names.length === 0) return false
  const { rows } = await sql<{ fresh: boolean }>`
    insert into certificate (name, site_id, customer_id, created_at, next_at)
    select name, site_id, customer_id, ${now}, ${now}
    from jsonb_to_recordset(${JSON.stringify(
      names.map((one) => ({
        name: one.name,
        site_id: one.siteId,
        customer_id: one.customerId,
      })),
    )}::jsonb) as r (name text, site_id uuid, customer_id uuid)
    on conflict (name) do update
      set site_id = excluded.site_id, customer_id = excluded.customer_id
      where (certificate.site_id, certificate.customer_id)
        is distinct from (excluded.site_id, excluded.customer_id)
    returning xmax = 0 as fresh`.execute(tx)
  return rows.some(({ fresh }) => fresh)
}
