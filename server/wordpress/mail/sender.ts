/**
 * Whom a site's letters are from: an address on a name that is the site's. So no customer's letter
 * passes for another's, and what is signed and listed in SPF agrees with what is shown.
 */
import type { Queryable } from '../../platform/db.ts'
import type { SiteAddressing, SiteRow } from '../store.ts'
import { domainOfAddress, plainAddress, type ReadLetter, type Sender } from './letter.ts'

/** Of a server: the names that its letters may come from. */
export interface SenderNames {
  /** Below the sites' domain. */
  readonly own: string
  /** Its owner's, proven, oldest first. */
  readonly proven: readonly string[]
  /** The one that letters come from which name none of these. */
  readonly usual: string
}

const defaultUser = 'wordpress'

/**
 * The usual one: that of the main address, else the oldest; without `www.` where that is proven,
 * too, as WordPress has it.
 */
export function usualName(own: string, proven: readonly string[], primary: string | null): string {
  const main = proven.find((name) => name === primary) ?? proven[0] ?? own
  const bare = main.startsWith('www.') ? main.slice('www.'.length) : main
  return proven.includes(bare) ? bare : main
}

export async function senderNames(
  db: Queryable,
  addressing: SiteAddressing,
  site: Pick<SiteRow, 'id' | 'name' | 'primary_host'>,
): Promise<SenderNames> {
  const rows = await db
    .selectFrom('site_domain')
    .select('name')
    .where('site_id', '=', site.id)
    .where('released_at', 'is', null)
    .where('verified', '=', true)
    .orderBy('id')
    .execute()
  const proven = rows.map(({ name }) => name)
  const own = `${site.name}.${addressing.host}`
  return { own, proven, usual: usualName(own, proven, site.primary_host) }
}

export const mayBeFrom = (names: SenderNames, address: string): boolean => {
  const domain = domainOfAddress(address)
  return domain === names.own || names.proven.includes(domain)
}

/** Whom letters are from that name nobody of the site: as its owner chose, while that is its. */
export function usualSender(names: SenderNames, chosen: string | null): string {
  return chosen !== null && mayBeFrom(names, chosen) ? chosen : `${defaultUser}@${names.usual}`
}

/**
 * The sender of a letter, in its header and on its envelope alike. An address that is not on the
 * site's names is replaced, and gets the answers.
 * @param envelope the sender that the program gave for the envelope, for a letter without one
 */
export function senderOf(
  letter: Pick<ReadLetter, 'from'>,
  envelope: string | null,
  names: SenderNames,
  chosen: string | null,
): { readonly sender: Sender; readonly named: string | null } {
  const usual = usualSender(names, chosen)
  const bounces = envelope === null ? null : plainAddress(envelope)
  const from = letter.from ?? (bounces === null ? null : { name: '', address: bounces })
  const isOwn = from !== null && mayBeFrom(names, from.address)
  const sender: Sender = isOwn
    ? { ...from, replyTo: null }
    : {
        // A name that looks like an address would be taken for the sender.
        name: from === null || from.name.includes('@') ? '' : from.name,
        address: usual,
        replyTo: from?.address ?? null,
      }
  return {
    sender,
    named: isOwn ? null : (from?.address ?? null),
  }
}
