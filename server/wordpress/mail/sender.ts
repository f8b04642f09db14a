/**
 * The sender of a site's letters: an address on one of the site's own names. So no customer's
 * letter passes for another's, and signature and SPF agree with the sender that is shown.
 */
import type { Queryable } from '../../platform/db.ts'
import type { SiteAddressing, SiteRow } from '../store.ts'
import { domainOfAddress, plainAddress, type ReadLetter, type Sender } from './letter.ts'

/** The names that letters of a server may come from. */
export interface SenderNames {
  /** The server's own name, below the sites' domain. */
  readonly own: string
  /** Its owner's proven names, oldest first. */
  readonly proven: readonly string[]
  /** The name for letters whose sender is on none of these. */
  readonly usual: string
}

const defaultUser = 'wordpress'

/**
 * The usual name: that of the main address, otherwise the oldest; without `www.` where that is
 * proven, too, as WordPress does.
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

/**
 * The sender of letters that name none on the site's names: the owner's choice, as long as its name
 * is the site's.
 */
export function usualSender(names: SenderNames, chosen: string | null): string {
  return chosen !== null && mayBeFrom(names, chosen) ? chosen : `${defaultUser}@${names.usual}`
}

/**
 * The sender of a letter, for its header and its envelope. An address that is not on the site's
 * names is replaced, and gets the answers.
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
        // A name that looks like an address would be mistaken for the sender.
        name: from === null || from.name.includes('@') ? '' : from.name,
        address: usual,
        replyTo: from?.address ?? null,
      }
  return {
    sender,
    named: isOwn ? null : (from?.address ?? null),
  }
}
