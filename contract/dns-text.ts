/**
 * The text of a TXT record as zone files and the APIs of name servers write it (RFC 1035, 3.3.14
 * and 5.1).
 */

const maxStringBytes = 255

/** Quoted strings of at most 255 bytes each; bytes that are not printable ASCII are escaped. */
export function quoteText(text: string): string {
  const bytes = new TextEncoder().encode(text)
  const strings: string[] = []
  for (let from = 0; from < bytes.length || from === 0; from += maxStringBytes) {
    let string = ''
    for (const byte of bytes.subarray(from, from + maxStringBytes)) {
      const char = String.fromCharCode(byte)
      if (byte < 0x20 || byte > 0x7e) string += `\\${String(byte).padStart(3, '0')}`
      else string += char === '"' || char === '\\' ? `\\${char}` : char
    }
    strings.push(`"${string}"`)
  }
  return strings.join(' ')
}

/**
 * The value of a text that consists only of quoted strings, joined. Undefined for any other text,
 * which is taken literally. Null where an escape is invalid, or the bytes are no UTF-8. A string of
 * more than 255 bytes is accepted: it is split when it is served.
 */
export function readQuoted(typed: string): string | null | undefined {
  const chars = [...typed.trim()]
  const encoder = new TextEncoder()
  const bytes: number[] = []
  let isWrong = false
  let at = 0
  while (at < chars.length) {
    if (chars[at++] !== '"') return undefined
    for (; chars[at] !== '"'; at++) {
      let char = chars[at]
      if (char === '\\') {
        char = chars[++at]
        const code = chars.slice(at, at + 3).join('')
        if (/^\d{3}$/.test(code)) {
          isWrong ||= Number(code) > 255
          bytes.push(Number(code))
          at += 2
          continue
        }
        isWrong ||= char !== undefined && /\d/.test(char)
      }
      if (char === undefined) return undefined
      bytes.push(...encoder.encode(char))
    }
    for (at++; /\s/.test(chars[at] ?? '');) at++
  }
  if (isWrong) return null
  try {
    return chars.length === 0
      ? undefined
      : new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(Uint8Array.from(bytes))
  } catch {
    return null
  }
}

/**
 * How to type this text so that it is read back unchanged: it is quoted where it would otherwise be
 * read as quoted strings.
 */
export const asTyped = (text: string): string =>
  text === '' || readQuoted(text) !== undefined ? quoteText(text) : text
