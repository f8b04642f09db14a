// Letters from PHP, stored as files in a folder that PHP cannot see. The portal takes them from
// there. A file holds one line of JSON, the envelope, and after it the letter (RFC 5322).
import { randomBytes } from 'node:crypto'
import fs from 'node:fs'
import path from 'node:path'

const { O_WRONLY, O_CREAT, O_EXCL, O_SYNC } = fs.constants
/** Most letters, and bytes, that may wait until the portal takes them. */
const mostWaiting = 100
const mostWaitingBytes = 100 * 1_048_576
/** Bytes of one letter, with its header. */
export const mostLetterBytes = 10 * 1_048_576
export const mostRecipients = 50
/** Bytes that must be free on the machine's disk. */
const leastFreeBytes = 512 * 1_048_576

/** An address that is safe in an SMTP command; the portal checks its meaning. */
// oxlint-disable-next-line no-control-regex
const address = /^[^\0-\x20\x7f<>()[\]\\,;:"@]{1,64}@[^\0-\x20\x7f<>()[\]\\,;:"@]{1,253}$/

/** The addresses of a header's value, or of the first argument of mail(). */
export function addressesOf(value) {
  const found = []
  let one = ''
  let quoted = false
  let depth = 0
  const end = () => {
    const inBrackets = /<([^<>]*)>\s*$/.exec(one)?.[1]
    const plain = (inBrackets ?? one).trim()
    if (plain !== '') found.push(plain)
    one = ''
  }
  for (let at = 0; at < value.length; at++) {
    const sign = value[at]
    if (quoted || depth > 0) {
      if (sign === '\\') at++
      else if (quoted && sign === '"') quoted = false
      else if (depth > 0 && sign === '(') depth++
      else if (depth > 0 && sign === ')') depth--
      continue
    }
    if (sign === '"') quoted = true
    else if (sign === '(') depth = 1
    else if (sign === ',' || sign === ';') end()
    // The name of a group, such as `undisclosed-recipients:;`, is dropped.
    else if (sign === ':') one = ''
    else one += sign
  }
  end()
  return found
}

/** The header's lines, with folded lines joined. */
const linesOf = (header) => header.replace(/\r\n[ \t]+/g, ' ').split('\r\n')

const oneLine = (text) => String(text ?? '').replace(/[\r\n\0]+/g, ' ')
const withCrlf = (text) => text.replace(/\r\n|\r|\n/g, '\r\n')

/** The sender in mail()'s last argument, given by `-f`; null: none. */
const senderOf = (parameters) => {
  const [, given] = /(?:^|\s)-f\s*['"]?([^\s'"]+)/.exec(parameters) ?? []
  return given !== undefined && address.test(given) ? given : null
}

export class MailSpool {
  #dir
  #log
  #onLetter
  isOn

  /**
   * @param {{dir?: string, isOn?: boolean, log: (text: string) => void, onLetter: () => void}}
   * parts `onLetter`: called when a letter was stored
   */
  constructor({ dir, isOn, log, onLetter }) {
    this.#dir = dir
    this.#log = log
    this.#onLetter = onLetter
    this.isOn = isOn === true && dir !== undefined
  }

  /**
   * As PHP's mail(): `body` in Base64.
   * @param {{to: string, subject: string, headers: string, parameters: string, body: string}} mail
   * @returns {boolean} whether the portal will have it
   */
  take(mail) {
    const fault = this.#faultOf(mail)
    if (fault !== null) this.#log(`mail() was refused: ${fault}`)
    return fault === null
  }

  #faultOf({ to, subject, headers, parameters, body }) {
    if (!this.isOn) return 'mail is switched off for this server'
    const given = withCrlf(String(headers ?? '')).replace(/^(?:\r\n)+|[\r\n\s]+$/g, '')
    // Text after an empty line would become part of the body.
    if (/\r\n\r\n/.test(given) || given.includes('\0')) return 'its header has an empty line'
    const more = linesOf(given)
    const listed = more.flatMap((line) => /^(?:cc|bcc)\s*:(.*)$/i.exec(line)?.[1] ?? [])
    const recipients = [...new Set([oneLine(to), ...listed].flatMap((value) => addressesOf(value)))]
    const wrong = recipients.find((one) => !address.test(one))
    if (wrong !== undefined) return `${wrong.slice(0, 100)} is no address`
    if (recipients.length === 0) return 'it has no recipient'
    if (recipients.length > mostRecipients) return `it has more than ${mostRecipients} recipients`
    const envelope = { from: senderOf(String(parameters ?? '')), to: recipients }
    const letter = Buffer.concat([
      Buffer.from(`${JSON.stringify(envelope)}\n`),
      Buffer.from(`To: ${oneLine(to)}\r\nSubject: ${oneLine(subject)}\r\n`),
      Buffer.from(given === '' ? '' : `${given}\r\n`),
      Buffer.from('\r\n'),
      Buffer.from(String(body ?? ''), 'base64'),
    ])
    if (letter.length > mostLetterBytes)
      return `it is larger than ${mostLetterBytes / 1_048_576} MB`
    return this.#write(letter)
  }

  #write(letter) {
    const names = fs.readdirSync(this.#dir)
    if (names.length >= mostWaiting) return `${mostWaiting} letters wait to be taken already`
    const waiting = names.reduce(
      (sum, name) =>
        sum + (fs.statSync(path.join(this.#dir, name), { throwIfNoEntry: false })?.size ?? 0),
      letter.length,
    )
    if (waiting > mostWaitingBytes) return 'too many large letters wait to be taken'
    const { bavail, bsize } = fs.statfsSync(this.#dir)
    if (bavail * bsize < leastFreeBytes) return 'the disk of the machine is full'
    // Names sort in the order of sending.
    const name = `${Date.now().toString(36).padStart(9, '0')}-${randomBytes(12).toString('hex')}`
    const scratch = path.join(this.#dir, `${name}.new`)
    // O_SYNC, because Node's permission model has no fsync.
    const file = fs.openSync(scratch, O_WRONLY | O_CREAT | O_EXCL | O_SYNC, 0o600)
    try {
      fs.writeFileSync(file, letter)
    } finally {
      fs.closeSync(file)
    }
    fs.renameSync(scratch, path.join(this.#dir, `${name}.eml`))
    this.#onLetter()
    return null
  }
}
