/**
 * Generated names of servers: lower-case, readable, made unique by a number. They become host
 * names.
 */
import { randomInt } from 'node:crypto'
import { fold } from '../../contract/fold.ts'

const first = [
  'amber',
  'bamboo',
  'bright',
  'calm',
  'cedar',
  'clear',
  'coral',
  'dawn',
  'fresh',
  'gentle',
  'golden',
  'green',
  'happy',
  'jade',
  'kind',
  'lotus',
  'lucky',
  'maple',
  'mint',
  'misty',
  'noble',
  'ocean',
  'pearl',
  'quiet',
  'rapid',
  'river',
  'silver',
  'sunny',
  'swift',
  'violet',
  'warm',
  'willow',
]
const second = [
  'bay',
  'bird',
  'boat',
  'bridge',
  'brook',
  'cloud',
  'crane',
  'delta',
  'field',
  'forest',
  'garden',
  'grove',
  'harbor',
  'hill',
  'island',
  'lake',
  'lantern',
  'leaf',
  'meadow',
  'moon',
  'peak',
  'pine',
  'pond',
  'reef',
  'sail',
  'shore',
  'sky',
  'star',
  'stone',
  'tiger',
  'valley',
  'wave',
]

const pick = (words: readonly string[]): string => words[randomInt(words.length)] ?? 'site'

/** A random name, one of about ten million; the database refuses one that is taken. */
export const newName = (): string =>
  `${pick(first)}-${pick(second)}-${String(randomInt(10_000)).padStart(4, '0')}`

/**
 * Names that seem to belong to the platform, or under which mail and certificates are looked up.
 */
const reserved = new Set([
  'www',
  'api',
  'app',
  'admin',
  'portal',
  'mail',
  'smtp',
  'imap',
  'ftp',
  'dns',
  'ns1',
  'ns2',
  'status',
  'support',
  'help',
  'billing',
  'autoconfig',
  'autodiscover',
  'mta-sts',
  'wpad',
  'localhost',
])
/**
 * Words that would let a page below the provider's own domain pass for the provider's sign-in or
 * payment page.
 */
const misleading = new Set([
  'account',
  'accounts',
  'billing',
  'cpanel',
  'invoice',
  'login',
  'password',
  'pay',
  'payment',
  'secure',
  'security',
  'signin',
  'verify',
  'wallet',
  'webmail',
])

/** Only letters and digits, without accents: Let's Panel becomes letspanel. */
const plain = (text: string): string => fold(text).replace(/[^a-z0-9]/g, '')

/**
 * Whether customers may not choose this name for a server: it seems to belong to the platform,
 * contains the provider's own name (`brand`), or could be taken for a page of the provider's.
 */
export function isReserved(name: string, brand: string): boolean {
  const own = plain(brand)
  return (
    reserved.has(name) ||
    name.split('-').some((word) => misleading.has(word)) ||
    (own.length >= shortestBrand && plain(name).includes(own))
  )
}
/** A shorter brand would be found inside too many words. */
const shortestBrand = 4
