/**
 * The text of an HTML letter. No markup is kept, so none can have an effect: no link, no image, no
 * style.
 */

/** Longer HTML is no letter from a person. */
const longestHtml = 1_000_000
/** Elements whose content readers do not see. */
const hidden = new Set(['script', 'style', 'head', 'title', 'template', 'noscript', 'svg'])
const blocks = new Set(
  'address article aside blockquote br dd div dl dt footer form h1 h2 h3 h4 h5 h6 header hr li'
    .split(' ')
    .concat('main nav ol p pre section table tr ul'.split(' ')),
)
const named: Readonly<Record<string, string>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
  nbsp: ' ',
}

const decoded = (text: string): string =>
  text.replace(/&(#x[0-9a-f]{1,6}|#\d{1,7}|[a-z]{2,8});/gi, (whole, entity: string) => {
    if (!entity.startsWith('#')) return named[entity.toLowerCase()] ?? whole
    const code = /^#x/i.test(entity)
      ? Number.parseInt(entity.slice(2), 16)
      : Number.parseInt(entity.slice(1), 10)
    return code > 0 && code <= 0x10_ff_ff ? String.fromCodePoint(code) : ''
  })

/** Reads tag by tag from left to right, so that its time grows with its length alone. */
export function textOfHtml(html: string): string {
  const source = html.slice(0, longestHtml)
  const pieces: string[] = []
  let at = 0
  /** The name of a tag whose content is passed over. */
  let within: string | undefined
  while (at < source.length) {
    const open = source.indexOf('<', at)
    const end = open < 0 ? source.length : open
    if (within === undefined) pieces.push(source.slice(at, end).replace(/\s+/g, ' '))
    if (open < 0) break
    if (source.startsWith('<!--', open)) {
      const close = source.indexOf('-->', open + 4)
      at = close < 0 ? source.length : close + 3
      continue
    }
    const close = source.indexOf('>', open)
    if (close < 0) break
    const [, slash = '', name = ''] =
      /^<(\/?)([a-z][a-z0-9]{0,20})/i.exec(source.slice(open, open + 30)) ?? []
    const tag = name.toLowerCase()
    if (within !== undefined) within = slash === '/' && tag === within ? undefined : within
    else if (slash === '' && hidden.has(tag)) within = tag
    else if (blocks.has(tag)) pieces.push('\n')
    at = close + 1
  }
  // Blanks become one first: a run of them that is tried from each of its places takes minutes.
  return decoded(pieces.join(''))
    .replace(/[ \t\u{A0}]+/gu, ' ')
    .replace(/ ?\n ?/g, '\n')
    .replace(/\n{3,}/g, '\n\n')
    .trim()
}
