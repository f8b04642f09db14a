/** Hand-over of a domain to another customer, with its records and its present name servers. */
import { sql } from 'kysely'
import { isUuid, type Tx } from '../platform/db.ts'
import { Refusal, type Sentence } from '../platform/errors.ts'
import { live, lockClaims, type ZoneRow } from './store.ts'

const refuse = (said: Sentence): Refusal => new Refusal('conflict', { said })

const texts = {
  pending: {
    en: 'Only a domain whose name servers are verified can be handed over.',
    vi: 'Chỉ tên miền đã được xác minh máy chủ tên mới chuyển giao được.',
  },
  related: {
    en: 'A domain above or below this one is in the same account. They cannot be told apart.',
    vi: 'Trong cùng tài khoản có tên miền cấp trên hoặc cấp dưới của tên miền này.',
  },
  theirs: {
    en: 'The account has a domain of this name already. Delete that one first.',
    vi: 'Tài khoản đã có tên miền này. Hãy xoá tên miền đó trước.',
  },
} satisfies Record<string, Sentence>

/**
 * Locks a customer's domain and every claim of its name until the transaction ends. Refuses with
 * not_found, and with conflict and a sentence.
 */
export async function holdDomain(tx: Tx, customerId: string, id: string): Promise<ZoneRow> {
  const known = isUuid(id)
    ? await live(tx).where('id', '=', id).where('customer_id', '=', customerId).executeTakeFirst()
    : undefined
  if (!known) throw new Refusal('not_found')
  const zone = (await lockClaims(tx, known.name)).find((one) => one.id === id)
  if (!zone || zone.customer_id !== customerId) throw new Refusal('not_found')
  if (zone.active_at === null || zone.moved_at !== null) throw refuse(texts.pending)
  const related = await live(tx)
    .where('customer_id', '=', customerId)
    .where('id', '<>', zone.id)
    .where((eb) =>
      eb.or([
        eb('name', '=', sql<string>`any (dns_above(${zone.name}::text))`),
        eb(
          sql<string>`reverse(name)`,
          'like',
          sql<string>`reverse(${`.${zone.name}`}::text) || '%'`,
        ),
      ]),
    )
    .executeTakeFirst()
  if (related) throw refuse(texts.related)
  return zone
}

/**
 * Transfers a domain that the caller has locked. Refuses with conflict an account that has claimed
 * the name itself.
 */
export async function giveDomain(tx: Tx, zone: ZoneRow, toId: string): Promise<void> {
  const theirs = await live(tx)
    .where('customer_id', '=', toId)
    .where('name', '=', zone.name)
    .executeTakeFirst()
  if (theirs) throw refuse(texts.theirs)
  await tx.updateTable('dns_zone').set({ customer_id: toId }).where('id', '=', zone.id).execute()
  // The change log belongs to the domain: it must not be erased when the former owner closes the
  // account. Who worked for the former owner is none of the new one's business.
  await tx
    .updateTable('dns_change')
    .set({ customer_id: toId, by_former_owner: true, person_id: null, token_name: null })
    .where('zone_id', '=', zone.id)
    .execute()
}
