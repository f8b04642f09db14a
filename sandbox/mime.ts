/** The parts of a raw mail that the inbox shows. */
import PostalMime from 'postal-mime'

export interface Mail {
  readonly subject: string
  readonly text: string
  readonly messageId: string
  /** The address for answers, if it is not the sender. */
  readonly replyTo: string | null
}

/** Never throws: parts that cannot be read are empty. */
export async function readMail(raw: Buffer): Promise<Mail> {
  const mail = await PostalMime.parse(raw).catch(() => undefined)
  return {
    subject: mail?.subject ?? '',
    text: (mail?.text ?? '').replaceAll('\r\n', '\n').trimEnd(),
    messageId: mail?.messageId ?? '',
    replyTo: mail?.replyTo?.[0]?.address ?? null,
  }
}
