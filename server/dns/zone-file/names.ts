/**
 * Names and strings of a master file: from their notation to bytes, and to the one spelling that
 * the portal uses.
 */
import { domainToASCII } from 'node:url'
import { Fault, faults } from './faults.ts'

/**
 * The bytes of a word or a quoted string.
 * @throws Fault on an invalid escape.
 */
export function unescapeBytes(text: string): Buffer {
  if (!text.includes('\\')) return Buffer.from(text, 'utf8')
  const parts: Buffer[] = []
  for (const [part] of text.matchAll(/[^\\]+|\\[0-9]{3}|\\[^0-9]|\\/gsu)) {
    if (!part.startsWith('\\')) parts.push(Buffer.from(part, 'utf8'))
    else if (part.length === 1) throw new Fault(faults.escape(text))
    else if (/^\\\d/.test(part)) {
      const byte = Number(part.slice(1))
      if (byte > 255) throw new Fault(faults.escape(text))
      parts.push(Buffer.of(byte))
    } else parts.push(Buffer.from(part.slice(1), 'utf8'))
  }
  return Buffer.concat(parts)
}

const meansSomething = new Set(['.', '\\', '"', ';', '(', ')', '@', '$'])

/** One label in lower case, with the escapes that a master file needs. */
function labelText(bytes: Uint8Array): string {
  let text = ''
  for (const byte of bytes) {
    const char = String.fromCharCode(byte)
    if (byte <= 0x20 || byte >= 0x7f) text += `\\${String(byte).padStart(3, '0')}`
    else text += meansSomething.has(char) ? `\\${char}` : char.toLowerCase()
  }
  return text
}

/** The wire length of a name: a length byte per label, and the root. */
const wireLength = (name: string): number =>
  name === '' ? 1 : name.replace(/\\\d{3}|\\./g, 'x').length + 2

/**
 * Makes a name of the file absolute: lower case, no trailing dot (the root is ''), non-ASCII
 * letters as A-labels, other bytes escaped.
 * @throws Fault for an invalid name (RFC 1035, 2.3.4: a label has at most 63 bytes, a name 255).
 */
export function absoluteName(written: string, origin: string): string {
  if (written === '@') return origin
  if (written === '.') return ''
  // 255 bytes, each written as \\DDD
  if (written.length > 1020) throw new Fault(faults.longName(written))
  // every second part is an escape
  const parts = written.split(/(\\[0-9]{3}|\\.)/su)
  const labels: string[] = ['']
  parts.forEach((part, index) => {
    const pieces = index % 2 === 1 ? [part] : part.split('.')
    pieces.forEach((piece, at) => {
      if (at > 0) labels.push('')
      labels[labels.length - 1] += piece
    })
  })
  const isAbsolute = labels.at(-1) === ''
  if (isAbsolute) labels.pop()
  const spelled = labels.map((label) => {
    if (label === '') throw new Fault(faults.emptyLabel(written))
    // oxlint-disable-next-line no-control-regex -- all that is not ASCII
    const ascii = /[^\x00-\x7f]/.test(label) && !label.includes('\\') ? domainToASCII(label) : label
    if (ascii === '') throw new Fault(faults.notAName(written))
    const bytes = unescapeBytes(ascii)
    if (bytes.length > 63) throw new Fault(faults.longLabel(written))
    return labelText(bytes)
  })
  const name = [...spelled, ...(isAbsolute || origin === '' ? [] : [origin])].join('.')
  if (wireLength(name) > 255) throw new Fault(faults.longName(written))
  return name
}

/**
 * The part before the origin ('' for the origin itself). Undefined: the name is outside of it. Both
 * must be in the one spelling.
 */
export function relativeName(name: string, origin: string): string | undefined {
  if (name === origin) return ''
  if (origin === '') return name
  if (!name.endsWith(`.${origin}`)) return undefined
  const labels = name.slice(0, -origin.length - 1)
  // an escaped dot belongs to a label
  return /(?:^|[^\\])(?:\\\\)*\\$/.test(labels) ? undefined : labels
}
