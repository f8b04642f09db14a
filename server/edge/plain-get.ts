/**
 * Parses a request that is unambiguous: one complete GET without a body, with ordinary lines (RFC
 * 9112). node:http judges all others, from their first byte.
 */
import type { IncomingHttpHeaders } from 'node:http'

export interface PlainGet {
  /** Origin form, with its query. */
  readonly path: string
  /** By lower-case names; no name occurs twice. */
  readonly headers: IncomingHttpHeaders & { readonly host: string }
}

const mostBytes = 8_192
const requestLine = /^GET (\/[\x21-\x7e]*) HTTP\/1\.1$/
const headerLine = /^([A-Za-z0-9-]+):[ \t]*([\t\x20-\x7e]*)$/
/** With one of these headers, a request or its connection needs more than the path. */
const refused = new Set([
  'authorization',
  'connection',
  'content-length',
  'expect',
  'http2-settings',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
])

/** Null for any other request, a part of one, and more than one. */
export function readPlainGet(bytes: Buffer): PlainGet | null {
  const end = bytes.length - 4
  // CR LF CR LF
  if (end < 0 || bytes.length > mostBytes || bytes.readUInt32BE(end) !== 0x0d0a0d0a) return null
  // An empty line before the end has no colon, so a second request is seen below.
  const [first = '', ...lines] = bytes.toString('latin1', 0, end).split('\r\n')
  const path = requestLine.exec(first)?.[1]
  if (path === undefined) return null
  const headers: Record<string, string> = Object.create(null) as Record<string, string>
  for (const line of lines) {
    const [, name = '', value = ''] = headerLine.exec(line) ?? []
    const lower = name.toLowerCase()
    if (name === '' || lower in headers) return null
    if (refused.has(lower) && !(lower === 'connection' && /^keep-alive$/i.test(value))) return null
    headers[lower] = value.trimEnd()
  }
  return headers['host'] ? { path, headers: headers as PlainGet['headers'] } : null
}
