// Which headers pass the edge, and which the edge adds.
import { peerHeader } from './peers.ts'
import { headerOf } from './raw-headers.ts'
import type { Marks } from './sink.ts'

const hopByHop = new Set([
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
])
/** Set by the edge alone: a visitor's own value could forge an address or a scheme. */
const own = new Set([
  'host',
  'proxy',
  'expect',
  'forwarded',
  'x-forwarded-for',
  'x-forwarded-host',
  'x-forwarded-port',
  'x-forwarded-proto',
  'x-forwarded-server',
  'x-real-ip',
  peerHeader,
])

/** The prefix of headers between the edge and a site's container only. */
const betweenUs = 'x-portal-'

/** A container's marks for the edge in its response. */
export const marksOf = (raw: readonly string[]): Marks => ({
  isFile: headerOf(raw, `${betweenUs}file`) !== undefined,
  isTagged: headerOf(raw, `${betweenUs}page`) !== undefined,
})

/** Headers that a Connection header names are for one hop only. */
function namedByConnection(connection: string | undefined): ReadonlySet<string> | null {
  if (!connection || /^(?:keep-alive|close|upgrade)$/i.test(connection)) return null
  return new Set(connection.split(',').map((name) => name.trim().toLowerCase()))
}

export interface Visit {
  readonly host: string
  readonly client: string
  readonly proto: 'http' | 'https'
  /** For how many seconds browsers are told to use HTTPS only; undefined: not at all. */
  readonly httpsForSeconds?: number | undefined
  /** The key that identifies this edge to another edge. */
  readonly peerKey?: string | undefined
}

/** A visitor's request headers without those that only the edge may send. */
export function withoutOurs(raw: readonly string[]): readonly string[] {
  const isOurs = (name: string): boolean =>
    name.length > betweenUs.length && name.toLowerCase().startsWith(betweenUs)
  if (!raw.some((name, index) => index % 2 === 0 && isOurs(name))) return raw
  return raw.filter((_one, index) => !isOurs(raw[index - (index % 2)]!))
}

/**
 * Raw request headers for the upstream. `keep`: headers of this hop that go on nevertheless (an
 * upgrade's).
 */
export function toUpstream(
  raw: readonly string[],
  connection: string | undefined,
  visit: Visit,
  keep: readonly string[] = [],
): string[] {
  const named = namedByConnection(connection)
  const out: string[] = ['Host', visit.host]
  const cookies: string[] = []
  for (let index = 0; index < raw.length; index += 2) {
    const name = raw[index]!
    const lower = name.toLowerCase()
    // PHP reads X_Forwarded_For as X-Forwarded-For: a name with an underscore would slip past the
    // list above.
    if (hopByHop.has(lower) || own.has(lower) || named?.has(lower) || lower.includes('_')) continue
    // HTTP/2's pseudo-headers replace the request line.
    if (name.startsWith(':')) continue
    if (lower === 'cookie') cookies.push(raw[index + 1]!)
    else out.push(name, raw[index + 1]!)
  }
  // HTTP/2 sends each of them by itself (RFC 9113, 8.2.3).
  if (cookies.length > 0) out.push('Cookie', cookies.join('; '))
  out.push(
    'X-Forwarded-For',
    visit.client,
    'X-Forwarded-Proto',
    visit.proto,
    'X-Forwarded-Host',
    visit.host,
    ...(visit.peerKey === undefined ? [] : [peerHeader, visit.peerKey]),
    ...keep,
  )
  return out
}

/**
 * Raw response headers for the visitor.
 * @param httpsForSeconds what is said in the place of the site's own Strict-Transport-Security
 */
export function toVisitor(raw: readonly string[], httpsForSeconds?: number): string[] {
  const connection = raw.findIndex(
    (name, index) => index % 2 === 0 && name.toLowerCase() === 'connection',
  )
  const named = namedByConnection(connection < 0 ? undefined : raw[connection + 1])
  const out: string[] = []
  for (let index = 0; index < raw.length; index += 2) {
    const lower = raw[index]!.toLowerCase()
    if (hopByHop.has(lower) || named?.has(lower) || lower.startsWith(betweenUs)) continue
    if (httpsForSeconds !== undefined && lower === 'strict-transport-security') continue
    out.push(raw[index]!, raw[index + 1]!)
  }
  if (httpsForSeconds !== undefined)
    out.push('Strict-Transport-Security', `max-age=${httpsForSeconds}`)
  return out
}
