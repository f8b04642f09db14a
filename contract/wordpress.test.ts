import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { adminPassword, adminUser, Order, passwordHolds } from './wordpress.ts'

const good = {
  size: 1,
  region: 1,
  disk: 10_240,
  mariadb_disk_size: 10_240,
  user: 'admin',
  password: 'abcdef1!',
}
const takes = (change: object): boolean => Order.safeParse({ ...good, ...change }).success

describe("the administrator's password (portal.md section 5)", () => {
  test.each<[string, boolean]>([
    ['abcdef1!', true],
    ['1234567!', true],
    ['ABCDEFG1&', true],
    ['abcde1!', false],
    ['abcdefgh', false],
    ['abcdefg1', false],
    ['abcdefg!', false],
    ['abcdef1?', false],
    ['abcdef1-', false],
    ['ÂBCDEF1!', true],
    ['abcdef１!', false],
    ['        ', false],
    ['', false],
  ])('%s: %s', (password, holds) => {
    expect(passwordHolds(password)).toBe(holds)
    expect(adminPassword.safeParse(password).success).toBe(holds)
  })
  test.each([...'!@#$%^&*'])('%s is a special character', (special) =>
    expect(passwordHolds(`abcdef1${special}`)).toBe(true),
  )
  test('says what the rule says, for any text', () => {
    const letters = fc.string({ unit: fc.constantFrom(...'abcXYZ019!@#$%^&* ?-_ữ'), maxLength: 20 })
    fc.assert(
      fc.property(fc.oneof(letters, fc.string()), (text) => {
        const said = [...text]
        const rule =
          text.length >= 8 &&
          said.some((c) => !/[a-z]/i.test(c)) &&
          said.some((c) => c >= '0' && c <= '9') &&
          said.some((c) => '!@#$%^&*'.includes(c))
        return passwordHolds(text) === rule
      }),
    )
  })
  test('129 characters are too many', () =>
    expect(takes({ password: `1!${'x'.repeat(127)}` })).toBe(false))
})

describe("the administrator's name: what WordPress's sanitize_user leaves as it is", () => {
  /**
   * sanitize_user of wp-includes/formatting.php, strict. It omits the removal of tags, octets and
   * entities, whose special characters are not allowed here anyway.
   */
  const sanitised = (name: string): string =>
    name
      .replace(/[^a-z0-9 _.\-@]/gi, '')
      .trim()
      .replace(/\s+/g, ' ')
  test.each<[string, boolean]>([
    ['admin', true],
    ['Nguyen Van An', true],
    ['an@example.vn', true],
    ['a', true],
    ['_-.@', true],
    ['x'.repeat(60), true],
    ['x'.repeat(61), false],
    ['', false],
    [' an', false],
    ['an ', false],
    ['Nguyen  Van', false],
    ['Nguyễn', false],
    ['a\tb', false],
    ['a\n', false],
    ['<b>an</b>', false],
    ['a&amp;b', false],
    ['a%20b', false],
    ["o'neil", false],
  ])('%j: %s', (name, holds) => expect(adminUser.safeParse(name).success).toBe(holds))
  test('for any text', () => {
    const near = fc.string({
      unit: fc.constantFrom(...'aZ09 _.-@', 'é', '\t', '&', '%', '<'),
      maxLength: 62,
    })
    fc.assert(
      fc.property(
        fc.oneof(near, fc.string()),
        (name) =>
          adminUser.safeParse(name).success ===
          (sanitised(name) === name && name.length >= 1 && name.length <= 60),
      ),
    )
  })
})

describe('disks and containers', () => {
  test('10240 to 200000 MB, whole', () => {
    for (const field of ['disk', 'mariadb_disk_size']) {
      for (const mb of [10_240, 10_241, 20_480, 40_960, 200_000])
        expect(takes({ [field]: mb }), `${field} ${mb}`).toBe(true)
      for (const mb of [
        0,
        -1,
        10_239,
        200_001,
        10_240.5,
        '10240',
        null,
        Number.NaN,
        Infinity,
        undefined,
      ])
        expect(takes({ [field]: mb }), `${field} ${mb}`).toBe(false)
    }
  })
  test('1 to 50 containers, 1 when not said', () => {
    expect(Order.parse(good).replicate).toBe(1)
    for (const replicate of [1, 50]) expect(takes({ replicate })).toBe(true)
    for (const replicate of [0, 51, -1, 1.5, '1', null]) expect(takes({ replicate })).toBe(false)
  })
  test('nothing else is taken', () => expect(takes({ price: 1 })).toBe(false))
})
