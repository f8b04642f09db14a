/** DNS queries with a timeout; "no such name" and "no data" are answers, failures are not. */
import { Resolver } from 'node:dns/promises'

export interface DnsLookup {
  /**
   * The targets found, lower case without a trailing dot; empty if the name has none. Undefined: no
   * answer.
   */
  cname(name: string): Promise<readonly string[] | undefined>
  /** IPv4 and IPv6. */
  addresses(name: string): Promise<readonly string[] | undefined>
  txt(name: string): Promise<readonly string[] | undefined>
}

/**
 * Queries `local`, our own name server, first for the names of its zones; on no data, and for all
 * other names, queries the `upstream` resolver: the name may lie in a delegated subzone.
 */
export function localFirstResolver(
  local: DnsLookup,
  isLocal: (name: string) => Promise<boolean>,
  upstream: DnsLookup,
): DnsLookup {
  const first =
    (ask: (lookup: DnsLookup, name: string) => Promise<readonly string[] | undefined>) =>
    async (name: string) => {
      const own = (await isLocal(name)) ? await ask(local, name) : undefined
      return own && own.length > 0 ? own : ((await ask(upstream, name)) ?? own)
    }
  return {
    cname: first((lookup, name) => lookup.cname(name)),
    addresses: first((lookup, name) => lookup.addresses(name)),
    txt: first((lookup, name) => lookup.txt(name)),
  }
}

const none = new Set(['ENOTFOUND', 'ENODATA', 'EBADNAME'])

/**
 * `servers`: addresses with an optional port, in the order they are asked; the system's own when
 * empty.
 */
export function createDnsLookup(servers: readonly string[], timeoutMs = 2000): DnsLookup {
  const resolver = new Resolver({ timeout: timeoutMs, tries: 1 })
  if (servers.length > 0) resolver.setServers(servers)
  async function ask<T>(question: Promise<T[]>): Promise<T[] | undefined> {
    try {
      return await question
    } catch (error) {
      return none.has((error as NodeJS.ErrnoException).code ?? '') ? [] : undefined
    }
  }
  const plain = (name: string): string => name.toLowerCase().replace(/\.$/, '')
  return {
    cname: async (name) => (await ask(resolver.resolveCname(name)))?.map(plain),
    async addresses(name) {
      const [four, six] = await Promise.all([
        ask(resolver.resolve4(name)),
        ask(resolver.resolve6(name)),
      ])
      return four || six ? [...(four ?? []), ...(six ?? [])] : undefined
    },
    txt: async (name) => (await ask(resolver.resolveTxt(name)))?.map((parts) => parts.join('')),
  }
}
