/**
 * Sends letters of sites by the portal's relay: as many an hour as the plan allows, and each until
 * it is sent, refused, or two days old. A letter is sent at least once: a worker that is killed
 * between the relay's answer and its own row sends it again, under the same Message-ID.
 */
import { sql } from 'kysely'
import { hours, later, minutes } from '../../platform/clock.ts'
import { transaction, type Queryable, type Tx } from '../../platform/db.ts'
import { siteById, type SiteRow } from '../store.ts'
import { letterPurpose } from './collect.ts'
import type { MailDeps } from './deps.ts'
import { signingKeyOf } from './keys.ts'
import { tellOfLimit } from './letters.ts'
import { mayBeFrom, senderNames, type SenderNames } from './sender.ts'
import { domainOfAddress } from './letter.ts'
import { hourLimitOf, limitEndsAt, sentInHour } from './limits.ts'
import { suppressedAmong } from './returned.ts'
import { forgetTexts, lockSetting, sendMailJob, wakeFor } from './store.ts'
import { judgeBounces } from './suspension.ts'

/**
 * How long a worker may keep its claimed rows, renewed before each is sent; after that another
 * worker may take them. Longer than one conversation with the relay takes.
 */
const leaseMs = minutes(5)
const claimedAtOnce = 10
/** Most letters of one run: other customers' sites wait for the same workers. */
const inOneRun = 100
/** How long a letter is retried, counted from when PHP sent it. */
const triedMs = hours(48)
const longestDelayMs = hours(4)
const whyShown = 300

/** The pause after so many tries, ms: a minute, two, four, … four hours. */
export const delayMs = (attempts: number): number =>
  Math.min(longestDelayMs, minutes(1) * 2 ** Math.max(0, attempts - 1))

interface Claimed {
  readonly id: bigint
  readonly letterId: bigint
  readonly recipient: string
  readonly attempts: number
  readonly createdAt: Date
}

export function defineSending(deps: MailDeps): void {
  const { db, clock, log, jobs, relay, secrets } = deps

  /**
   * The site, if it may send now; undefined otherwise. When it may again, the sweep finds its
   * letters.
   */
  async function sendingSite(from: Queryable, siteId: string): Promise<SiteRow | undefined> {
    const site = await siteById(from, siteId)
    return site?.status === 'running' && !site.mail_suspended ? site : undefined
  }

  /**
   * Claims letters that are due, within the hour's limit; tells the owner where that is reached.
   */
  async function claim(tx: Tx, siteId: string): Promise<readonly Claimed[]> {
    const setting = await lockSetting(tx, siteId)
    const site = await sendingSite(tx, siteId)
    if (!site) return []
    const now = clock.now()
    const limit = hourLimitOf(deps, site)
    const left = limit - (await sentInHour(tx, site.id, now))
    if (left <= 0) {
      const until = await limitEndsAt(tx, site.id, limit, now)
      const { numUpdatedRows } = await tx
        .updateTable('site_mail')
        .set({ next_at: until, why: 'hour_limit' })
        .where('site_id', '=', site.id)
        .where('state', '=', 'waiting')
        .where('next_at', '<=', now)
        .where(({ eb, or }) => or([eb('leased_until', 'is', null), eb('leased_until', '<=', now)]))
        .executeTakeFirst()
      if (numUpdatedRows > 0n) await tellOfLimit(tx, deps, { site, setting, limit })
      return []
    }
    const { rows } = await sql<Claimed>`
      update site_mail set leased_until = ${later(now, leaseMs)}, attempts = attempts + 1
      where id = any (array(
        select id from site_mail where site_id = ${site.id} and state = 'waiting'
          and next_at <= ${now} and (leased_until is null or leased_until <= ${now})
        order by next_at, id limit ${Math.min(left, claimedAtOnce)} for update skip locked))
      returning id, letter_id as "letterId", recipient, attempts, created_at as "createdAt"
    `.execute(tx)
    return rows.toSorted((a, b) => Number(a.id - b.id))
  }

  /** Renews the lease of a claimed letter; false: another worker has it, or it waits no more. */
  async function isStillOurs(one: Claimed): Promise<boolean> {
    const now = clock.now()
    const { numUpdatedRows } = await db
      .updateTable('site_mail')
      .set({ leased_until: later(now, leaseMs) })
      .where('id', '=', one.id)
      .where('state', '=', 'waiting')
      // Each claim counts: a lease of the same letter by another worker has another number.
      .where('attempts', '=', one.attempts)
      .where('leased_until', '>', now)
      .executeTakeFirst()
    return numUpdatedRows > 0n
  }

  /** The process is told to stop: what it has not begun is free at once, and was no attempt. */
  async function giveBack(claimed: readonly Claimed[]): Promise<void> {
    const now = clock.now()
    for (const one of claimed)
      await db
        .updateTable('site_mail')
        .set({ leased_until: null, attempts: one.attempts - 1 })
        .where('id', '=', one.id)
        .where('state', '=', 'waiting')
        .where('attempts', '=', one.attempts)
        .where('leased_until', '>', now)
        .execute()
  }

  /** Sends one letter; answers its new state and the reason, or `later`: why it is tried again. */
  async function send(
    site: SiteRow,
    names: SenderNames,
    one: Claimed,
  ): Promise<{ state: 'sent' | 'bounced' | 'refused'; why: string | null } | { later: string }> {
    const letter = await db
      .selectFrom('site_letter')
      .selectAll()
      .where('id', '=', one.letterId)
      .executeTakeFirst()
    if (!letter?.sealed) return { state: 'refused', why: 'text_gone' }
    // The site may have given up the name since.
    if (!mayBeFrom(names, letter.from_address)) return { state: 'refused', why: 'sender_lost' }
    const recipients = [one.recipient]
    // Another letter to this recipient may have come back since this one was claimed.
    if ((await suppressedAmong(db, { siteId: site.id, recipients, now: clock.now() })).size > 0)
      return { state: 'refused', why: 'recipient_returned' }
    const purpose = letterPurpose(site.id, letter.key)
    const outcome = await relay.relay({
      from: deps.returnPaths?.addressOf(one.id) ?? letter.from_address,
      to: one.recipient,
      raw: Buffer.from(secrets.open(purpose, letter.sealed), 'latin1'),
      signKey: await signingKeyOf(deps, site.id, domainOfAddress(letter.from_address)),
    })
    if (outcome.outcome === 'sent') return { state: 'sent', why: null }
    const why = outcome.why.slice(0, whyShown)
    return outcome.outcome === 'refused' ? { state: 'bounced', why } : { later: why }
  }

  async function settle(site: SiteRow, names: SenderNames, one: Claimed): Promise<void> {
    const became = await send(site, names, one).catch((error: unknown) => {
      log.warn({ err: error, site: site.name }, 'a letter of a site could not be sent')
      return { later: 'trouble' }
    })
    const isBounce = 'state' in became && became.state === 'bounced'
    await transaction(db, async (tx) => {
      const now = clock.now()
      const row = await tx
        .selectFrom('site_mail')
        .select('state')
        .where('id', '=', one.id)
        .forUpdate()
        .executeTakeFirst()
      // The row was deleted with its server, or settled by another worker with a later lease. A
      // letter that was held meanwhile has been sent nevertheless.
      if (row?.state !== 'waiting' && (row?.state !== 'held' || 'later' in became)) return
      const isOver = 'later' in became && later(one.createdAt, triedMs) <= now
      const why = 'later' in became ? became.later : became.why
      await tx
        .updateTable('site_mail')
        .set(
          'later' in became && !isOver
            ? { why, leased_until: null, next_at: later(now, delayMs(one.attempts)) }
            : {
                state: 'later' in became ? 'failed' : became.state,
                why,
                leased_until: null,
                settled_at: now,
              },
        )
        .where('id', '=', one.id)
        .execute()
      if ('later' in became && !isOver) return
      await forgetTexts(tx, [one.letterId])
    })
    if (isBounce) await transaction(db, (tx) => judgeBounces(tx, deps, site.id))
  }

  jobs.define<{ siteId: string }>({
    name: sendMailJob,
    concurrency: 4,
    retries: 'unlimited',
    limitSeconds: 600,
    async run({ siteId }, { signal }) {
      for (let sent = 0; sent < inOneRun && !signal.aborted;) {
        const site = await sendingSite(db, siteId)
        if (!site) return
        const names = await senderNames(db, deps.addressing, site)
        const claimed = await transaction(db, (tx) => claim(tx, siteId))
        if (claimed.length === 0) break
        for (const [index, one] of claimed.entries()) {
          if (signal.aborted) {
            await giveBack(claimed.slice(index))
            break
          }
          if (await isStillOurs(one)) await settle(site, names, one)
        }
        sent += claimed.length
      }
      await transaction(db, (tx) => wakeFor(tx, deps, siteId))
    },
  })
}
