/** A letter that is sent again: a row of its own, so that its gateway takes it for another one. */
import { days } from '../platform/clock.ts'
import { isUuid, type Tx } from '../platform/db.ts'
import { Refusal } from '../platform/errors.ts'
import { startNow } from '../platform/job-inspection.ts'
import type { Jobs } from '../platform/jobs.ts'

export const letterJob = 'send-message'
export const codeJob = 'send-code'

/** How long a letter may be sent again. */
export const keptTextMs = days(7)

/** `waiting`: it had not been sent yet and is tried now. */
export interface SentAgain {
  readonly state: 'again' | 'waiting'
  /** The new one's id, or its own where it waits still. */
  readonly id: string
  readonly to: string
  readonly channel: string
}

interface KeptLetter {
  readonly id: string
  readonly channel: string
  readonly recipient: string
  readonly subject: string | null
  readonly reply_to: string | null
  /** Sealed. */
  readonly kept: Buffer
}

/** The row is locked, so that of two presses at once the second sees the first one's result. */
export async function sendAgain(
  tx: Tx,
  jobs: Pick<Jobs, 'add'>,
  id: string,
  store: (letter: KeptLetter) => Promise<string>,
): Promise<SentAgain> {
  const row = isUuid(id)
    ? await tx.selectFrom('message').selectAll().where('id', '=', id).forUpdate().executeTakeFirst()
    : undefined
  if (!row) throw new Refusal('not_found')
  const { recipient: to, channel } = row
  if (row.sealed_text !== null && row.sent_at === null) {
    const job = row.expires_at === null ? letterJob : codeJob
    const payload = { key: 'messageId', value: id }
    if ((await startNow(tx, job, payload)) === 'none') await jobs.add(tx, job, { messageId: id })
    return { state: 'waiting', id, to, channel }
  }
  const kept = await tx
    .selectFrom('message_kept')
    .select('sealed_text')
    .where('message_id', '=', id)
    .executeTakeFirst()
  if (!kept)
    throw new Refusal('conflict', {
      fields: {
        letter: {
          en: 'Its text is not kept any more: that of a letter is for seven days, a code never is.',
          vi: 'Nội dung không còn được lưu: thư được giữ bảy ngày, mã xác nhận thì không bao giờ.',
        },
      },
    })
  const waits = await tx
    .selectFrom('message')
    .select('id')
    .where('recipient', '=', to)
    .where('resent_of', '=', id)
    .where('sealed_text', 'is not', null)
    .where('sent_at', 'is', null)
    .executeTakeFirst()
  if (waits)
    throw new Refusal('conflict', {
      fields: {
        letter: {
          en: 'It is being sent again already.',
          vi: 'Thư này đang được gửi lại.',
        },
      },
    })
  return { state: 'again', id: await store({ ...row, kept: kept.sealed_text }), to, channel }
}
