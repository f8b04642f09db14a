/** The list of networks that may not visit a site, as a customer types it. */
import { isIPv6 } from 'node:net'
import ipaddr from 'ipaddr.js'
import type { Language } from '../../contract/errors.ts'
import { Refusal } from '../platform/errors.ts'

/** A wider network than this is most likely a mistype. Shortest accepted prefix, bits. */
const shortestPrefix = { ipv4: 8, ipv6: 16 }

const said: Record<'form' | 'wide' | 'own', Record<Language, (entry: string) => string>> = {
  form: {
    en: (entry) => `“${entry}” is no address or network, such as 203.0.113.7 or 203.0.113.0/24.`,
    vi: (entry) =>
      `“${entry}” không phải địa chỉ hay dải mạng, ví dụ 203.0.113.7 hoặc 203.0.113.0/24.`,
  },
  wide: {
    en: (entry) => `“${entry}” is too wide: use /8 and longer for IPv4, /16 and longer for IPv6.`,
    vi: (entry) => `“${entry}” quá rộng: dùng từ /8 trở lên với IPv4 và /16 trở lên với IPv6.`,
  },
  own: {
    en: (entry) => `“${entry}” contains the address that you come from now.`,
    vi: (entry) => `“${entry}” chứa chính địa chỉ mà bạn đang dùng.`,
  },
}

/**
 * One entry in its shortest form, with the bits after its prefix cleared. An IPv4-mapped IPv6
 * address becomes its IPv4 address. Answers the fault's name where the entry is invalid.
 */
export function networkOfEntry(
  entry: string,
): { readonly network: string } | { readonly fault: 'form' | 'wide' } {
  const [address = '', prefix, ...more] = entry.split('/')
  if (more.length > 0 || !ipaddr.isValid(address) || (!address.includes(':') && !isFull(address)))
    return { fault: 'form' }
  const read = ipaddr.process(address)
  const family = read.kind()
  const most = family === 'ipv4' ? 32 : 128
  if (prefix === undefined) return { network: read.toString() }
  // ::ffff:203.0.113.0/120 is 203.0.113.0/24.
  const bits = Number(prefix) - (isIPv6(address) && family === 'ipv4' ? 96 : 0)
  if (!/^\d{1,3}$/.test(prefix) || bits < 0 || bits > most) return { fault: 'form' }
  if (bits < shortestPrefix[family]) return { fault: 'wide' }
  if (bits === most) return { network: read.toString() }
  const masked = read.toByteArray().map((byte, index) => byte & maskOf(bits - index * 8))
  const network = `${ipaddr.fromByteArray(masked).toString()}/${bits}`
  // Such a network would contain every IPv4 address in the form in which the edge lists them.
  return family === 'ipv6' &&
    (ipaddr.fromByteArray(masked) as ipaddr.IPv6).match(mapped, Math.min(bits, 96))
    ? { fault: 'wide' }
    : { network }
}
/** The first IPv4-mapped IPv6 address, read as IPv6. */
const mapped = ipaddr.IPv6.parse('::ffff:0:0')
/** Whether there are four decimal groups: the library reads 10.1 and 0x7f.1 as addresses, too. */
const isFull = (address: string): boolean => ipaddr.IPv4.isValidFourPartDecimal(address)
const maskOf = (bits: number): number => (0xff << (8 - Math.min(8, Math.max(0, bits)))) & 0xff

/** Whether the network contains the address. Both are in the form that `networkOfEntry` answers. */
export function contains(network: string, address: string): boolean {
  const [base = '', prefix] = network.split('/')
  const [one, other] = [ipaddr.process(base), ipaddr.process(address)]
  if (one.kind() !== other.kind()) return false
  if (prefix === undefined) return one.toString() === other.toString()
  return one instanceof ipaddr.IPv4
    ? (other as ipaddr.IPv4).match(one, Number(prefix))
    : (other as ipaddr.IPv6).match(one as ipaddr.IPv6, Number(prefix))
}

/**
 * The list in order, each network once. Refuses with invalid_input and names the first entry that
 * is invalid, is too wide, or contains the caller's own address.
 */
export function deniedNetworks(
  entries: readonly string[],
  own: string,
  language: Language,
): string[] {
  const refuse = (fault: keyof typeof said, entry: string): Refusal =>
    new Refusal('invalid_input', { fields: { networks: said[fault][language](entry) } })
  const networks = entries
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '')
    .map((entry) => {
      const read = networkOfEntry(entry)
      if ('fault' in read) throw refuse(read.fault, entry)
      if (ipaddr.isValid(own) && contains(read.network, own)) throw refuse('own', entry)
      return read.network
    })
  return [...new Set(networks)]
}
