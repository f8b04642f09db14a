/**
 * Compares a page of an original with that of its copy, as a reader would: status, title, and the
 * share of equal words. Both are a stranger's HTML: nothing is run, and only the title is stored.
 */
import type { ImportPage } from '../../contract/wordpress-import.ts'

export interface SeenPage {
  readonly status: number
  readonly text: string
}

/**
 * Least likeness, per cent, at which two pages count as the same: widgets show dates, counters and
 * latest posts.
 */
export const enough = 90
const longestTitle = 200
const mostWords = 20_000

const named: Readonly<Record<string, string>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
  nbsp: ' ',
  ndash: '–',
  mdash: '—',
  hellip: '…',
  rsquo: '’',
  lsquo: '‘',
  rdquo: '”',
  ldquo: '“',
  laquo: '«',
  raquo: '»',
}
const decoded = (text: string): string =>
  text.replace(/&(?:#x([0-9a-f]{1,6})|#(\d{1,7})|(\w{1,10}));/gi, (all, hex, digits, name) => {
    if (name !== undefined) return named[String(name).toLowerCase()] ?? all
    const code = hex === undefined ? Number(digits) : Number.parseInt(String(hex), 16)
    return code > 0 && code <= 0x10ffff && (code < 0xd800 || code > 0xdfff)
      ? String.fromCodePoint(code)
      : ''
  })

/**
 * Removes a tag's pairs and everything between them. Uses no pattern, which a hostile page could
 * make slow.
 */
function without(html: string, tag: string): string {
  const lower = html.toLowerCase()
  const kept: string[] = []
  let at = 0
  for (;;) {
    const begin = lower.indexOf(`<${tag}`, at)
    if (begin < 0) break
    kept.push(html.slice(at, begin))
    const end = lower.indexOf(`</${tag}`, begin)
    if (end < 0) return kept.join(' ')
    at = end + tag.length + 2
  }
  kept.push(html.slice(at))
  return kept.join(' ')
}

/** The text outside of tags and comments, in one pass for the same reason. */
function withoutTags(html: string): string {
  const kept: string[] = []
  let at = 0
  for (;;) {
    const begin = html.indexOf('<', at)
    if (begin < 0) break
    kept.push(html.slice(at, begin))
    const [mark, from] = html.startsWith('<!--', begin) ? ['-->', begin + 4] : ['>', begin + 1]
    const end = html.indexOf(mark, from)
    if (end < 0) return kept.join(' ')
    at = end + mark.length
  }
  kept.push(html.slice(at))
  return kept.join(' ')
}

/** The title of a page; empty where it has none. */
export function titleOf(html: string): string {
  const begin = html.search(/<title\b/i)
  if (begin < 0) return ''
  const open = html.indexOf('>', begin)
  const close = html.toLowerCase().indexOf('</title', begin)
  if (open < 0 || close < open) return ''
  return decoded(html.slice(open + 1, close))
    .replaceAll('\0', '')
    .toWellFormed()
    .replace(/\s+/g, ' ')
    .trim()
    .slice(0, longestTitle)
    .toWellFormed()
}

/**
 * The words that a reader sees, in lower case. All numbers count as the same word, because of
 * counters and dates.
 */
export function wordsOf(html: string): string[] {
  let text = html
  for (const tag of ['script', 'style', 'noscript', 'svg', 'template', 'head'])
    text = without(text, tag)
  const words = decoded(withoutTags(text))
    .toLowerCase()
    .replace(/\d+/g, '0')
    .match(/[\p{L}\p{M}]+|0/gu)
  return (words ?? []).slice(0, mostWords)
}

/** Share of words that both have, 0 to 100 (Dice's coefficient over bags of words). */
export function likenessOf(one: readonly string[], other: readonly string[]): number {
  if (one.length + other.length === 0) return 100
  const counts = new Map<string, number>()
  for (const word of one) counts.set(word, (counts.get(word) ?? 0) + 1)
  let both = 0
  for (const word of other) {
    const left = counts.get(word) ?? 0
    if (left === 0) continue
    counts.set(word, left - 1)
    both++
  }
  return Math.round((200 * both) / (one.length + other.length))
}

/** `null`: no page came. */
export function comparePage(
  path: string,
  original: SeenPage | null,
  copy: SeenPage | null,
): ImportPage {
  const shown = (page: SeenPage | null) =>
    page && { status: page.status, title: titleOf(page.text) }
  const row = { path, original: shown(original), copy: shown(copy) }
  if (!original) return { ...row, likeness: null, verdict: 'unknown' }
  if (!copy || copy.status !== original.status) return { ...row, likeness: null, verdict: 'status' }
  const likeness = likenessOf(wordsOf(original.text), wordsOf(copy.text))
  if (row.original?.title !== row.copy?.title) return { ...row, likeness, verdict: 'title' }
  return { ...row, likeness, verdict: likeness >= enough ? 'same' : 'text' }
}
