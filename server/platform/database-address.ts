/**
 * Parses the address of a database. It is a URL of libpq, which may name several hosts of which one
 * takes writes (a primary and its replicas): `postgres://user:pw@a:5432,b:5432/portal`, or
 * `?host=a,b`. `pg` parses addresses of one host only. Source: PostgreSQL's manual, 32.1.1.3
 * "Specifying Multiple Hosts" and 32.19 "SSL Support".
 */

export interface DatabaseHost {
  /** A name, an IP address, or the folder of a Unix socket. */
  readonly host: string
  readonly port: number
}
export interface DatabaseAddress {
  /** With several hosts we use the one that takes writes. */
  readonly hosts: readonly DatabaseHost[]
  /** The address with the first host alone, as `pg` reads it. */
  readonly connectionString: string
}

const defaultPort = 5432
const parts = /^(postgres(?:ql)?:\/\/)(?:([^/?#]*)@)?([^/?#]*)(.*)$/s
/** Parameters that only libpq knows. We drop them: we always want the host that takes writes. */
const ofLibpq = ['target_session_attrs', 'load_balance_hosts']
/** Modes that `pg` treats as verify-full; it also warns on stderr that this may change. */
const verifying = new Set(['prefer', 'require', 'verify-ca'])

const listed = (text: string): string[] => text.split(',').map((one) => one.trim())

function hostOf(text: string): { host: string; port: string } {
  const [, host = '', port = ''] = /^(\[[^\]]*\]|[^:]*)(?::(\d*))?$/.exec(text) ?? []
  return { host: decodeURIComponent(host.replace(/^\[|\]$/g, '')), port }
}

function hostsOf(authority: string, params: URLSearchParams): DatabaseHost[] {
  const [named, ports] = [params.get('host'), params.get('port')]
  const found = listed(authority).map(hostOf)
  const hosts = named === null ? found.map(({ host }) => host) : listed(named)
  const given = ports === null ? found.map(({ port }) => port) : listed(ports)
  return hosts.map((host, at) => ({
    host,
    // A single port applies to every host.
    port: Number((given.length === 1 ? given[0] : given[at]) || defaultPort),
  }))
}

/** @throws TypeError where the text is no address */
export function readDatabaseAddress(url: string): DatabaseAddress {
  const [, scheme = '', credentials, authority = '', rest = ''] = parts.exec(url) ?? []
  const at = credentials === undefined ? '' : `${credentials}@`
  // A URL must contain exactly one host: we put the first one there.
  const address = new URL(`${scheme}${at}${listed(authority)[0] || 'localhost'}${rest}`)
  const { searchParams } = address
  const hosts = hostsOf(authority, searchParams)
  if (hosts.length > 1) {
    const [first] = hosts
    searchParams.set('host', first?.host ?? '')
    searchParams.set('port', String(first?.port ?? defaultPort))
  }
  for (const name of ofLibpq) searchParams.delete(name)
  const mode = searchParams.get('sslmode')
  if (mode !== null && verifying.has(mode) && searchParams.get('uselibpqcompat') !== 'true')
    searchParams.set('sslmode', 'verify-full')
  // libpq's word for the certification authorities of the system, which Node.js knows too.
  if (searchParams.get('sslrootcert') === 'system') searchParams.delete('sslrootcert')
  return { hosts, connectionString: address.href }
}

/** The address of another database of the same server. */
export function withDatabaseName(url: string, name: string): string {
  const [, scheme = '', credentials, authority = '', rest = ''] = parts.exec(url) ?? []
  const at = credentials === undefined ? '' : `${credentials}@`
  return `${scheme}${at}${authority}/${encodeURIComponent(name)}${rest.replace(/^\/[^?#]*/, '')}`
}
