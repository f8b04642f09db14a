/**
 * A subdomain of a zone that our own name servers serve (login.shop.vn below shop.vn). A DNS query
 * would reach our own servers and always succeed; so the parent's NS records are read from the
 * database.
 */
import { parse } from 'tldts'
import { relativeName } from '../../contract/dns-records.ts'
import type { Database } from '../platform/db.ts'
import type { DelegationCheck, Verdict } from './delegation/index.ts'
import { recordsAt } from './store.ts'

/**
 * The names above a domain, nearest first, up to the registered one. Empty for the registered one
 * itself.
 */
export function namesAbove(name: string): string[] {
  const registered = parse(name).domain
  if (registered === null || registered === name) return []
  const above: string[] = []
  for (let at = name; at !== registered;) {
    at = at.slice(at.indexOf('.') + 1)
    above.push(at)
  }
  return above
}

export interface Judged {
  readonly verdict: Verdict
  /**
   * A name above is delegated to our name servers, but no account here has proven it: nothing below
   * it may be served for another account.
   */
  readonly foreign: boolean
}

/**
 * Undefined: no zone above is on our name servers, so the parent zone's own servers can be queried.
 */
async function judgeBelow(
  deps: { db: Database; delegation: DelegationCheck; pool: ReadonlySet<string> },
  zone: { readonly name: string; readonly name_servers: readonly string[] },
): Promise<Judged | undefined> {
  const above = namesAbove(zone.name)
  if (above.length === 0) return undefined
  const expected = zone.name_servers.toSorted()
  const active = await deps.db
    .selectFrom('dns_zone')
    .select(['id', 'name', 'shown_name', 'moved_at'])
    .where('name', 'in', above)
    .where('active_at', 'is not', null)
    .execute()
  const nearest = active.toSorted((a, b) => b.name.length - a.name.length)[0]
  // A zone that is now delegated elsewhere no longer speaks for its owner: its records are ignored.
  if (nearest && active.every((zone) => zone.moved_at === null)) {
    const relative = relativeName(zone.name, nearest.name) ?? ''
    const records = await recordsAt(deps.db, nearest.id, [relative])
    const found = records.filter(({ type }) => type === 'NS').map(({ content }) => content)
    return {
      verdict: compare(found.toSorted(), expected, { relative, parent: nearest.shown_name }),
      foreign: false,
    }
  }
  for (const name of above) {
    const { found } = await deps.delegation.check({ domain: name, expected: [] })
    if (found.some((host) => deps.pool.has(host))) {
      const advice = {
        en:
          `${name}, the domain above, uses our name servers but is not active here. Add it ` +
          'and activate it first.',
        vi:
          `Tên miền cấp trên ${name} đang dùng nameserver của chúng tôi nhưng chưa được ` +
          'kích hoạt ở đây. Hãy thêm và kích hoạt tên đó trước.',
      }
      return {
        verdict: {
          isValid: false,
          reason: 'not_registered',
          expected,
          found: [],
          advice,
          warnings: [],
        },
        foreign: true,
      }
    }
  }
  return undefined
}

/**
 * What is to be said of a name: by the zone above it where our name servers serve that, and
 * otherwise by the parent zone's own servers. The zones above are looked at once more after a name
 * was found right: when one of them came to our name servers in between, our own answer was found.
 */
export async function judge(
  deps: Parameters<typeof judgeBelow>[0],
  zone: Parameters<typeof judgeBelow>[1],
): Promise<Judged> {
  const below = await judgeBelow(deps, zone)
  if (below) return below
  const verdict = await deps.delegation.check({ domain: zone.name, expected: zone.name_servers })
  const later = verdict.isValid ? await judgeBelow(deps, zone) : undefined
  return later ?? { verdict, foreign: false }
}

function compare(
  found: readonly string[],
  expected: readonly string[],
  at: { relative: string; parent: string },
): Verdict {
  const base = { expected, found, warnings: [] }
  const missing = expected.filter((name) => !found.includes(name))
  const extra = found.filter((name) => !expected.includes(name))
  if (missing.length === 0 && extra.length === 0) return { ...base, isValid: true }
  const wanted = expected.join(', ')
  const differs = missing.length === expected.length ? 'other_nameservers' : 'extra_nameservers'
  return {
    ...base,
    isValid: false,
    reason: found.length === 0 ? 'not_registered' : differs,
    advice: {
      en:
        `In the domain ${at.parent}, give the name ${at.relative} exactly these NS records: ` +
        `${wanted}.`,
      vi:
        `Trong tên miền ${at.parent}, hãy đặt cho tên ${at.relative} đúng các bản ghi NS sau: ` +
        `${wanted}.`,
    },
  }
}
