/**
 * Takes letters from the nodes into the database. A node keeps a letter until it is told that the
 * letter is stored. Each is stored once by its key, so that a kill in between neither loses nor
 * doubles one.
 */
import { transaction, type Tx } from '../../platform/db.ts'
import { DriverFailure } from '../../platform/errors.ts'
import type { SpooledLetter, WordpressDriver } from '../driver.ts'
import { siteById, type SiteRow } from '../store.ts'
import type { MailDeps } from './deps.ts'
import { hourLimitOf, isFull } from './limits.ts'
import { domainOfAddress, plainAddress, readLetter, writeLetter } from './letter.ts'
import { suppressedAmong } from './returned.ts'
import { senderNames, senderOf, type SenderNames } from './sender.ts'
import { settingOf, wakeFor } from './store.ts'

/**
 * Short, because nodes know from memory which sites have letters, so asking costs next to nothing.
 */
const lookMs = 2_000
const takenAtOnce = 20
/** How long a site whose letters are not taken is left alone. */
const fullMs = 10_000

type CollectDeps = Pick<
  MailDeps,
  'db' | 'clock' | 'log' | 'jobs' | 'secrets' | 'driver' | 'addressing' | 'catalog'
>

export interface MailCollector {
  /** Takes the letters that wait now. */
  collect(): Promise<void>
  /**
   * Takes all waiting letters of a site from a node that no longer has the site: mail() accepted
   * them, and a letter that stays there is lost. The site adds no more letters there, so no limit
   * is needed.
   */
  collectFrom(from: Pick<WordpressDriver, 'takeMail' | 'mailTaken'>, siteId: string): Promise<void>
  start(): void
  /** Resolves when no collection is under way. */
  stop(): Promise<void>
}

export const letterPurpose = (siteId: string, key: string): string => `site-letter:${siteId}:${key}`

/** The columns that a letter is stored with. */
interface Prepared {
  readonly subject: string
  readonly from: string
  readonly namedFrom: string | null
  readonly messageId: string
  /** The text that is sent; null where the letter is refused. */
  readonly text: Buffer | null
  readonly fault: string | null
}

function prepare(
  spooled: SpooledLetter,
  of: { names: SenderNames; chosen: string | null; at: Date },
): Prepared {
  const letter = readLetter(spooled.raw)
  const read = 'fault' in letter ? { from: null, subject: '', messageId: null } : letter
  const { sender, named } = senderOf(read, spooled.from, of.names, of.chosen)
  // Stays the same for ever: a letter that is sent twice can be recognised by it.
  const messageId = read.messageId ?? `<${spooled.key}@${domainOfAddress(sender.address)}>`
  const shown = { subject: read.subject, from: sender.address, namedFrom: named, messageId }
  if ('fault' in letter) return { ...shown, text: null, fault: letter.fault }
  const text = writeLetter(letter, { sender, messageId, at: of.at })
  return 'fault' in text
    ? { ...shown, text: null, fault: text.fault }
    : { ...shown, text, fault: null }
}

const faultOf = (recipient: string | null, suppressed: ReadonlySet<string>): string | null => {
  if (recipient === null) return 'address'
  return suppressed.has(recipient) ? 'recipient_returned' : null
}

export function createMailCollector(deps: CollectDeps): MailCollector {
  const { db, clock, log, driver, secrets } = deps

  async function write(
    tx: Tx,
    site: SiteRow,
    spooled: SpooledLetter,
    prepared: Prepared,
  ): Promise<void> {
    const now = clock.now()
    const wrong = site.mail_enabled ? prepared.fault : 'off'
    const row = await tx
      .insertInto('site_letter')
      .values({
        site_id: site.id,
        key: spooled.key,
        created_at: now,
        from_address: prepared.from,
        named_from: prepared.namedFrom,
        subject: prepared.subject,
        bytes: spooled.raw.length,
        message_id: prepared.messageId,
        sealed:
          prepared.text && wrong === null
            ? secrets.seal(letterPurpose(site.id, spooled.key), prepared.text.toString('latin1'))
            : null,
      })
      .onConflict((conflict) => conflict.columns(['site_id', 'key']).doNothing())
      .returning('id')
      .executeTakeFirst()
    if (!row) return
    const state = site.mail_suspended ? 'held' : 'waiting'
    const suppressed = await suppressedAmong(tx, {
      siteId: site.id,
      recipients: spooled.to.flatMap((to) => plainAddress(to) ?? []),
      now,
    })
    await tx
      .insertInto('site_mail')
      .values(
        spooled.to.map((to) => {
          const recipient = plainAddress(to)
          const fault = wrong ?? faultOf(recipient, suppressed)
          return {
            letter_id: row.id,
            site_id: site.id,
            recipient: recipient ?? to,
            state: fault === null ? state : 'refused',
            why: fault ?? (site.mail_suspended ? 'suspended' : null),
            next_at: now,
            created_at: now,
            settled_at: fault === null ? null : now,
          }
        }),
      )
      .execute()
  }

  /** Sites whose letters are not taken, and until when (performance.now). */
  const full = new Map<string, number>()

  /**
   * Whether more letters are taken. A site that sends far more than may go out fills its spool:
   * then mail() fails.
   */
  async function takesMore(siteId: string): Promise<boolean> {
    if ((full.get(siteId) ?? 0) > performance.now()) return false
    full.delete(siteId)
    const site = await siteById(db, siteId)
    if (!site) return true
    const limit = hourLimitOf(deps, site)
    if (!(await isFull(db, { siteId, now: clock.now(), limit }))) return true
    full.set(siteId, performance.now() + fullMs)
    return false
  }

  /** Takes the letters of a site from a node; answers how many there were. */
  async function collectOf(
    siteId: string,
    from: Pick<WordpressDriver, 'takeMail' | 'mailTaken'>,
  ): Promise<number> {
    const letters = await from.takeMail(siteId, takenAtOnce)
    if (letters.length === 0) return 0
    const site = await siteById(db, siteId)
    // Letters of a deleted or unknown server are dropped.
    if (site && site.deleted_at === null && !['deleting', 'failed'].includes(site.status)) {
      const names = await senderNames(db, deps.addressing, site)
      const chosen = (await settingOf(db, siteId))?.sender ?? null
      const prepared = letters.map((one) => ({
        spooled: one,
        prepared: prepare(one, { names, chosen, at: clock.now() }),
      }))
      await transaction(db, async (tx) => {
        // The lock orders a change of the site's mail switch, or a suspension, before or after all
        // of this.
        const now = await tx
          .selectFrom('site')
          .selectAll()
          .where('id', '=', siteId)
          .forShare()
          .executeTakeFirst()
        if (!now || now.status === 'deleting') return
        for (const one of prepared) await write(tx, now, one.spooled, one.prepared)
        if (!now.mail_suspended) await wakeFor(tx, deps, siteId)
      })
    }
    await from.mailTaken(
      siteId,
      letters.map(({ key }) => key),
    )
    return letters.length
  }

  let collecting: Promise<void> | undefined
  let timer: NodeJS.Timeout | undefined
  let stopped = false

  async function collectAll(): Promise<void> {
    for (const siteId of await driver.sitesWithMail()) {
      try {
        while (!stopped && (await takesMore(siteId)) && (await collectOf(siteId, driver)) > 0);
      } catch (error) {
        log.warn({ err: error, site: siteId }, 'letters of a site could not be taken')
      }
    }
  }
  function collect(): Promise<void> {
    collecting ??= collectAll()
      .catch((error: unknown) => {
        // A node that is away keeps its letters.
        if (!(error instanceof DriverFailure)) log.warn({ err: error }, 'letters of sites')
      })
      .finally(() => {
        collecting = undefined
      })
    return collecting
  }

  return {
    collect,
    async collectFrom(from, siteId) {
      while ((await collectOf(siteId, from)) > 0);
    },
    start() {
      timer = setInterval(() => void collect(), lookMs)
      timer.unref()
    },
    async stop() {
      stopped = true
      clearInterval(timer)
      await collecting
    },
  }
}
