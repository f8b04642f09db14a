/** The text of a TXT record as zone files and the APIs of name servers write it (RFC 1035, 3.3.14 and 5.1). */

const maxStringBytes = 255

/** Strings in quotation marks, each at most 255 bytes; what is not printable ASCII is escaped. */
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
