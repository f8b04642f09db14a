/** Figures on the mail of sites that an operator watches and decides by. */
import { sql } from 'kysely'
import type { Queryable } from '../../platform/db.ts'
import type { SuspensionCause } from '../../../contract/wordpress-mail.ts'

export interface MailCounts {
  /** Recipients whose letters are not sent yet, without held ones. */
  readonly waiting: number
  /** Age of the oldest of them that waits only for the mail server, seconds. */
  readonly oldestSeconds: number
  readonly suspendedSites: number
}

export async function countMail(db: Queryable, now: Date): Promise<MailCounts> {
  const { rows } = await sql<{ waiting: number; oldest: Date | null; suspended: number }>`
    select count(*)::int as waiting,
      min(m.created_at) filter (where m.why is distinct from 'hour_limit') as oldest,
      (select count(*)::int from site where mail_suspended and deleted_at is null) as suspended
    from site_mail m join site s on s.id = m.site_id
    where m.state = 'waiting' and s.status = 'running'`.execute(db)
  const [row] = rows
  const oldestMs = row?.oldest ? now.getTime() - row.oldest.getTime() : 0
  return {
    waiting: row?.waiting ?? 0,
    oldestSeconds: Math.max(0, oldestMs) / 1000,
    suspendedSites: row?.suspended ?? 0,
  }
}

export interface MailOfSite {
  readonly siteId: string
  readonly name: string
  readonly customerEmail: string
  readonly suspendedAt: Date | null
  readonly cause: SuspensionCause | null
  readonly note: string | null
  readonly waiting: number
  /** Counts of the last day. */
  readonly sent: number
  readonly bounced: number
}

/** Sites whose mail is suspended, and those that sent most within the day. */
export async function mailOfSites(
  db: Queryable,
  { since, limit }: { readonly since: Date; readonly limit: number },
): Promise<MailOfSite[]> {
  const { rows } = await sql<MailOfSite>`
    select s.id as "siteId", s.name, c.email as "customerEmail",
      case when s.mail_suspended then t.suspended_at end as "suspendedAt",
      case when s.mail_suspended then t.suspended_for end as cause,
      case when s.mail_suspended then t.suspended_note end as note,
      coalesce(m.waiting, 0)::int as waiting, coalesce(m.sent, 0)::int as sent,
      coalesce(m.bounced, 0)::int as bounced
    from site s join customer c on c.id = s.customer_id
    left join site_mail_setting t on t.site_id = s.id
    left join lateral (
      select count(*) filter (where state in ('waiting', 'held')) as waiting,
        count(*) filter (where state = 'sent') as sent,
        count(*) filter (where state = 'bounced') as bounced
      from site_mail where site_id = s.id
        and (state in ('waiting', 'held') or settled_at > ${since})
    ) m on true
    where s.deleted_at is null and (s.mail_suspended or m.waiting > 0 or m.sent + m.bounced > 0)
    order by s.mail_suspended desc, m.sent + m.bounced desc, s.name limit ${limit}`.execute(db)
  return rows
}
