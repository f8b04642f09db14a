import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  differenceOf,
  likeness,
  pagesOf,
  shapeOf,
  steadyShape,
  type PageShape,
} from './page-shapes.ts'

const page = (body: string, title = 'Cửa hàng Mây'): string =>
  `<!DOCTYPE html><html><head><title>${title}</title><style>.x{}</style></head>
<body>${body}<script>var nonce = "${Math.random()}"</script></body></html>`
const shape = (text: string, status = 200): PageShape => shapeOf('/', { status, text })
const words = 'áo quần giày dép mũ nón túi xách đồng hồ kính mắt khăn vớ'.split(' ')

describe('a page is still the page that it was', () => {
  const sentence = fc.array(fc.constantFrom(...words), { minLength: 12, maxLength: 60 })

  test('whatever numbers, keys, order, scripts and comments it has', () => {
    fc.assert(
      fc.property(
        sentence,
        fc.nat(),
        fc.nat(),
        fc.stringMatching(/^[\da-f]{10,32}$/),
        (all, one, other, key) => {
          const before = shape(page(`<p>${all.join(' ')} ${one} đồng</p><!-- ${one} -->`))
          const after = shape(
            page(`<div data-nonce="${key}">${all.toReversed().join(' ')} ${other} đồng</div>`),
          )
          expect(differenceOf(before, after)).toBeUndefined()
        },
      ),
    )
  })

  test('unless its status, its title or much of its text is another', () => {
    fc.assert(
      fc.property(sentence, (all) => {
        const before = shape(page(all.join(' ')))
        expect(differenceOf(before, shape(page(all.join(' ')), 500))).toMatchObject({
          what: 'status',
        })
        expect(differenceOf(before, shape(page(all.join(' '), 'Lỗi')))).toMatchObject({
          what: 'title',
        })
        expect(differenceOf(before, shape(page('')))).toMatchObject({ what: 'text', after: '0 %' })
        const half = all.slice(0, Math.floor(all.length / 2))
        expect(differenceOf(before, shape(page(half.join(' '))))).toMatchObject({ what: 'text' })
      }),
    )
  })

  test('and one that changes by itself may change as much', () => {
    const visit = (part: string) => shape(page(`${words.slice(0, 6).join(' ')} ${part}`))
    const before = steadyShape(visit('một hai ba bốn'), visit('năm sáu bảy tám'))
    expect(before.steadiness).toBeLessThan(0.7)
    expect(differenceOf(before, visit('chín mười mười-một mười-hai'))).toBeUndefined()
    expect(differenceOf(before, shape(page('không còn gì')))).toMatchObject({ what: 'text' })
    const titles = steadyShape(shape(page('x', 'a')), shape(page('x', 'b')))
    expect(differenceOf(titles, shape(page('x', 'c')))).toBeUndefined()
  })

  test('one that failed before can only become better', () => {
    const failed = shape('critical error', 500)
    expect(differenceOf(failed, shape(page('hello')))).toBeUndefined()
    expect(differenceOf(failed, shape('another error', 500))).toBeUndefined()
  })

  test('likeness is one measure: between 0 and 1, equal both ways, 1 with itself', () => {
    const text = fc.string({ maxLength: 300 })
    fc.assert(
      fc.property(text, text, (one, other) => {
        const [a, b] = [shape(one), shape(other)]
        expect(likeness(a, a)).toBe(1)
        expect(likeness(a, b)).toBeCloseTo(likeness(b, a), 10)
        expect(likeness(a, b)).toBeGreaterThanOrEqual(0)
        expect(likeness(a, b)).toBeLessThanOrEqual(1)
      }),
    )
  })

  test('hostile pages cost little and stay small', () => {
    // CPU time of this process, so that other work on the machine does not count.
    const began = process.cpuUsage()
    for (const part of [
      '<',
      '<a ',
      '<!--',
      '<!-- -->',
      '<script',
      '<script>',
      '<p>',
      '<a>',
      '< >',
      '<title',
      '&#',
      '<a href="',
      '__proto__ ',
    ]) {
      const made = shape(part.repeat(Math.floor(1_000_000 / part.length)))
      expect(JSON.stringify(made).length).toBeLessThan(200_000)
      pagesOf(part.repeat(Math.floor(1_000_000 / part.length)), 'http://a.vn', 10)
    }
    const many = Array.from({ length: 100_000 }, (_, index) => `chữ${'x'.repeat(index % 50)}`).join(
      ' ',
    )
    expect(Object.keys(shape(many).words).length).toBeLessThanOrEqual(1_500)
    expect(process.cpuUsage(began).user / 1_000).toBeLessThan(5_000)
  })
})

test('ten pages are those of the site itself that a link leads to without doing anything', () => {
  const links = [
    'http://a.vn/gioi-thieu/',
    '/lien-he#form',
    'https://other.vn/x',
    '/wp-admin/',
    '?add-to-cart=1',
    '/?p=12',
    '/a.pdf',
    '/wp-login.php?action=logout',
    '//b.vn/x',
    'javascript:alert(1)',
    'mailto:a@a.vn',
    '/gioi-thieu/',
    '/&#x27;quoted&#x27;',
    ...Array.from({ length: 20 }, (_, index) => `/bai-${index}/`),
  ]
  const html = links.map((link) => `<a class="x" href="${link}">x</a>`).join('')
  expect(pagesOf(html, 'http://a.vn', 10)).toEqual([
    '/',
    '/wp-login.php',
    '/gioi-thieu/',
    '/lien-he',
    '/?p=12',
    "/'quoted'",
    '/bai-0/',
    '/bai-1/',
    '/bai-2/',
    '/bai-3/',
  ])
  fc.assert(
    fc.property(fc.string(), (text) => {
      for (const path of pagesOf(`<a href="${text}">`, 'http://a.vn', 10)) expect(path[0]).toBe('/')
    }),
  )
})
