/**
 * Removes response headers by which one site could affect its neighbours: all sites of a provider
 * are below one domain, which a browser takes for one owner's unless it is on the Public Suffix
 * List. RFC 6265 (Domain of a cookie), RFC 6797 (includeSubDomains), W3C Clear-Site-Data.
 */

/** Whether `name` is `domain` or below it. Both lower case, without a port. */
const isWithin = (name: string, domain: string): boolean =>
  name === domain || name.endsWith(`.${domain}`)

/** A cookie without a Domain that covers the shared one: the browser keeps it for its sender. */
function ownCookie(cookie: string, shared: string): string {
  const [pair, ...attributes] = cookie.split(';')
  const kept = attributes.filter((attribute) => {
    const [name = '', value = ''] = attribute.split('=', 2)
    if (name.trim().toLowerCase() !== 'domain') return true
    const domain = value.trim().toLowerCase().replace(/^\./, '').replace(/\.$/, '')
    return domain !== '' && !isWithin(shared, domain)
  })
  return [pair, ...kept].join(';')
}

/** Strict-Transport-Security without the directives that affect other hosts. */
const ownTransport = (value: string): string =>
  value
    .split(';')
    .filter((directive) => !/^\s*(?:includesubdomains|preload)\s*$/i.test(directive))
    .join(';')

/**
 * A response's raw headers without effects beyond the site that sent them.
 * @param host the visitor's raw Host
 * @param shared the domain below which all sites are, lower case; null: each has its own
 */
export function withinSite(raw: readonly string[], host: string, shared: string | null): string[] {
  if (shared === null) return [...raw]
  const name = host.toLowerCase().replace(/:\d*$/, '').replace(/\.$/, '')
  const out: string[] = []
  for (let index = 0; index < raw.length; index += 2) {
    const [header, value] = [raw[index]!, raw[index + 1]!]
    const lower = header.toLowerCase()
    if (lower === 'set-cookie') out.push(header, ownCookie(value, shared))
    else if (!isWithin(name, shared)) out.push(header, value)
    else if (lower === 'strict-transport-security') out.push(header, ownTransport(value))
    // It would clear the cookies of the whole registrable domain.
    else if (lower !== 'clear-site-data') out.push(header, value)
  }
  return out
}
