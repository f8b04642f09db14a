/** The names that may be a domain here, and the choice of its two name servers. */
import { randomInt } from 'node:crypto'
import { domainToASCII } from 'node:url'
import { sql } from 'kysely'
import { parse } from 'tldts'
import { hasBrokenLabel } from '../../contract/dns-idn.ts'
import { isHostName } from '../../contract/dns-records.ts'
import type { Tx } from '../platform/db.ts'
import { lockKeys } from '../platform/lock-keys.ts'

export type DomainFault = 'domain_form' | 'a_label' | 'domain_public_suffix' | 'domain_ours'

export interface DomainName {
  /** A-labels, lower case, without a dot at the end. */
  readonly ascii: string
  /** As typed, in lower case. */
  readonly shown: string
}

/**
 * Parses a typed or pasted domain. Refused: addresses, single labels, invalid A-labels, public
 * suffixes (ICANN's and private ones such as github.io), and names at, above or below the portal's
 * own (`own`).
 */
export function readDomain(
  typed: string,
  own: readonly string[],
): DomainName | { readonly fault: DomainFault } {
  const shown = typed
    .normalize('NFC')
    .trim()
    .toLowerCase()
    .replace(/^https?:\/\//, '')
    .replace(/\/.*$/s, '')
    .replace(/[.\u3002\uff0e\uff61]$/, '')
  // Characters that the conversion would read as an escape, a port or credentials.
  if (shown === '' || /[\s%:@?#\\*_]/.test(shown)) return { fault: 'domain_form' }
  if (hasBrokenLabel(shown)) return { fault: 'a_label' }
  const ascii = domainToASCII(shown)
  const { domain, publicSuffix, isIp } = parse(ascii, { allowPrivateDomains: true })
  if (isIp === true || !isHostName(ascii))
    return {
      fault: publicSuffix === ascii && isIp !== true ? 'domain_public_suffix' : 'domain_form',
    }
  if (domain === null) return { fault: 'domain_public_suffix' }
  const related = (name: string): boolean =>
    name === ascii || name.endsWith(`.${ascii}`) || ascii.endsWith(`.${name}`)
  return own.some(related) ? { fault: 'domain_ours' } : { ascii, shown }
}

/** Whether names under this one are open to public registration (com, com.vn, github.io). */
export const isPublicSuffix = (name: string): boolean =>
  parse(name, { allowPrivateDomains: true }).publicSuffix === name

const key = (pair: readonly string[]): string => pair.join(' ')
const pick = <T>(from: readonly T[]): T | undefined =>
  from.length > 0 ? from[randomInt(from.length)] : undefined

/** Every pair of two different names, each in the pool's order. */
const pairsOf = (pool: readonly string[]): string[][] =>
  pool.flatMap((first, index) => pool.slice(index + 1).map((second) => [first, second]))

/**
 * A pair of the pool that no account has, each with the same probability. Undefined: all are taken.
 */
async function freePair(tx: Tx, pool: readonly string[]): Promise<string[] | undefined> {
  // Ordered by a UUID, which PostgreSQL makes from strong random numbers: a pair proves the owner
  // of a name, so it must not be predictable.
  const { rows } = await sql<{ pair: string[] }>`
    with name_server as materialized (select name, place
    from unnest(${[...pool]}::text[]) with ordinality as given (name, place))
    select array[a.name, b.name] as pair from name_server a join name_server b on a.place < b.place
    where not exists (select from dns_account_pair taken where taken.pair = array[a.name, b.name])
    order by gen_random_uuid() limit 1`.execute(tx)
  return rows[0]?.pair
}

/** The account's own pair; no other account has it while the pool lasts. */
async function accountPair(
  tx: Tx,
  customerId: string,
  pool: readonly string[],
  pairs: readonly string[][],
): Promise<string[]> {
  const own = await tx
    .selectFrom('dns_account_pair')
    .select('pair')
    .where('customer_id', '=', customerId)
    .executeTakeFirst()
  if (own && pairs.some((offered) => key(offered) === key(own.pair))) return own.pair
  const pair = (await freePair(tx, pool)) ?? pick(pairs) ?? []
  await tx
    .insertInto('dns_account_pair')
    .values({ customer_id: customerId, pair })
    .onConflict((on) => on.column('customer_id').doUpdateSet({ pair }))
    .execute()
  return pair
}

/**
 * The pair for a new claim of a name: the account's own, unless the name ever had it, for any
 * account. Then another pair that the name never had, so that the parent zone's answer proves this
 * claim and no earlier one. Never a pair that the parent names now, and never one with which
 * another account was active or has a claim of the name now. So an attacker who claims and deletes
 * a name repeatedly does not get the pair that the former owner left at the registrar, and does not
 * lead the owner to a pair of the attacker's claim. If the parent did not answer (`atParent`
 * undefined), only pairs that the name never had are given. Undefined: no pair is left. Claims of
 * all names are serialized.
 */
export async function assignPair(
  tx: Tx,
  of: {
    readonly customerId: string
    readonly name: string
    readonly pool: readonly string[]
    readonly atParent: readonly string[] | undefined
  },
): Promise<readonly string[] | undefined> {
  await sql`select pg_advisory_xact_lock(${lockKeys.claimDomain})`.execute(tx)
  const pairs = pairsOf(of.pool)
  const own = await accountPair(tx, of.customerId, of.pool, pairs)
  const history = await tx
    .selectFrom('dns_zone')
    .select(['name_servers', 'customer_id', 'first_active_at', 'deleted_at'])
    .where('name', '=', of.name)
    .orderBy('seq', 'desc')
    .execute()
  const had = new Set(history.map(({ name_servers }) => key(name_servers)))
  const ofOthers = new Set(
    history
      .filter(
        ({ customer_id: customerId, first_active_at: wasActive, deleted_at: deleted }) =>
          customerId !== of.customerId && (wasActive !== null || deleted === null),
      )
      .map(({ name_servers }) => key(name_servers)),
  )
  const isFree = (pair: readonly string[]): boolean =>
    !ofOthers.has(key(pair)) && !pair.every((host) => of.atParent?.includes(host) === true)
  if (!had.has(key(own)) && isFree(own)) return own
  const fresh = pick(pairs.filter((one) => !had.has(key(one)) && isFree(one)))
  if (fresh || of.atParent === undefined) return fresh
  // The name had all others: take the one that it had longest ago, and never the latest.
  const [latest, ...earlier] = [...had].map((one) => one.split(' '))
  return earlier.findLast(isFree) ?? (latest === undefined && isFree(own) ? own : undefined)
}
