/**
 * Messages to customers: encrypted and stored in the business transaction, and sent by a job. A
 * code's text is deleted once it is sent, a letter's a week later; until then the staff may send it
 * again. While the SMS or mail server is unavailable they are retried: a one-time code until it
 * expires, because a late code is useless, and a letter for days.
 */
import { randomUUID } from 'node:crypto'
import { dropOld } from '../platform/batches.ts'
import { days, later, seconds, type Clock } from '../platform/clock.ts'
import type { Selectable } from 'kysely'
import type { Language } from '../../contract/errors.ts'
import type { DB } from '../platform/db-types.ts'
import { transaction, type Database, type Tx } from '../platform/db.ts'
import { DriverFailure } from '../platform/errors.ts'
import { keptSeconds, type Attempt, type Jobs } from '../platform/jobs.ts'
import type { Log } from '../platform/log.ts'
import type { Secrets } from '../platform/secrets.ts'
import type { MailDriver, SignKey, SmsDriver } from './driver.ts'
import { howToAnswer, type AskedAbout, type SupportWays } from './answerable.ts'
import { codeJob, keptTextMs, letterJob, sendAgain, type SentAgain } from './again.ts'

export { countGivenUp, messageChannels } from './counts.ts'
export { lettersTo, listMessages } from './desk.ts'
export { forgetLetters } from './forget.ts'
export type { MailDriver, SignKey, SmsDriver }

export interface Outbox {
  /** `until`: the message is useless after it and not sent; `from`: it is not sent before. */
  sms(tx: Tx, to: string, text: string, when?: { from?: Date; until?: Date }): Promise<void>
  mail(tx: Tx, to: string, subject: string, text: string, until?: Date): Promise<void>
  /** A letter whose answer goes elsewhere than to its sender. */
  letter(
    tx: Tx,
    of: {
      readonly to: string
      readonly subject: string
      readonly text: string
      readonly replyTo: string | undefined
    },
  ): Promise<void>
  /**
   * A letter that asks to be answered. Its last line says how, and an answer opens a ticket.
   * `about`: what such a ticket is about.
   */
  answerable(
    tx: Tx,
    of: {
      readonly to: string
      readonly subject: string
      readonly text: string
      readonly language: Language
      readonly about?: AskedAbout | 'closed account'
    },
  ): Promise<void>
  /** Refuses with not_found, and with conflict when it cannot be sent again. */
  again(tx: Tx, id: string): Promise<SentAgain>
}
export interface Messages extends Outbox {
  /** How many are not sent and may still be. */
  waiting(): Promise<number>
  /**
   * Deletes the recipients of messages that were sent more than 90 days ago, texts that are no
   * longer retried, and those of letters that are no longer sent again. The recipients of failed
   * messages stay, for an operator.
   */
  dropOld(): Promise<void>
}

/** How long a letter is retried: as long as mail servers usually retry (RFC 5321, 4.5.4.1). */
const letterMs = days(5)
/**
 * Retries of a message that the server rejected: the cause may be a setting that an operator is
 * correcting, but days of retries would look like abuse.
 */
const maxRefusals = 8

/** Limit for the other side's error text, which may quote the letter. */
const longestFailure = 200
const purpose = (id: string): string => `message:${id}`
/** RFC 2606 reserves .invalid: closed accounts have addresses there. */
const isClosed = (address: string): boolean => address.endsWith('.invalid')

/** Stores messages; the running portal sends them. */
export function createOutbox({
  jobs,
  clock,
  secrets,
  ...ways
}: {
  jobs: Pick<Jobs, 'add'>
  clock: Clock
  secrets: Secrets
} & SupportWays): Outbox {
  async function store(
    tx: Tx,
    message: {
      channel: 'sms' | 'mail'
      recipient: string
      subject: string | null
      text: string
      from?: Date | undefined
      until: Date | undefined
      replyTo?: string | undefined
      resentOf?: string
    },
  ): Promise<string> {
    const id = randomUUID()
    await tx
      .insertInto('message')
      .values({
        id,
        channel: message.channel,
        recipient: message.recipient,
        subject: message.subject,
        sealed_text: secrets.seal(purpose(id), message.text),
        reply_to: message.replyTo ?? null,
        resent_of: message.resentOf ?? null,
        created_at: clock.now(),
        expires_at: message.until ?? null,
      })
      .execute()
    // The queue goes by the wall clock, whatever ours says.
    const waitMs = Math.max(0, (message.from?.getTime() ?? 0) - clock.now().getTime())
    await jobs.add(
      tx,
      message.until === undefined ? letterJob : codeJob,
      { messageId: id },
      waitMs === 0 ? {} : { startAfter: new Date(Date.now() + waitMs) },
    )
    return id
  }
  const letter: Outbox['letter'] = async (tx, { to, subject, text, replyTo }) => {
    // A closed account's address is not read by anybody.
    if (!isClosed(to))
      await store(tx, {
        channel: 'mail',
        recipient: to,
        subject,
        text,
        until: undefined,
        replyTo,
      })
  }
  return {
    letter,
    answerable: (tx, { text, language, about, ...of }) =>
      letter(tx, {
        ...of,
        text: `${text}\n${howToAnswer(ways, language, about)}`,
        replyTo: ways.supportMail ?? undefined,
      }),
    async sms(tx, recipient, text, { from, until } = {}) {
      await store(tx, { channel: 'sms', recipient, subject: null, text, from, until })
    },
    mail: async (tx, recipient, subject, text, until) => {
      if (!isClosed(recipient))
        await store(tx, { channel: 'mail', recipient, subject, text, until })
    },
    again: (tx, id) =>
      sendAgain(tx, jobs, id, ({ id: first, kept, reply_to: replyTo, ...row }) =>
        store(tx, {
          channel: row.channel === 'sms' ? 'sms' : 'mail',
          recipient: row.recipient,
          subject: row.subject,
          text: secrets.open(purpose(first), kept),
          until: undefined,
          replyTo: replyTo ?? undefined,
          resentOf: first,
        }),
      ),
  }
}

export function createMessages(
  deps: {
    db: Database
    jobs: Jobs
    clock: Clock
    log: Log
    secrets: Secrets
    sms: SmsDriver
    mailer: MailDriver
  } & SupportWays,
): Messages {
  const { db, jobs, clock, log, secrets } = deps

  /** Ends a message and deletes its text; a letter's text is kept, so that it may be sent again. */
  const ended = async (
    { id, sealed_text: text, expires_at: until }: Selectable<DB['message']>,
    sentAt: Date | null,
  ): Promise<void> =>
    transaction(db, async (tx) => {
      await tx
        .updateTable('message')
        .set({ sealed_text: null, sent_at: sentAt, ...(sentAt && { failure: null }) })
        .where('id', '=', id)
        .execute()
      // A code is a secret until it ends, and worth nothing later.
      if (until === null && text !== null)
        await tx
          .insertInto('message_kept')
          .values({
            message_id: id,
            sealed_text: text,
            kept_until: later(clock.now(), keptTextMs),
          })
          .onConflict((conflict) => conflict.doNothing())
          .execute()
    })

  async function send({ messageId }: { messageId: string }, attempt: Attempt): Promise<void> {
    const message = await db
      .selectFrom('message')
      .selectAll()
      .where('id', '=', messageId)
      .executeTakeFirst()
    if (!message?.sealed_text || message.sent_at) return
    const { id, channel, recipient } = message
    if (message.expires_at !== null && message.expires_at <= clock.now()) {
      await ended(message, null)
      log.warn({ message: id, channel }, 'a code ended before it could be sent')
      return
    }
    // Another worker may have it by now. What has begun ends by the drivers' own limits, which are
    // below the job's: a letter that is cut off may have arrived.
    attempt.signal.throwIfAborted()
    try {
      const text = secrets.open(purpose(id), message.sealed_text)
      // The gateway drops a second send of the same key; a kill between sending and erasing costs
      // at most that.
      if (channel === 'sms') await deps.sms.send({ to: recipient, text, idempotencyKey: id })
      else
        await deps.mailer.send({
          to: recipient,
          subject: message.subject ?? '',
          text,
          idempotencyKey: id,
          replyTo: message.reply_to ?? undefined,
          // The support's own address is that of many matters.
          isOfConversation: message.reply_to !== null && message.reply_to !== deps.supportMail,
        })
    } catch (error) {
      const said = error instanceof DriverFailure ? error.message : 'our own fault, see the log'
      await db
        .updateTable('message')
        .set({ failure: said.slice(0, longestFailure) })
        .where('id', '=', id)
        .execute()
      const refused =
        error instanceof DriverFailure && error.kind === 'rejected' && attempt.number > maxRefusals
      // A letter is tried once however late it is: the portal itself may have been away.
      const late = message.expires_at === null && later(message.created_at, letterMs) <= clock.now()
      if (!refused && !late) throw error
      await ended(message, null)
      log.error({ err: error, message: id, channel }, 'a message is given up')
      return
    }
    await ended(message, clock.now())
  }

  // Separate workers, so that a code does not wait behind the letters of a day without mail. The
  // number of retries is never reached: a code ends by its expiry, a letter by its age.
  const sending = { concurrency: 4, retries: 1000, limitSeconds: 60, run: send }
  jobs.define({ name: codeJob, ...sending })
  jobs.define({ name: letterJob, ...sending, longestDelaySeconds: 1800 })

  return {
    ...createOutbox(deps),
    async waiting() {
      const { n } = await db
        .selectFrom('message')
        .select((eb) => eb.fn.countAll<bigint>().as('n'))
        .where('sealed_text', 'is not', null)
        .executeTakeFirstOrThrow()
      return Number(n)
    },
    async dropOld() {
      const now = clock.now()
      await dropOld(db, clock, 'message')
      await dropOld(db, clock, 'message_kept')
      // The queue has forgotten the job by then.
      const forgotten = later(now, -seconds(keptSeconds))
      await db
        .updateTable('message')
        .set({ sealed_text: null })
        .where('sealed_text', 'is not', null)
        .where((eb) => eb.or([eb('expires_at', '<=', now), eb('created_at', '<', forgotten)]))
        .execute()
    },
  }
}
