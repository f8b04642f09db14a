/** Which requests may be answered from the cache, and which answers may be kept (decision 68). */
import type { IncomingHttpHeaders } from 'node:http'
import { headerOf, wordsOf } from '../raw-headers.ts'

/** The parts of a request that decide whether the cache may answer, besides its path. */
export interface RequestHead {
  readonly method?: string | undefined
  readonly headers: IncomingHttpHeaders
}

/** The key of a cached page, besides host and path. */
export interface PageRequest {
  /** Phones versus other devices: the distinction of WordPress's wp_is_mobile(). */
  readonly isMobile: boolean
  /** False: only a file may be looked up, because the page may be specific to this visitor. */
  readonly mayAsk: boolean
}

/** Cookies of statistics and advertising, which only scripts read: no page depends on them. */
const harmlessCookie = new RegExp(
  String.raw`^(?:_ga(?:_\w+)?|_gid|_gat(?:_\w+)?|_gcl_\w+|_fbp|_fbc|__utm\w|_hj\w+|_clck|_clsk|` +
    String.raw`_pk_\w+(?:\.[\w.]+)?|_tt_\w+|_ttp|wordpress_test_cookie)$`,
)

/** The same words that wp_is_mobile() looks for. */
const mobile = /Mobile|Android|Silk\/|Kindle|BlackBerry|Opera Mini|Opera Mobi/

/** The user agent that PHP sees instead of the visitor's own: one per class of devices. */
export const agentOf = ({ isMobile }: PageRequest): string =>
  isMobile ? 'Mozilla/5.0 (portal cache; Mobile)' : 'Mozilla/5.0 (portal cache)'
export const acceptForAll = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8'

/** Types that any page may be requested with; a request for another type goes to the site. */
const plainType = new RegExp(
  String.raw`^(?:text/(?:html|css|\*)|application/(?:xhtml\+xml|xml|signed-exchange)|` +
    String.raw`image/[\w.+-]+|\*/\*)$`,
)

/** Files that are the same for whoever asks; `.php` and names without an end are none. */
const staticName = /\.(?:css|js|mjs|map|svg|png|jpe?g|gif|webp|avif|ico|woff2?|ttf|otf|txt)$/i

function hasOwnCookies(cookie: string | undefined): boolean {
  if (cookie === undefined || cookie === '') return false
  return cookie.split(';').some((pair) => {
    const name = (pair.split('=', 1)[0] ?? '').trim()
    return name !== '' && !harmlessCookie.test(name)
  })
}

/** Caches the result by the header's text: browsers send few different ones. */
function remembered<T>(read: (text: string) => T): (text: string) => T {
  const known = new Map<string, T>()
  return (text) => {
    let found = known.get(text)
    if (found === undefined) {
      if (known.size >= mostKnown) known.clear()
      found = read(text)
      known.set(text, found)
    }
    return found
  }
}
const mostKnown = 1_000

const takesPlainTypes = remembered((accept) =>
  wordsOf(accept).every((word) => plainType.test((word.split(';', 1)[0] ?? '').trim())),
)
const isMobileAgent = remembered((agent) => mobile.test(agent))

/**
 * A request with such a header is not looked up: pages that vary by it are cached for requests
 * without it.
 */
const neverSent = [
  'authorization',
  'origin',
  'range',
  'x-http-method-override',
  'x-requested-with',
  'x-wp-nonce',
] as const
const harmlessVary = new Set<string>([...neverSent, 'accept-encoding'])

/** Null: the site itself answers, and sees the request as it came. */
export function pageRequestOf(
  request: RequestHead,
  path: string,
  hasBody: boolean,
): PageRequest | null {
  const { method, headers } = request
  if ((method !== 'GET' && method !== 'HEAD') || hasBody) return null
  if (neverSent.some((name) => headers[name] !== undefined)) return null
  // This path signs somebody in.
  if (path.startsWith('/portal-sign-in/')) return null
  if (headers.accept !== undefined && !takesPlainTypes(headers.accept)) return null
  const isMobile =
    headers['sec-ch-ua-mobile'] === '?1' || isMobileAgent(headers['user-agent'] ?? '')
  if (!hasOwnCookies(headers.cookie)) return { isMobile, mayAsk: true }
  return staticName.test(path.split('?', 1)[0] ?? '') ? { isMobile, mayAsk: false } : null
}

/** The longest time that a page is cached, ms, because its content may depend on the time. */
export const longestMs = 600_000
/** A file may change without PHP: it is revalidated after this long, ms. */
export const fileMs = 30_000

const keptStatus = new Set([200, 301, 308, 404, 410])

/**
 * For how many ms a response may be cached, by its status and headers; 0: not at all. A plugin's
 * Cache-Control can only shorten it.
 */
export function keptMs(status: number, raw: readonly string[]): number {
  if (!keptStatus.has(status)) return 0
  for (const name of [
    'set-cookie',
    'www-authenticate',
    'content-encoding',
    'content-range',
    'refresh',
  ])
    if (headerOf(raw, name) !== undefined) return 0
  if (wordsOf(headerOf(raw, 'vary')).some((word) => !harmlessVary.has(word))) return 0
  const control = wordsOf(headerOf(raw, 'cache-control'))
  const names = control.map((word) => word.split('=', 1)[0] ?? '')
  if (names.some((name) => ['private', 'no-store', 'no-cache'].includes(name))) return 0
  if (wordsOf(headerOf(raw, 'pragma')).includes('no-cache')) return 0
  const seconds = (name: string): number | undefined => {
    const given = control.find((word) => word.startsWith(`${name}=`))
    if (given === undefined) return undefined
    const value = Number(given.slice(name.length + 1).replaceAll('"', ''))
    return Number.isFinite(value) && value >= 0 ? value : 0
  }
  const life = seconds('s-maxage') ?? seconds('max-age') ?? untilExpires(raw)
  return life === undefined ? longestMs : Math.min(longestMs, life * 1000)
}

/**
 * A stale response with such a directive may never be shown, even when the site does not answer
 * (RFC 9111, section 5.2.2).
 */
export const mustBeAsked = (raw: readonly string[]): boolean =>
  wordsOf(headerOf(raw, 'cache-control')).some(
    (word) => ['must-revalidate', 'proxy-revalidate'].includes(word) || word.startsWith('s-maxage'),
  )

function untilExpires(raw: readonly string[]): number | undefined {
  const expires = headerOf(raw, 'expires')
  if (expires === undefined) return undefined
  const at = Date.parse(expires)
  return Number.isNaN(at) ? 0 : Math.max(0, (at - Date.now()) / 1000)
}
