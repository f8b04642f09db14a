import fc from 'fast-check'
import { expect, test } from 'vitest'
import { comparePage, likenessOf, titleOf, wordsOf } from './compare-pages.ts'

const page = (title: string, body: string, status = 200) => ({
  status,
  text: `<!doctype html><html><head><title>${title}</title></head><body>${body}</body></html>`,
})

test('pages are the same whatever their scripts, numbers, addresses and marks are', () => {
  const original = page(
    'Tiệm bánh &#8211; Mây',
    `<script>var nonce = 'a1b2'</script><h1>Bánh mì</h1><p>Hôm nay có 12 loại.</p>
     <a href="https://cu.example/a">Xem</a><style>p { color: red }</style>`,
  )
  const copy = page(
    'Tiệm  bánh – Mây',
    `<h1 class="x">Bánh&nbsp;mì</h1><p>Hôm nay có 15 loại.</p><!-- cached -->
     <a href="https://moi.example/a">Xem</a><script>var nonce = 'ffff'</script>`,
  )
  expect(comparePage('/', original, copy)).toMatchObject({ verdict: 'same', likeness: 100 })
})

test('another status, title or text is told', () => {
  const one = page('A', '<p>một hai ba bốn năm sáu bảy tám chín mười</p>')
  expect(comparePage('/', one, { ...one, status: 500 }).verdict).toBe('status')
  expect(comparePage('/', one, null).verdict).toBe('status')
  expect(comparePage('/', null, one).verdict).toBe('unknown')
  expect(comparePage('/', one, page('B', one.text)).verdict).toBe('title')
  expect(comparePage('/', one, page('A', '<p>một hai ba</p>'))).toMatchObject({
    verdict: 'text',
    likeness: 46,
  })
})

test('no page of a stranger is slow to read', () => {
  // CPU time of this process, so that other work on the machine does not count.
  const began = process.cpuUsage()
  for (const part of ['<', '<!--', '<!-->', '<script', '<title', '&', '<a b="', '</', '-->'])
    wordsOf(part.repeat(Math.ceil(524_288 / part.length)))
  expect(process.cpuUsage(began).user / 1_000).toBeLessThan(2_000)
})

test('any two strangers’ pages can be compared, the one like the other', () => {
  const html = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc
      .array(fc.constantFrom('<p>', '<script>', '</script>', '<!--', '<title>', '&#0;', 'a', ' '))
      .map((parts) => parts.join('')),
  )
  fc.assert(
    fc.property(html, html, (one, other) => {
      const [mine, theirs] = [wordsOf(one), wordsOf(other)]
      const likeness = likenessOf(mine, theirs)
      expect(likeness).toBe(likenessOf(theirs, mine))
      expect(likeness).toBeGreaterThanOrEqual(0)
      expect(likeness).toBeLessThanOrEqual(100)
      expect(likenessOf(mine, mine)).toBe(100)
      expect(titleOf(one).isWellFormed()).toBe(true)
      expect(titleOf(one)).not.toContain('\0')
    }),
  )
})
