/**
 * Turns letters of sites into letters that may be sent: the header is read and written anew (RFC
 * 5322), so that it claims nothing that only the portal may claim. Content of a site is hostile.
 */
import addressparser from 'nodemailer/lib/addressparser'
import { domainToASCII } from 'node:url'

/** Why a letter is not sent. The screens have a sentence for each. */
export type LetterFault = 'header_unreadable' | 'line_too_long'

/** A letter whose header was read. */
export interface ReadLetter {
  /** The subject as it is shown, without line breaks. */
  readonly subject: string
  /**
   * The address in From, or in Sender where From has none; null: neither names exactly one address.
   */
  readonly from: { readonly name: string; readonly address: string } | null
  /** The letter's own Message-ID; null where it is missing or invalid. */
  readonly messageId: string | null
  readonly fields: readonly Field[]
  readonly body: Buffer
}
interface Field {
  /** The name in lower case. */
  readonly name: string
  /** The name in its original spelling. */
  readonly spelling: string
  /** The value without line breaks. */
  readonly value: string
}

/** The sender of a letter as the portal decides. */
export interface Sender {
  readonly name: string
  readonly address: string
  /** The address for answers, where the program named another sender; null: there is none. */
  readonly replyTo: string | null
}

const mostHeaderBytes = 65_536
/** RFC 5322, 2.1.1. */
const mostLineBytes = 998
const foldedAt = 76
const subjectShown = 200

/** Fields that only the portal may set, or that tell who passed the letter on. */
const ours = new RegExp(
  `^(?:${[
    'from|sender|reply-to|return-path|bcc|to|cc|subject|date|message-id|mime-version',
    'content-(?:type|transfer-encoding)',
    'received(?:-.*)?|delivered-to|envelope-.*|resent-.*|x-original-.*|errors-to',
    'dkim-.*|domainkey-.*|arc-.*|authentication-results',
  ].join('|')})$`,
)
const isAscii = (text: string): boolean => /^[\x20-\x7e]*$/.test(text)
// eslint-disable-next-line no-control-regex
const withoutControls = (text: string): string => text.replace(/[\x00-\x1f\x7f]+/g, ' ').trim()

/** Decodes encoded words of RFC 2047; invalid ones stay unchanged. */
export function decodeWords(text: string): string {
  return text
    .replace(/(\?=)\s+(=\?)/g, '$1$2')
    .replace(
      /=\?([\w-]{1,40})(?:\*[\w-]*)?\?([bq])\?([^?\s]*)\?=/gi,
      (whole, charset: string, way: string, coded: string) => {
        try {
          const bytes =
            way.toLowerCase() === 'b'
              ? Buffer.from(coded, 'base64')
              : Buffer.from(
                  coded
                    .replaceAll('_', ' ')
                    .replace(/=([0-9a-f]{2})/gi, (_all, hex: string) =>
                      String.fromCharCode(Number.parseInt(hex, 16)),
                    ),
                  'latin1',
                )
          return new TextDecoder(charset).decode(bytes)
        } catch {
          return whole
        }
      },
    )
}

/** Encodes text by RFC 2047, in words short enough for one line each. */
function encodeWords(text: string): string {
  const words: string[] = []
  let part = ''
  for (const char of text) {
    if (Buffer.byteLength(part + char) > 42) {
      words.push(part)
      part = ''
    }
    part += char
  }
  words.push(part)
  return words.map((word) => `=?UTF-8?B?${Buffer.from(word).toString('base64')}?=`).join(' ')
}

/** A name in the form in which it may precede an address. */
function phrase(name: string): string {
  const read = withoutControls(decodeWords(name))
  if (read === '') return ''
  if (!isAscii(read)) return encodeWords(read.slice(0, 200))
  return `"${read.slice(0, 200).replace(/["\\]/g, '')}"`
}

const addressShape = /^[^\s<>()[\]\\,;:"@]{1,64}@[^\s<>()[\]\\,;:"@]{1,253}$/
/** The address with its domain in A-labels and lower case; null where it is not a plain address. */
export function plainAddress(text: string): string | null {
  const at = text.trim()
  const end = at.lastIndexOf('@')
  const domain = domainToASCII(at.slice(end + 1).toLowerCase())
  const address = `${at.slice(0, end)}@${domain}`
  return end > 0 && domain !== '' && isAscii(address) && addressShape.test(address) ? address : null
}
export const domainOfAddress = (address: string): string =>
  address.slice(address.lastIndexOf('@') + 1).toLowerCase()

interface Mailbox {
  readonly name: string
  readonly address: string
}
function mailboxesIn(value: string): Mailbox[] {
  return addressparser(value, { flatten: true }).flatMap((one) => {
    const address = plainAddress(one.address ?? '')
    return address === null ? [] : [{ name: one.name ?? '', address }]
  })
}
const writeMailbox = ({ name, address }: Mailbox): string => {
  const before = phrase(name)
  return before === '' ? address : `${before} <${address}>`
}

/** Folds a field into lines of at most 76 characters, broken at spaces; longer words stay whole. */
function folded(name: string, value: string): string {
  let line = `${name}:`
  const lines: string[] = []
  for (const word of value.split(' ')) {
    if (line.length + word.length + 1 > foldedAt && line.trim() !== `${name}:`) {
      lines.push(line)
      line = ` ${word}`
    } else line += ` ${word}`
  }
  lines.push(line)
  return lines.join('\r\n')
}

function fieldsIn(header: string): Field[] {
  const fields: Field[] = []
  for (const line of header
    .replace(/\r\n|\r|\n/g, '\n')
    .replace(/\n[ \t]+/g, ' ')
    .split('\n')) {
    const [, name, value] = /^([!-9;-~]{1,76}):(.*)$/.exec(line) ?? []
    if (name !== undefined && value !== undefined)
      fields.push({ name: name.toLowerCase(), spelling: name, value: withoutControls(value) })
  }
  return fields
}

/** Reads the header; answers a fault where it cannot be read. */
export function readLetter(raw: Buffer): ReadLetter | { readonly fault: LetterFault } {
  const text = raw.subarray(0, mostHeaderBytes + 4).toString('latin1')
  const [gap] = /\r\n\r\n|\n\n|\r\r/.exec(text) ?? []
  const end = gap === undefined ? -1 : text.indexOf(gap)
  if (gap === undefined || end < 0) return { fault: 'header_unreadable' }
  const fields = fieldsIn(raw.subarray(0, end).toString('utf8'))
  const valueOf = (name: string): string => fields.find((field) => field.name === name)?.value ?? ''
  const [from] = mailboxesIn(valueOf('from'))
  const [sender] = mailboxesIn(valueOf('sender'))
  const messageId = valueOf('message-id')
  return {
    subject: [...withoutControls(decodeWords(valueOf('subject')))].slice(0, subjectShown).join(''),
    from: from ?? sender ?? null,
    messageId: /^<[\w.!#$%&'*+/=?^`{|}~-]{1,120}@[\w.-]{1,120}>$/.test(messageId)
      ? messageId
      : null,
    fields,
    body: raw.subarray(end + gap.length),
  }
}

/** The body with CRLF at the end of each line, and without NUL. */
function linesOf(body: Buffer): Buffer {
  const text = body
    .toString('latin1')
    .replaceAll('\0', '')
    .replace(/\r\n|\r|\n/g, '\r\n')
  return Buffer.from(text.endsWith('\r\n') ? text : `${text}\r\n`, 'latin1')
}
const longestLine = (body: Buffer): number =>
  body
    .toString('latin1')
    .split('\r\n')
    .reduce((most, line) => Math.max(most, line.length), 0)

const base64Lines = (body: Buffer): Buffer =>
  Buffer.from(`${(body.toString('base64').match(/.{1,76}/g) ?? []).join('\r\n')}\r\n`)

/** Writes the letter that is sent: a header of the portal's, and the program's text. */
export function writeLetter(
  letter: ReadLetter,
  of: { readonly sender: Sender; readonly messageId: string; readonly at: Date },
): Buffer | { readonly fault: LetterFault } {
  const first = (name: string): string | undefined =>
    letter.fields.find((field) => field.name === name)?.value
  const lines: string[] = [
    folded('From', writeMailbox(of.sender)),
    `Message-ID: ${of.messageId}`,
    `Date: ${of.at.toUTCString().replace(/GMT$/, '+0000')}`,
  ]
  const replies = mailboxesIn(first('reply-to') ?? '')
  const replyTo = replies.map(writeMailbox)
  if (replyTo.length === 0 && of.sender.replyTo !== null) replyTo.push(of.sender.replyTo)
  if (replyTo.length > 0) lines.push(folded('Reply-To', replyTo.join(', ')))
  for (const [name, shown] of [
    ['to', 'To'],
    ['cc', 'Cc'],
  ] as const) {
    const all = mailboxesIn(first(name) ?? '').map(writeMailbox)
    if (all.length > 0) lines.push(folded(shown, all.join(', ')))
    else if (name === 'to') lines.push('To: undisclosed-recipients:;')
  }
  const subject = first('subject') ?? ''
  lines.push(folded('Subject', isAscii(subject) ? subject : encodeWords(subject)))
  for (const { name, spelling, value } of letter.fields)
    if (!ours.test(name) && isAscii(value) && value !== '') lines.push(folded(spelling, value))

  let body = linesOf(letter.body)
  const type = first('content-type')
  let encoding = (first('content-transfer-encoding') ?? '').toLowerCase()
  if (longestLine(body) > mostLineBytes) {
    if (/^multipart\//i.test(type ?? '')) return { fault: 'line_too_long' }
    if (!['', '7bit', '8bit', 'binary'].includes(encoding)) return { fault: 'line_too_long' }
    body = base64Lines(body)
    encoding = 'base64'
  }
  lines.push('MIME-Version: 1.0')
  lines.push(folded('Content-Type', type && isAscii(type) ? type : 'text/plain; charset=UTF-8'))
  if (/^(?:7bit|8bit|quoted-printable|base64)$/.test(encoding))
    lines.push(`Content-Transfer-Encoding: ${encoding}`)
  // eslint-disable-next-line no-control-regex
  else if (!/^[\x00-\x7f]*$/.test(body.toString('latin1')))
    lines.push('Content-Transfer-Encoding: 8bit')
  if (lines.some((line) => line.split('\r\n').some((part) => part.length > mostLineBytes)))
    return { fault: 'header_unreadable' }
  return Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`), body])
}
