/**
 * As much of RFC 2045 and 2047 as nodemailer writes: headers, one text part (alone or inside
 * multiparts), three encodings, UTF-8.
 */
export interface Mail {
  readonly subject: string
  readonly text: string
  readonly messageId: string
}

type Headers = ReadonlyMap<string, string>

/** A quoted-printable text in bytes. `inHeader`: RFC 2047's Q, where '_' is a space. */
function fromQuoted(text: string, inHeader: boolean): Buffer {
  const plain = inHeader ? text.replaceAll('_', ' ') : text.replace(/=[ \t]*\r?\n/g, '')
  return Buffer.from(
    plain.replace(/=([0-9A-Fa-f]{2})/g, (_all, hex: string) =>
      String.fromCharCode(Number.parseInt(hex, 16)),
    ),
    'latin1',
  )
}

/**
 * A header's text: encoded words become letters; white space between two of them is not part of it,
 * and a letter may be split over two.
 */
export function headerText(value: string): string {
  return value
    .replace(/(?:=\?utf-8\?[bq]\?[^?]*\?=\s*)+/gi, (run) => {
      const words = [...run.matchAll(/=\?utf-8\?([bq])\?([^?]*)\?=/gi)]
      const bytes = words.map(([, kind = '', text = '']) =>
        kind.toLowerCase() === 'b' ? Buffer.from(text, 'base64') : fromQuoted(text, true),
      )
      return Buffer.concat(bytes).toString('utf8') + (/\s$/.test(run) ? ' ' : '')
    })
    .trim()
}

/** Splits at the first empty line; folded headers are unfolded. */
function split(raw: string): { headers: Headers; body: string } {
  const end = /\r?\n\r?\n/.exec(raw)
  const head = end === null ? raw : raw.slice(0, end.index)
  const headers = new Map<string, string>()
  for (const line of head.replace(/\r?\n[ \t]+/g, ' ').split(/\r?\n/)) {
    const colon = line.indexOf(':')
    if (colon > 0)
      headers.set(line.slice(0, colon).trim().toLowerCase(), line.slice(colon + 1).trim())
  }
  return { headers, body: end === null ? '' : raw.slice(end.index + end[0].length) }
}

/** The first text/plain part, or undefined. */
function textOf(headers: Headers, body: string, depth = 0): string | undefined {
  const type = headers.get('content-type') ?? 'text/plain'
  const boundary = /^multipart\/.*boundary="?([^";]+)"?/i.exec(type)?.[1]
  if (boundary !== undefined && depth < 5) {
    for (const part of body.split(`--${boundary}`).slice(1)) {
      if (part.startsWith('--')) break
      const inner = split(part.replace(/^\r?\n/, '').replace(/\r?\n$/, ''))
      const text = textOf(inner.headers, inner.body, depth + 1)
      if (text !== undefined) return text
    }
    return undefined
  }
  if (!/^text\/plain\b/i.test(type)) return undefined
  const encoding = headers.get('content-transfer-encoding')?.toLowerCase()
  let bytes
  if (encoding === 'base64') bytes = Buffer.from(body, 'base64')
  else if (encoding === 'quoted-printable') bytes = fromQuoted(body, false)
  else bytes = Buffer.from(body, 'latin1')

  return bytes.toString('utf8').replaceAll('\r\n', '\n').trimEnd()
}

/** Reads a raw message. It never throws: what it cannot read is empty. */
export function readMail(raw: Buffer): Mail {
  const { headers, body } = split(raw.toString('latin1'))
  return {
    subject: headerText(Buffer.from(headers.get('subject') ?? '', 'latin1').toString('utf8')),
    text: textOf(headers, body) ?? '',
    messageId: headers.get('message-id') ?? '',
  }
}
