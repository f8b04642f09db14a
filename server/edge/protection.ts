/**
 * Protection of a site: networks that its owner denies, and a password before its pages (RFC 7617).
 * Sign-ins behind it are the site's own; the site never sees this password.
 */
import { createHash } from 'node:crypto'
import { BlockList, isIPv6 } from 'node:net'
import { RateLimiterMemory } from 'rate-limiter-flexible'
import { createGate } from '../platform/gate.ts'
import { networkOf } from '../platform/network.ts'
import { scryptMatches } from '../platform/scrypt.ts'
import type { VisitorRequest } from './http2.ts'

export interface Protection {
  /** Addresses and networks (CIDR) whose visitors are answered 403. */
  readonly denied?: readonly string[]
  /** `hash` by platform/scrypt.ts. */
  readonly password?: { readonly user: string; readonly hash: string }
}

/** What a visitor is told in the place of a page; null: let in. */
export type ProtectionPage = 'denied' | 'password' | 'tries' | 'failed' | null

export interface Protections {
  /** Null and pages that need no time are answered at once. */
  judge(
    site: string,
    protection: Protection,
    client: string,
    request: VisitorRequest,
  ): ProtectionPage | Promise<ProtectionPage>
}

/** Wrong passwords of one network for one site, before it has to wait. */
const wrongTries = 10
export const wrongTriesSeconds = 600
/** A check takes 40 ms of a thread that files and DNS need, too. */
const checks = { atOnce: 2, waiting: 50 }
const mostKnown = 10_000

/** So many wait for a check that one more is not taken. */
class TooManyWait extends Error {}

/** User and password of an Authorization header; null for any other. */
function credentialsOf(
  header: string,
): { readonly user: string; readonly password: string } | null {
  const encoded = /^basic +([\w+/=-]+)$/i.exec(header)?.[1]
  const text = encoded === undefined ? '' : Buffer.from(encoded, 'base64').toString()
  const colon = text.indexOf(':')
  return colon < 0 ? null : { user: text.slice(0, colon), password: text.slice(colon + 1) }
}

/** The site gets the request as if the header had never been there. */
export function withoutAuthorization(request: VisitorRequest): void {
  delete request.headers.authorization
  const { rawHeaders } = request
  for (let index = rawHeaders.length - 2; index >= 0; index -= 2)
    if (rawHeaders[index]!.toLowerCase() === 'authorization') rawHeaders.splice(index, 2)
}

function listOf(denied: readonly string[]): BlockList {
  const list = new BlockList()
  for (const network of denied) {
    const [address = '', prefix] = network.split('/')
    const family = isIPv6(address) ? 'ipv6' : 'ipv4'
    if (prefix === undefined) list.addAddress(address, family)
    else list.addSubnet(address, Number(prefix), family)
  }
  return list
}

/** @param log told of a password that cannot be checked: nobody is let in by it */
export function createProtections(log: {
  warn(detail: object, message: string): void
}): Protections {
  const gate = createGate(checks, () => new TooManyWait())
  const tries = new RateLimiterMemory({ points: wrongTries, duration: wrongTriesSeconds })
  /** Headers that were right a while ago: a page has a hundred files. */
  const known = new Set<string>()
  const lists = new WeakMap<readonly string[], BlockList>()

  function isDenied(denied: readonly string[], client: string): boolean {
    let list = lists.get(denied)
    if (!list) {
      list = listOf(denied)
      lists.set(denied, list)
    }
    return list.check(client, isIPv6(client) ? 'ipv6' : 'ipv4')
  }

  async function check(
    site: string,
    password: NonNullable<Protection['password']>,
    given: { readonly user: string; readonly password: string },
    of: { readonly key: string; readonly network: string },
  ): Promise<ProtectionPage> {
    // Counted before it is checked: else a hundred at once would all be checked.
    const isTooOften = await tries.consume(of.network).then(
      () => false,
      () => true,
    )
    if (isTooOften) return 'tries'
    let isRight: boolean
    try {
      isRight = await gate.run(() => scryptMatches(password.hash, given.password))
    } catch (error) {
      if (error instanceof TooManyWait) return 'tries'
      log.warn({ err: error, site }, 'the password of a site cannot be checked')
      // The visitor has not given a wrong one.
      await tries.reward(of.network)
      return 'failed'
    }
    if (!isRight || given.user !== password.user) return 'password'
    await tries.reward(of.network)
    if (known.size >= mostKnown) known.clear()
    known.add(of.key)
    return null
  }

  return {
    judge(site, { denied, password }, client, request) {
      if (denied && isDenied(denied, client)) return 'denied'
      if (!password) return null
      const { authorization } = request.headers
      const given = authorization === undefined ? null : credentialsOf(authorization)
      if (!given) return 'password'
      const key = createHash('sha256')
        .update(`${site}\n${password.user}\n${password.hash}\n${authorization}`)
        .digest('base64url')
      if (known.has(key)) return null
      return check(site, password, given, { key, network: `${site} ${networkOf(client)}` })
    },
  }
}
