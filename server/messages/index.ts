/** Messages to people: stored sealed in the business transaction, sent by a job, erased once sent. */
import { randomUUID } from 'node:crypto'
import { days, later, type Clock } from '../platform/clock.ts'
import type { Database, Tx } from '../platform/db.ts'
import type { Jobs } from '../platform/jobs.ts'
import type { Secrets } from '../platform/secrets.ts'
import type { MailDriver, SmsDriver } from './driver.ts'

export type { MailDriver, SmsDriver }

export interface Messages {
  sms(tx: Tx, to: string, text: string): Promise<void>
  mail(tx: Tx, to: string, subject: string, text: string): Promise<void>
  /** Forgets to whom something was sent more than 90 days ago. What could not be sent stays, for a person to look. */
  dropOld(): Promise<void>
}

const keptMs = days(90)

const job = 'send-message'
const purpose = (id: string): string => `message:${id}`

export function createMessages(deps: {
  db: Database
  jobs: Jobs
  clock: Clock
  secrets: Secrets
  sms: SmsDriver
  mailer: MailDriver
}): Messages {
  const { db, jobs, clock, secrets } = deps

  async function store(
    tx: Tx,
    message: { channel: 'sms' | 'mail'; recipient: string; subject: string | null; text: string },
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
        created_at: clock.now(),
      })
      .execute()
    await jobs.add(tx, job, { messageId: id })
  }

  jobs.define<{ messageId: string }>({
    name: job,
    concurrency: 4,
    limitSeconds: 60,
    async run({ messageId }) {
      const message = await db.selectFrom('message').selectAll().where('id', '=', messageId).executeTakeFirst()
      if (!message?.sealed_text || message.sent_at) return
      const text = secrets.open(purpose(message.id), message.sealed_text)
      // The gateway drops a second send of the same key; a kill between sending and erasing costs at most that.
      if (message.channel === 'sms') await deps.sms.send({ to: message.recipient, text, idempotencyKey: message.id })
      else await deps.mailer.send({ to: message.recipient, subject: message.subject ?? '', text, idempotencyKey: message.id })
      await db.updateTable('message').set({ sent_at: clock.now(), sealed_text: null }).where('id', '=', message.id).execute()
    },
  })

  return {
    sms: (tx, recipient, text) => store(tx, { channel: 'sms', recipient, subject: null, text }),
    mail: (tx, recipient, subject, text) => store(tx, { channel: 'mail', recipient, subject, text }),
    async dropOld() {
      await db.deleteFrom('message').where('sent_at', '<', later(clock.now(), -keptMs)).execute()
    },
  }
}
