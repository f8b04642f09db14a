/**
 * Whether a page is unchanged for a visitor: status, title, and words. What changes by itself does
 * not count: numbers (dates, counters, hourly prices), what looks like a key, the order of words,
 * and as many words as the page changed between two visits before.
 */
import type { PageDifference } from '../../contract/wordpress-updates.ts'
import type { PageAnswer } from './driver.ts'

/** The part of a page that is compared, small enough for a row. Plain JSON. */
export interface PageShape {
  readonly path: string
  readonly status: number
  readonly title: string
  /** How often each word occurs. */
  readonly words: Readonly<Record<string, number>>
  /** Likeness to itself at the next visit, 0 to 1. */
  readonly steadiness: number
}

const mostWords = 1_500
const longestWord = 40
const longestTitle = 200
const longestTag = 4_000
/** Share of the words that a steady page must still have after the update. */
const neededShare = 0.9

const entities: Readonly<Record<string, string>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  nbsp: ' ',
}
const decoded = (text: string): string =>
  text.replaceAll(/&(?:#(\d{1,7})|#x([\da-f]{1,6})|([a-z]+));/gi, (_all, decimal, hex, name) => {
    if (name !== undefined) return entities[String(name).toLowerCase()] ?? ' '
    const code = decimal === undefined ? Number.parseInt(String(hex), 16) : Number(decimal)
    return code > 0x1f && code < 0x11_0000 ? String.fromCodePoint(code) : ' '
  })

const tagName = /<\/?([a-z][a-z\d]*)/iy
/** Tags whose content no visitor reads. */
const unread = new Set(['script', 'style', 'noscript', 'template', 'svg', 'title'])

/** The end of the content of an unread tag. */
function endOfUnread(html: string, name: string, from: number): number {
  const end = new RegExp(`</${name}`, 'gi')
  end.lastIndex = from
  return end.exec(html)?.index ?? html.length
}

/**
 * The text between the tags of a page, and its tags. A site may send anything, so every byte is
 * read a few times at most.
 */
function partsOf(html: string): { text: string; tags: string[] } {
  const text: string[] = []
  const tags: string[] = []
  for (let at = 0; at < html.length;) {
    const open = html.indexOf('<', at)
    text.push(html.slice(at, open < 0 ? html.length : open))
    if (open < 0) break
    const isComment = html.startsWith('<!--', open)
    const close = html.indexOf(isComment ? '-->' : '>', open)
    if (close < 0) break
    at = close + (isComment ? 3 : 1)
    tagName.lastIndex = open
    const name = isComment ? undefined : tagName.exec(html)?.[1]?.toLowerCase()
    if (name !== undefined) tags.push(html.slice(open, Math.min(at, open + longestTag)))
    const isOpening = html[open + 1] !== '/' && html[close - 1] !== '/'
    if (name !== undefined && isOpening && unread.has(name)) at = endOfUnread(html, name, at)
  }
  return { text: decoded(text.join(' ')), tags }
}

const plain = (text: string): string =>
  text.normalize('NFC').toLowerCase().replaceAll(/\d+/g, '0').replaceAll(/\s+/g, ' ').trim()

/** Whether a word looks like a key, hash or nonce: long, unbroken, with digits. */
const isKey = (word: string): boolean =>
  word.length >= 8 && /\d/.test(word) && /^[\da-z_-]+$/i.test(word)

function wordsOf(text: string): Record<string, number> {
  const words = new Map<string, number>()
  for (const [word] of text.matchAll(/[\p{L}\p{M}\p{N}_-]+/gu)) {
    const shown = isKey(word) ? '#' : plain(word).slice(0, longestWord)
    const count = words.get(shown)
    if (count !== undefined) words.set(shown, count + 1)
    else if (words.size < mostWords) words.set(shown, 1)
  }
  return Object.fromEntries(words)
}

export function shapeOf(path: string, { status, text }: Pick<PageAnswer, 'status' | 'text'>) {
  const head = text.slice(0, 100_000)
  const title = /<title[^>]{0,1000}>([^<]{0,2000})/i.exec(head)?.[1] ?? ''
  return {
    path,
    status,
    title: plain(decoded(title)).slice(0, longestTitle),
    words: wordsOf(partsOf(text).text),
    steadiness: 1,
  } satisfies PageShape
}

/** Likeness of two pages, 0 to 1: Dice's coefficient over the words. */
export function likeness(one: Pick<PageShape, 'words'>, other: Pick<PageShape, 'words'>): number {
  const counts = (words: PageShape['words']): number =>
    Object.values(words).reduce((sum, count) => sum + count, 0)
  const total = counts(one.words) + counts(other.words)
  if (total === 0) return 1
  let shared = 0
  for (const [word, count] of Object.entries(one.words))
    if (Object.hasOwn(other.words, word)) shared += Math.min(count, other.words[word] ?? 0)
  return (2 * shared) / total
}

/** The shape of a page that was visited twice: the second visit shows how steady it is. */
export const steadyShape = (first: PageShape, second: PageShape): PageShape => ({
  ...first,
  // A title that changes by itself is not compared.
  title: first.title === second.title ? first.title : '',
  status: Math.max(first.status, second.status),
  steadiness: likeness(first, second),
})

const works = (status: number): boolean => status < 500

/** The difference that a visitor would notice; undefined: none. */
export function differenceOf(before: PageShape, after: PageShape): PageDifference | undefined {
  const { path } = before
  // A page that failed before is not compared: it can only become better.
  if (!works(before.status)) return undefined
  if (before.status !== after.status)
    return { path, what: 'status', before: String(before.status), after: String(after.status) }
  if (before.title !== '' && before.title !== after.title)
    return { path, what: 'title', before: before.title, after: after.title }
  const share = likeness(before, after)
  if (share >= neededShare * Math.min(1, before.steadiness)) return undefined
  const percent = (of: number): string => `${Math.floor(of * 100)} %`
  return { path, what: 'text', before: percent(before.steadiness), after: percent(share) }
}

/** Query parameters that select a page and change nothing. */
const harmless = new Set(['p', 'page_id', 'cat', 'tag', 'paged', 'post_type', 'lang', 'm'])
const notPages =
  /\/(?:wp-admin|wp-json|wp-content|wp-includes|feed|xmlrpc\.php|wp-cron\.php|portal-)/i

/** The path of a link to a page of the same site; undefined for any other link. */
function ownPath(link: string, site: URL): string | undefined {
  const href = decoded(link).trim()
  if (href.length > 500 || !URL.canParse(href, site)) return undefined
  const url = new URL(href, site)
  if (url.host !== site.host || !/^https?:$/.test(url.protocol)) return undefined
  if (notPages.test(url.pathname)) return undefined
  if (/\.[a-z\d]{1,5}$/i.test(url.pathname) && !/\.(?:php|html?)$/i.test(url.pathname))
    return undefined
  if ([...url.searchParams.keys()].some((name) => !harmless.has(name))) return undefined
  return url.pathname + url.search
}

/**
 * Pages of a site to compare: the front page, the sign-in form, and the first ones that the front
 * page links to; at most `most`, each once.
 */
export function pagesOf(frontPage: string, siteUrl: string, most: number): string[] {
  const site = new URL(siteUrl)
  const found = new Set(['/', '/wp-login.php'])
  for (const tag of partsOf(frontPage).tags) {
    if (found.size >= most) break
    const link = /^<a\s/i.test(tag) ? /\shref=(?:"([^"]*)"|'([^']*)')/i.exec(tag) : null
    const path = link ? ownPath(link[1] ?? link[2] ?? '', site) : undefined
    if (path !== undefined) found.add(path)
  }
  return [...found].slice(0, most)
}
