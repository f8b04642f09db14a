/** Gives a server to another customer: what goes with it, what ends, and when it is refused. */
import { sql } from 'kysely'
import { isUuid, type Tx } from '../platform/db.ts'
import { Refusal, type Sentence } from '../platform/errors.ts'
import { lockSite, type SiteRow } from './store.ts'
import { waitingWork } from './waiting-work.ts'

const refuse = (said: Sentence): Refusal => new Refusal('conflict', { said })

const texts = {
  notRunning: {
    en: 'Only a server that runs can be handed over.',
    vi: 'Chỉ máy chủ đang chạy mới chuyển giao được.',
  },
  held: {
    en: 'The provider has suspended this server. Please write to the support.',
    vi: 'Nhà cung cấp đã tạm ngưng máy chủ này. Vui lòng liên hệ bộ phận hỗ trợ.',
  },
  working: {
    en: 'Something is being done to this server. Try again when it has ended.',
    vi: 'Máy chủ này đang được xử lý. Hãy thử lại khi việc đó kết thúc.',
  },
} satisfies Record<string, Sentence>

/** Whether a job works on the server, or a site is being uploaded into it. */
async function isAtWork(tx: Tx, siteId: string): Promise<boolean> {
  const { rows } = await sql<{ busy: boolean }>`
    select exists (
      select from (${waitingWork([])}) as waiting
      where waiting.site_id = ${siteId} and waiting.work <> 'send_mail'
    ) or exists (
      select from site_import where site_id = ${siteId} and state in ('uploading', 'ready')
    ) as busy`.execute(tx)
  return rows[0]?.busy === true
}

/**
 * A customer's own server, locked until the transaction ends. Refuses with not_found, and with
 * conflict and a sentence.
 */
export async function holdServerToGive(
  tx: Tx,
  customerId: string,
  id: string,
): Promise<SiteRow & { readonly subscription_id: string }> {
  const row = isUuid(id) ? await lockSite(tx, id) : undefined
  if (!row || row.customer_id !== customerId || row.deleted_at !== null)
    throw new Refusal('not_found')
  if (row.held_at !== null) throw refuse(texts.held)
  if (row.status !== 'running' || row.subscription_id === null) throw refuse(texts.notRunning)
  if (await isAtWork(tx, row.id)) throw refuse(texts.working)
  return { ...row, subscription_id: row.subscription_id }
}

/**
 * Gives the server to `toId`; the caller has locked it. Names and backups go with it. Whatever
 * opens it for the former owner ends: SFTP keys, the database, tickets of live logs. The console's
 * history is deleted, because it may hold passwords.
 */
export async function giveServer(tx: Tx, siteId: string, toId: string): Promise<void> {
  for (const table of [
    'site_ssh_key',
    'site_database_access',
    'log_ticket',
    'site_command',
  ] as const)
    await tx.deleteFrom(table).where('site_id', '=', siteId).execute()
  for (const table of ['site_domain', 'site_import'] as const)
    await tx.updateTable(table).set({ customer_id: toId }).where('site_id', '=', siteId).execute()
  await tx.updateTable('site').set({ customer_id: toId }).where('id', '=', siteId).execute()
}
