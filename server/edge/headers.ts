// What passes the edge and what it says itself.

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
/** Said by the edge alone: a visitor's own would forge an address or a scheme. */
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
])

/** Headers that a Connection header names are for one hop only. */
function namedByConnection(connection: string | undefined): ReadonlySet<string> | null {
  if (!connection || /^(?:keep-alive|close|upgrade)$/i.test(connection)) return null
  return new Set(connection.split(',').map((name) => name.trim().toLowerCase()))
}

export interface Visit {
  readonly host: string
  readonly client: string
  readonly proto: 'http' | 'https'
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
  for (let index = 0; index < raw.length; index += 2) {
    const name = raw[index]!
    const lower = name.toLowerCase()
    // PHP reads X_Forwarded_For as X-Forwarded-For: a name with an underscore would slip past the
    // list above.
    if (hopByHop.has(lower) || own.has(lower) || named?.has(lower) || lower.includes('_')) continue
    out.push(name, raw[index + 1]!)
  }
  out.push(
    'X-Forwarded-For',
    visit.client,
    'X-Forwarded-Proto',
    visit.proto,
    'X-Forwarded-Host',
    visit.host,
    ...keep,
  )
  return out
}

/** Raw response headers for the visitor. */
export function toVisitor(raw: readonly string[]): string[] {
  const connection = raw.findIndex(
    (name, index) => index % 2 === 0 && name.toLowerCase() === 'connection',
  )
  const named = namedByConnection(connection < 0 ? undefined : raw[connection + 1])
  const out: string[] = []
  for (let index = 0; index < raw.length; index += 2) {
    const lower = raw[index]!.toLowerCase()
    if (hopByHop.has(lower) || named?.has(lower)) continue
    out.push(raw[index]!, raw[index + 1]!)
  }
  return out
}
