/**
 * What the ledger holds of money that came in and went back, for those who compare it with the
 * gateways.
 */
import { sql } from 'kysely'
import type { Queryable } from '../platform/db.ts'

/** A posting between a gateway and a wallet or suspense account. */
export interface GatewayPosting {
  readonly key: string
  readonly kind: string
  /** Our transaction code, when the posting names one. */
  readonly code: string | null
  /** Minor units that came from the gateway; negative when they went back to it. */
  readonly amount: bigint
  readonly currency: string
  readonly at: Date
}

/** All of a span of time, oldest first. */
export async function gatewayPostings(
  db: Queryable,
  driver: string,
  span: { from: Date; to: Date },
): Promise<GatewayPosting[]> {
  const { rows } = await sql<GatewayPosting>`
    select t.key, t.kind, t.details->>'code' as code, -e.amount as amount, a.currency,
    t.created_at as at
    from ledger_entry e join ledger_transfer t on t.id = e.transfer_id
    join ledger_account a on a.id = e.account_id
    where a.code like ${`gateway:${driver}:%`} and t.created_at >= ${span.from}
    and t.created_at < ${span.to} order by t.id
  `.execute(db)
  return rows
}
