/**
 * Checks whether the client controls the name: HTTP-01 (RFC 8555, 8.3), DNS-01 (8.4), and whether
 * the name's CAA records (RFC 8659) allow this authority.
 */
import { createHash } from 'node:crypto'
import { Resolver } from 'node:dns/promises'
import http from 'node:http'
import type { Database } from '../database.ts'
import { find, registrableOf } from '../registry/names.ts'

export interface Validation {
  /** The port on which names are visited, instead of 80. */
  readonly httpPort: number
  /**
   * The port of the portal's name server on this machine, which answers for names that the registry
   * delegates to it.
   */
  readonly nameServerPort: number
  /** `address:port` of resolvers for every other name; empty: the system's own. */
  readonly resolvers: readonly string[]
}
export interface Fault {
  readonly type: 'dns' | 'connection' | 'unauthorized' | 'caa'
  readonly detail: string
}

const timeoutMs = 5_000
const longestAnswer = 1024
const longestAlias = 8
/** The names of this authority in CAA records, as in the portal's default configuration. */
const identities: readonly string[] = ['letsencrypt.org', 'acme.sandbox']

const none: ReadonlySet<string> = new Set(['ENOTFOUND', 'ENODATA', 'NOTFOUND', 'NODATA'])
const isNone = (error: unknown): boolean => none.has((error as NodeJS.ErrnoException).code ?? '')

async function resolverFor(db: Database, name: string, of: Validation): Promise<Resolver> {
  const resolver = new Resolver({ timeout: 2000, tries: 1 })
  const registrable = registrableOf(name)
  const registered = registrable === undefined ? undefined : await find(db, registrable)
  if (registered) resolver.setServers([`127.0.0.1:${of.nameServerPort}`])
  else if (of.resolvers.length > 0) resolver.setServers([...of.resolvers])
  return resolver
}
/** Runs a DNS query; empty where there are no records. Throws where no server answers. */
async function ask<T>(question: Promise<T[]>): Promise<T[]> {
  try {
    return await question
  } catch (error) {
    if (isNone(error)) return []
    throw error
  }
}

async function addressesOf(db: Database, name: string, of: Validation): Promise<string[]> {
  let at = name
  for (let step = 0; step < longestAlias; step++) {
    // Names of this machine, which are not in the DNS (RFC 6761, 6.3).
    if (at === 'localhost' || at.endsWith('.localhost')) return ['127.0.0.1']
    const resolver = await resolverFor(db, at, of)
    const [alias] = await ask(resolver.resolveCname(at))
    if (alias !== undefined) {
      at = alias.toLowerCase().replace(/\.$/, '')
      continue
    }
    const [four, six] = await Promise.all([ask(resolver.resolve4(at)), ask(resolver.resolve6(at))])
    return [...six, ...four]
  }
  return []
}

function get(address: string, port: number, host: string, path: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const request = http.get(
      { host: address, port, path, headers: { host }, agent: false, timeout: timeoutMs },
      (answer) => {
        if (answer.statusCode !== 200) {
          answer.resume()
          reject(new Refused(`status ${answer.statusCode}`))
          return
        }
        let text = ''
        answer.setEncoding('latin1')
        answer.on('data', (chunk: string) => {
          text += chunk
          if (text.length > longestAnswer) request.destroy(new Refused('an answer too long'))
        })
        answer.on('end', () => resolve(text))
        answer.on('error', reject)
      },
    )
    request.on('timeout', () => request.destroy(new Error('no answer in time')))
    request.on('error', reject)
  })
}
class Refused extends Error {}

export async function overHttp(
  db: Database,
  of: Validation,
  challenge: { readonly name: string; readonly token: string; readonly expected: string },
): Promise<Fault | undefined> {
  const { name, token, expected } = challenge
  let addresses: string[]
  try {
    addresses = await addressesOf(db, name, of)
  } catch (error) {
    return { type: 'dns', detail: `${name}: ${(error as Error).message}` }
  }
  const [address] = addresses
  if (address === undefined)
    return { type: 'dns', detail: `DNS problem: no valid A or AAAA records found for ${name}` }
  try {
    const path = `/.well-known/acme-challenge/${token}`
    const text = (await get(address, of.httpPort, name, path)).trim()
    return text === expected
      ? undefined
      : { type: 'unauthorized', detail: `${address}: the key authorization is another one` }
  } catch (error) {
    return error instanceof Refused
      ? { type: 'unauthorized', detail: `${address}: invalid response: ${error.message}` }
      : { type: 'connection', detail: `${address}: ${(error as Error).message}` }
  }
}

export async function overDns(
  db: Database,
  of: Validation,
  challenge: { readonly name: string; readonly expected: string },
): Promise<Fault | undefined> {
  const value = createHash('sha256').update(challenge.expected).digest('base64url')
  let at = `_acme-challenge.${challenge.name}`
  try {
    for (let step = 0; step < longestAlias; step++) {
      const resolver = await resolverFor(db, at, of)
      const [alias] = await ask(resolver.resolveCname(at))
      if (alias === undefined) {
        const found = (await ask(resolver.resolveTxt(at))).map((parts) => parts.join(''))
        if (found.includes(value)) return undefined
        return found.length === 0
          ? { type: 'dns', detail: `DNS problem: no TXT record found at ${at}` }
          : { type: 'unauthorized', detail: `the TXT record at ${at} is another one` }
      }
      at = alias.toLowerCase().replace(/\.$/, '')
    }
    return { type: 'dns', detail: `${at}: too many aliases` }
  } catch (error) {
    return { type: 'dns', detail: `${at}: ${(error as Error).message}` }
  }
}

/**
 * Why the CAA records of the name, or of a name above it, forbid issuing; undefined: they do not.
 */
export async function forbidden(
  db: Database,
  of: Validation,
  name: string,
): Promise<Fault | undefined> {
  const labels = name.split('.')
  try {
    for (let index = 0; index < labels.length - 1; index++) {
      const at = labels.slice(index).join('.')
      if (at.endsWith('localhost')) return undefined
      const records = await ask((await resolverFor(db, at, of)).resolveCaa(at))
      if (records.length === 0) continue
      const issuers = records.flatMap(({ issue }) => (issue === undefined ? [] : [issue.trim()]))
      if (issuers.length === 0 || issuers.some((one) => identities.includes(one))) return undefined
      return { type: 'caa', detail: `CAA record for ${at} prevents issuance` }
    }
    return undefined
  } catch (error) {
    return { type: 'dns', detail: `looking up CAA of ${name}: ${(error as Error).message}` }
  }
}
