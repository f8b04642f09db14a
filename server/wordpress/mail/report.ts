/**
 * Reads a mail server's report about a letter that it could not deliver (RFC 3464). Anybody may
 * send one: it is hostile. Which letter it is about is taken only from the envelope, which is
 * signed.
 */
import PostalMime from 'postal-mime'

export interface DeliveryReport {
  /** False: delivery was retried until the time limit. */
  readonly isPermanent: boolean
  /** Status code of RFC 3463, such as 5.1.1. */
  readonly status: string
  /** Status and reason as the mail server wrote them; printable, and hostile. */
  readonly said: string
}

const saidShown = 300
/** The second type is for addresses that are not ASCII (RFC 6533). */
const statusTypes: ReadonlySet<string> = new Set([
  'message/delivery-status',
  'message/global-delivery-status',
])

/** The fields of one group, by their names in lower case; folded lines are joined. */
function fieldsOf(group: string): Map<string, string> {
  const fields = new Map<string, string>()
  for (const line of group.replace(/\n[ \t]+/g, ' ').split('\n')) {
    const [, name, value] = /^([A-Za-z-]{1,60}):(.*)$/.exec(line) ?? []
    if (name !== undefined && value !== undefined) fields.set(name.toLowerCase(), value.trim())
  }
  return fields
}

const printable = (text: string): string => text.replace(/[^\x21-\x7e]+/g, ' ').trim()

/**
 * What the part message/delivery-status reports about the one recipient that a letter of a site
 * has. Undefined where it reports no failure: a late letter is still under way.
 */
export function readDeliveryStatus(text: string): DeliveryReport | undefined {
  const [, ...recipients] = text
    .replace(/\r\n?/g, '\n')
    .split(/\n[ \t]*\n/)
    .map(fieldsOf)
  const failed = recipients.find((fields) => fields.get('action')?.toLowerCase() === 'failed')
  if (!failed) return undefined
  const status = /^[45]\.\d{1,3}\.\d{1,3}/.exec(failed.get('status') ?? '')?.[0] ?? '4.0.0'
  // `smtp; 550 5.1.1 …`: the type in front is of no use to a customer.
  const reason = printable((failed.get('diagnostic-code') ?? '').replace(/^[\w.-]+\s*;/, ''))
  const said = reason.includes(status) ? reason : `${status} ${reason}`.trim()
  return { isPermanent: status.startsWith('5'), status, said: said.slice(0, saidShown) }
}

/**
 * The failure that a letter reports; undefined where it is not such a report. `raw` may be cut off
 * at its end.
 */
export async function readReport(raw: Buffer): Promise<DeliveryReport | undefined> {
  const letter = await PostalMime.parse(raw, {
    attachmentEncoding: 'utf8',
    maxNestingDepth: 8,
    maxHeadersSize: 65_536,
  }).catch(() => undefined)
  const type = letter?.headers.find(({ key }) => key === 'content-type')?.value ?? ''
  if (!letter || !/^multipart\/report\b/i.test(type)) return undefined
  const part = letter.attachments.find(({ mimeType }) => statusTypes.has(mimeType))
  return typeof part?.content === 'string' ? readDeliveryStatus(part.content) : undefined
}
