/**
 * Reads what a mail server says about a letter that it could not deliver (RFC 3464). A report comes
 * from anywhere: it is hostile, and what it says of its letter is believed no further than the
 * envelope, which is signed.
 */
import PostalMime from 'postal-mime'

export interface DeliveryReport {
  /** False: it was tried in vain until its time was over. */
  readonly isPermanent: boolean
  /** Of RFC 3463, such as 5.1.1. */
  readonly status: string
  /** Status and reason; printable, and hostile. */
  readonly said: string
}

const saidShown = 300
/** The second one where addresses are not ASCII (RFC 6533). */
const statusTypes: ReadonlySet<string> = new Set([
  'message/delivery-status',
  'message/global-delivery-status',
])

/** The fields of one group, by their names in small letters; folded lines are one. */
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
 * What the part message/delivery-status says of the one recipient that a letter of a site has.
 * Undefined for what says of nobody that delivery failed: one that is late is still under way.
 */
export function readDeliveryStatus(text: string): DeliveryReport | undefined {
  const [, ...recipients] = text
    .replace(/\r\n?/g, '\n')
    .split(/\n[ \t]*\n/)
    .map(fieldsOf)
  const failed = recipients.find((fields) => fields.get('action')?.toLowerCase() === 'failed')
  if (!failed) return undefined
  const status = /^[45]\.\d{1,3}\.\d{1,3}/.exec(failed.get('status') ?? '')?.[0] ?? '4.0.0'
  // `smtp; 550 5.1.1 …`: the type says nothing to a customer.
  const reason = printable((failed.get('diagnostic-code') ?? '').replace(/^[\w.-]+\s*;/, ''))
  const said = reason.includes(status) ? reason : `${status} ${reason}`.trim()
  return { isPermanent: status.startsWith('5'), status, said: said.slice(0, saidShown) }
}

/** Undefined for what is no report of a failure. `raw` may have been cut off at its end. */
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
