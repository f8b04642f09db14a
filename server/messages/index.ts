/**
 * Messages to customers: encrypted and stored in the business transaction, sent by a job, deleted
 * once sent. While the SMS or mail server is unavailable they are retried: a one-time code until it
 * expires, because a late code is useless, and any other message, a letter, for days.
 */
import { randomUUID } from 'node:crypto'
import { deleteInBatches } from '../platform/batches.ts'
import { days, later, seconds, type Clock } from '../platform/clock.ts'
import type { Database, Tx } from '../platform/db.ts'
import { DriverFailure } from '../platform/errors.ts'
import { keptSeconds, type Attempt, type Jobs } from '../platform/jobs.ts'
import type { Log } from '../platform/log.ts'
import type { Secrets } from '../platform/secrets.ts'
import type { MailDriver, SignKey, SmsDriver } from './driver.ts'

export { forgetLetters, lettersTo } from './desk.ts'
export type { MailDriver, SignKey, SmsDriver }

export interface Outbox {
  /** `until`: when it is worth nothing any more and is not sent; `from`: it is not sent before. */
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
}
export interface Messages extends Outbox {
  /** How many are not sent and may still be. */
  waiting(): Promise<number>
  /**
   * Deletes the recipients of messages that were sent more than 90 days ago, and texts that are no
   * longer retried. The recipients of failed messages stay, for an operator.
   */
  dropOld(): Promise<void>
}

const keptMs = days(90)
/** How long a letter is tried: as long as mail servers keep trying (RFC 5321, 4.5.4.1). */
const letterMs = days(5)
/**
 * Retries of a message that the server rejected: the cause may be a setting that an operator is
 * correcting, but days of retries would look like abuse.
 */
const maxRefusals = 8

/** Each has its workers, so that a code does not wait behind the letters of a day without mail. */
const letterJob = 'send-message'
const codeJob = 'send-code'
const purpose = (id: string): string => `message:${id}`
/** RFC 2606 reserves .invalid: closed accounts have addresses there. */
const isClosed = (address: string): boolean => address.endsWith('.invalid')

/** Where messages are put; the portal that runs sends them. */
export function createOutbox({
  jobs,
  clock,
  secrets,
}: {
  jobs: Pick<Jobs, 'add'>
  clock: Clock
  secrets: Secrets
}): Outbox {
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
    },
  ): Promise<void> {
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
  }
  return {
    sms: (tx, recipient, text, { from, until } = {}) =>
      store(tx, { channel: 'sms', recipient, subject: null, text, from, until }),
    mail: async (tx, recipient, subject, text, until) => {
      // Nobody reads what is sent to a closed account.
      if (!isClosed(recipient))
        await store(tx, { channel: 'mail', recipient, subject, text, until })
    },
    letter: async (tx, { to, subject, text, replyTo }) => {
      if (!isClosed(to))
        await store(tx, {
          channel: 'mail',
          recipient: to,
          subject,
          text,
          until: undefined,
          replyTo,
        })
    },
  }
}

export function createMessages(deps: {
  db: Database
  jobs: Jobs
  clock: Clock
  log: Log
  secrets: Secrets
  sms: SmsDriver
  mailer: MailDriver
}): Messages {
  const { db, jobs, clock, log, secrets } = deps

  const erase = (id: string) =>
    db.updateTable('message').set({ sealed_text: null }).where('id', '=', id).execute()

  async function send({ messageId }: { messageId: string }, attempt: Attempt): Promise<void> {
    const message = await db
      .selectFrom('message')
      .selectAll()
      .where('id', '=', messageId)
      .executeTakeFirst()
    if (!message?.sealed_text || message.sent_at) return
    const { id, channel, recipient } = message
    if (message.expires_at !== null && message.expires_at <= clock.now()) {
      await erase(id)
      log.warn({ message: id, channel }, 'a code ended before it could be sent')
      return
    }
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
        })
    } catch (error) {
      const refused =
        error instanceof DriverFailure && error.kind === 'rejected' && attempt.number > maxRefusals
      // A letter is tried once however late it is: the portal itself may have been away.
      const late = message.expires_at === null && later(message.created_at, letterMs) <= clock.now()
      if (!refused && !late) throw error
      await erase(id)
      log.error({ err: error, message: id, channel }, 'a message is given up')
      return
    }
    await db
      .updateTable('message')
      .set({ sent_at: clock.now(), sealed_text: null })
      .where('id', '=', id)
      .execute()
  }

  // Neither is tried that often: the one ends by its code, the other by its age.
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
      await deleteInBatches(db, 'message', 'sent_at', later(now, -keptMs))
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
