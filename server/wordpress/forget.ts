/** Forgets what is left of a customer's deleted servers, once the account is closed. */
import type { Tx } from '../platform/db.ts'

const tables = [
  'site_command',
  'site_ssh_key',
  'site_letter',
  'site_mail_setting',
  'site_mail_key',
  'site_mail_suppressed',
  'site_rewrite',
] as const

/**
 * Deletes who worked on the servers and from where, letters, keys and the origin of imported sites.
 * Servers' rows and names stay: subscriptions and invoices name them.
 */
export async function forgetServers(tx: Tx, customerId: string): Promise<void> {
  const sites = await tx
    .selectFrom('site')
    .select('id')
    .where('customer_id', '=', customerId)
    .execute()
  if (sites.length === 0) return
  const ids = sites.map(({ id }) => id)
  for (const table of tables) await tx.deleteFrom(table).where('site_id', 'in', ids).execute()
  await tx
    .updateTable('site_import')
    .set({ origin: null, found: null, pages: null, problem: null })
    .where('customer_id', '=', customerId)
    .execute()
  await tx
    .updateTable('site')
    .set({
      admin_user: '',
      visit_user: null,
      visit_hash: null,
      denied_networks: [],
      held_told: null,
    })
    .where('customer_id', '=', customerId)
    .execute()
}
