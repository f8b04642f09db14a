/** Which servers may send for a domain (SPF, RFC 7208), as far as the portal must know. */
import { isIP } from 'node:net'

const isSpf = (text: string): boolean => /^v=spf1(?: |$)/i.test(text)
export const spfTexts = (texts: readonly string[]): string[] => texts.filter(isSpf)

const termsOf = (text: string): string[] => text.split(/ +/).filter((term) => term !== '')
const plain = (term: string): string => term.replace(/^\+/, '').toLowerCase()

/** Whether a record names the mechanism. */
export const names = (record: string, mechanism: string): boolean =>
  termsOf(record).some((term) => plain(term) === plain(mechanism))

/**
 * A record with the mechanism: the present one with one term more, or a new one. The term comes
 * first, because terms after `all` are not read.
 */
export function withMechanism(record: string | undefined, mechanism: string): string {
  if (record === undefined) return `v=spf1 ${mechanism} ~all`
  if (names(record, mechanism)) return record
  const [version = 'v=spf1', ...rest] = termsOf(record)
  return [version, mechanism, ...rest].join(' ')
}

/**
 * SPF's mechanism for the servers that send the portal's mail: the operator's setting, or the mail
 * server that the portal hands letters to.
 */
export function mechanismFor(given: string | undefined, smtpUrl: string | undefined): string {
  if (given !== undefined) return given
  const host = new URL(smtpUrl ?? 'smtp://127.0.0.1').hostname.replace(/^\[|\]$/g, '')
  if (isIP(host) === 6) return `ip6:${host}`
  return isIP(host) === 4 ? `ip4:${host}` : `a:${host}`
}
