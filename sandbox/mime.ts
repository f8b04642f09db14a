/** What the inbox shows of a raw mail. */
import PostalMime from 'postal-mime'

export interface Mail {
  readonly subject: string
  readonly text: string
  readonly messageId: string
  /** Where an answer goes, if not to its sender. */
  readonly replyTo: string | null
}

/** It never throws: what cannot be read is empty. */
export async function readMail(raw: Buffer): Promise<Mail> {
  const mail = await PostalMime.parse(raw).catch(() => undefined)
  return {
    subject: mail?.subject ?? '',
    text: (mail?.text ?? '').replaceAll('\r\n', '\n').trimEnd(),
    messageId: mail?.messageId ?? '',
    replyTo: mail?.replyTo?.[0]?.address ?? null,
  }
}
