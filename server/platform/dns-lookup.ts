/** Asking the DNS, with a time limit; "there is none" is an answer, everything else is not. */
import { Resolver } from 'node:dns/promises'

export interface DnsLookup {
  /**
   * What is found, lower case without a dot at the end; empty when the name has none. Undefined:
   * nobody answered.
   */
  cname(name: string): Promise<readonly string[] | undefined>
  /** IPv4 and IPv6. */
  addresses(name: string): Promise<readonly string[] | undefined>
  txt(name: string): Promise<readonly string[] | undefined>
}

/**
 * Asks `near` first for the names that are its own to answer, `far` for all others, and for those
 * of which `near` knows nothing: they may stand in a zone below that is delegated on.
 */
export function lookUpNear(
  near: DnsLookup,
  isNear: (name: string) => Promise<boolean>,
  far: DnsLookup,
): DnsLookup {
  const first =
    (ask: (lookup: DnsLookup, name: string) => Promise<readonly string[] | undefined>) =>
    async (name: string) => {
      const own = (await isNear(name)) ? await ask(near, name) : undefined
      return own && own.length > 0 ? own : ((await ask(far, name)) ?? own)
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
