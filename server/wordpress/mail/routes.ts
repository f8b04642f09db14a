/** The mail of a server, as its owner sees and controls it. */
import * as api from '../../../contract/wordpress-mail.ts'
import type { MailState, SentMail } from '../../../contract/wordpress-mail.ts'
import { ruleText } from '../../../contract/server-sentences.ts'
import { encodeCursor, pageRequest } from '../../platform/cursor.ts'
import { type Queryable } from '../../platform/db.ts'
import { Refusal } from '../../platform/errors.ts'
import { Page, type Http } from '../../platform/http.ts'
import type { Limit } from '../../platform/limits.ts'
import { ensureJob } from '../change.ts'
import { ownSite } from '../store.ts'
import type { MailDeps } from './deps.ts'
import type { SuspensionCause } from '../../../contract/wordpress-mail.ts'
import { plainAddress } from './letter.ts'
import { mailDomainOf, writeMailDomain, type RecordDeps } from './records.ts'
import { hourLimitOf, sentInHour } from './limits.ts'
import { allowRecipient } from './returned.ts'
import { mayBeFrom, senderNames, usualSender } from './sender.ts'
import { chooseSender, countWaiting, sentPage, settingOf, switchMail } from './store.ts'

export interface MailRouteDeps extends MailDeps, RecordDeps {
  /** Limits a customer's look-ups of records, which reach other people's name servers. */
  readonly lookups: Limit
}

const reasons: ReadonlySet<string> = new Set(api.mailReasons)
const isReason = (why: string): why is NonNullable<SentMail['reason']> => reasons.has(why)

export function mailRoutes(http: Http, deps: MailRouteDeps): void {
  const { db, clock } = deps
  async function shown(from: Queryable, customerId: string, id: string): Promise<MailState> {
    const site = await ownSite(from, customerId, id)
    const names = await senderNames(from, deps.addressing, site)
    const setting = await settingOf(from, site.id)
    const chosen = setting?.sender ?? null
    return {
      enabled: site.mail_enabled,
      suspended: site.mail_suspended
        ? {
            at: (setting?.suspended_at ?? clock.now()).toISOString(),
            cause: (setting?.suspended_for ?? 'operator') as SuspensionCause,
            note: setting?.suspended_note ?? null,
          }
        : null,
      sender: usualSender(names, chosen),
      chosenSender: chosen !== null && mayBeFrom(names, chosen) ? chosen : null,
      senderDomains: [...names.proven, names.own],
      hour: {
        limit: hourLimitOf(deps, site),
        used: await sentInHour(from, site.id, clock.now()),
      },
      waiting: await countWaiting(from, site.id),
    }
  }

  http.read(api.getMail, ({ customerId, params }) => shown(db, customerId, params.id))
  http.write(api.changeMail, async ({ tx, customerId, params, body, language }) => {
    const site = await ownSite(tx, customerId, params.id)
    if (body.sender !== undefined) {
      const names = await senderNames(tx, deps.addressing, site)
      const sender = body.sender === null ? null : plainAddress(body.sender)
      if (body.sender !== null && (sender === null || !mayBeFrom(names, sender)))
        throw new Refusal('invalid_input', {
          fields: { sender: ruleText('mail_sender_domain', language) },
        })
      await chooseSender(tx, site.id, sender)
    }
    if (body.enabled !== undefined && body.enabled !== site.mail_enabled) {
      await switchMail(tx, clock, site.id, body.enabled)
      await deps.jobs.add(tx, ensureJob, { siteId: site.id })
    }
    return await shown(tx, customerId, params.id)
  })

  const recordsOf = async (siteId: string, customerId: string, domain: string) =>
    await mailDomainOf(deps, { siteId, customerId, domain })
  http.read(api.listMailRecords, async ({ customerId, params }) => {
    const site = await ownSite(db, customerId, params.id)
    await deps.lookups.take(customerId)
    const { proven } = await senderNames(db, deps.addressing, site)
    return { data: await Promise.all(proven.map((name) => recordsOf(site.id, customerId, name))) }
  })
  http.act(api.writeMailRecords, async ({ customerId, caller, params, body, language }) => {
    const site = await ownSite(db, customerId, params.id)
    await deps.lookups.take(customerId)
    const { proven } = await senderNames(db, deps.addressing, site)
    const domain = body.domain.toLowerCase()
    if (!proven.includes(domain)) throw new Refusal('not_found')
    const personId = caller?.member?.personId ?? null
    const of = { siteId: site.id, customerId, domain, language, personId }
    return await writeMailDomain(deps, of)
  })

  http.write(api.allowRecipient, async ({ tx, customerId, params, body }) => {
    const site = await ownSite(tx, customerId, params.id)
    const recipient = plainAddress(body.address)
    const of = { siteId: site.id, now: clock.now() }
    if (recipient === null || !(await allowRecipient(tx, { ...of, recipient })))
      throw new Refusal('not_found')
    return { address: recipient }
  })

  http.read(api.listMail, async ({ customerId, params, query, language }) => {
    const site = await ownSite(db, customerId, params.id)
    const { rows, next } = await sentPage(db, site.id, pageRequest(query, language))
    return new Page(
      rows.map((row): SentMail => ({
        id: String(row.id),
        at: row.created_at.toISOString(),
        from: row.from_address,
        namedFrom: row.named_from,
        to: row.recipient,
        subject: row.subject,
        state: row.state as SentMail['state'],
        reason: row.why !== null && isReason(row.why) ? row.why : null,
        said: row.why !== null && !isReason(row.why) ? row.why : null,
        returnedAt: row.returned_at?.toISOString() ?? null,
        attempts: row.attempts,
        nextAt: row.state === 'waiting' ? row.next_at.toISOString() : null,
      })),
      encodeCursor(next),
    )
  })
}
