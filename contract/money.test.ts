import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  currencies,
  exponents,
  formatCount,
  formatMoney,
  toMajor,
  toMinor,
  withoutGroups,
  type Currency,
} from './money.ts'
import { diskPrice, effectivePlanPrice, explainPrice, monthlyPrice } from './pricing.ts'

const anyCurrency = fc.constantFrom(...currencies)
const anyAmount = fc.integer({ min: 0, max: 10 ** 12 })

describe('major and minor units', () => {
  test.each<[string, Currency, number | undefined]>([
    ['12.50', 'AUD', 1250],
    ['12.5', 'AUD', 1250],
    ['12', 'AUD', 1200],
    [' 0.01 ', 'USD', 1],
    ['0.29', 'EUR', 29],
    ['1.005', 'EUR', undefined],
    ['100000', 'VND', 100_000],
    ['1.5', 'VND', undefined],
    ['1,5', 'AUD', undefined],
    ['1 000', 'VND', undefined],
    ['-5', 'VND', undefined],
    ['+5', 'VND', undefined],
    ['1e3', 'VND', undefined],
    ['0x10', 'VND', undefined],
    ['٣', 'VND', undefined],
    ['5.', 'AUD', undefined],
    ['.5', 'AUD', undefined],
    ['', 'AUD', undefined],
    ['9'.repeat(14), 'VND', undefined],
    ['Infinity', 'AUD', undefined],
  ])('%s %s is %s', (text, currency, minor) => expect(toMinor(text, currency)).toBe(minor))

  test.each<[string, Currency, string]>([
    ['50.000', 'VND', '50000'],
    ['1,250,000', 'VND', '1250000'],
    ['1.5', 'VND', '1.5'],
    ['50.00', 'VND', '50.00'],
    ['1,234.50', 'AUD', '1234.50'],
    ['1.234', 'AUD', '1.234'],
    ['12,50', 'AUD', '12,50'],
  ])('%s %s without its groups is %s', (text, currency, plain) =>
    expect(withoutGroups(text, currency)).toBe(plain),
  )

  test('there and back again, for every amount', () => {
    fc.assert(
      fc.property(
        anyAmount,
        anyCurrency,
        (amount, currency) => toMinor(toMajor(amount, currency), currency) === amount,
      ),
    )
  })
  test('written with all decimals of the currency, never in exponents', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: -(10 ** 12), max: 10 ** 12 }),
        anyCurrency,
        (amount, currency) =>
          (exponents[currency] === 0 ? /^-?\d+$/ : /^-?\d+\.\d{2}$/).test(
            toMajor(amount, currency),
          ),
      ),
    )
  })
  test('text of any kind is an exact amount or none', () => {
    fc.assert(
      fc.property(fc.string(), anyCurrency, (text, currency) => {
        const minor = toMinor(text, currency)
        return minor === undefined || (Number.isSafeInteger(minor) && minor >= 0)
      }),
    )
  })
})

describe('amounts as screens print them', () => {
  test.each<[number, Currency, 'en' | 'vi' | 'aud', string]>([
    [1_250_000, 'VND', 'vi', '1.250.000 đ'],
    [1_250_000, 'VND', 'en', '1.250.000 đ'],
    [1_250_000, 'VND', 'aud', '1.250.000 đ'],
    [0, 'VND', 'en', '0 đ'],
    [999, 'VND', 'vi', '999 đ'],
    [-40_000, 'VND', 'vi', '−40.000 đ'],
    [123_450, 'AUD', 'en', '1,234.50 AUD'],
    [123_450, 'AUD', 'aud', '1,234.50 AUD'],
    [123_450, 'AUD', 'vi', '1.234,50 AUD'],
    [123_450, 'USD', 'en', '1,234.50 USD'],
    [123_450, 'EUR', 'vi', '1.234,50 EUR'],
    [5, 'EUR', 'en', '0.05 EUR'],
    [-5, 'USD', 'en', '−0.05 USD'],
    [100_000_000_000, 'USD', 'aud', '1,000,000,000.00 USD'],
  ])('%i %s in %s is %s', (amount, currency, language, text) =>
    expect(formatMoney(amount, currency, language)).toBe(text.replace(' ', '\u00a0')),
  )

  test('nothing but grouping is added', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: -(10 ** 12), max: 10 ** 12 }),
        anyCurrency,
        fc.constantFrom('en' as const, 'vi' as const, 'aud' as const),
        (amount, currency, language) => {
          const digits = formatMoney(amount, currency, language).replace(/\D/g, '')
          return Number(digits) === Math.abs(amount)
        },
      ),
    )
  })
  test('groups of three, as Intl has them', () => {
    fc.assert(
      fc.property(
        anyAmount,
        (amount) =>
          formatMoney(amount, 'VND', 'en') ===
          `${new Intl.NumberFormat('de').format(amount)}\u00a0đ`,
      ),
    )
    fc.assert(
      fc.property(
        fc.nat({ max: 10 ** 12 }),
        (count) =>
          formatCount(count, 'vi') === new Intl.NumberFormat('de').format(count) &&
          formatCount(count, 'en') === new Intl.NumberFormat('en').format(count) &&
          formatCount(count, 'aud') === formatCount(count, 'en'),
      ),
    )
  })
})

describe('the monthly price (portal.md section 9)', () => {
  const plan = fc.record({
    price: fc.integer({ min: 1, max: 10 ** 8 }),
    sale_price: fc.oneof(fc.constant(0), fc.integer({ min: 1, max: 10 ** 8 })),
  })
  const vnd = { perGb: 4000 }
  const included = { perGb: 0 }

  test('10, 20 and 40 GB cost 40000, 80000 and 160000; a custom size GB x 4000', () => {
    expect([10, 20, 40].map((gb) => diskPrice(gb * 1024, vnd))).toEqual([40_000, 80_000, 160_000])
    fc.assert(
      fc.property(
        fc.integer({ min: 10, max: 195 }),
        (gb) => diskPrice(gb * 1024, vnd) === gb * 4000,
      ),
    )
  })
  test('plan + disk + plan x containers, to the unit', () => {
    fc.assert(
      fc.property(
        plan,
        fc.integer({ min: 10, max: 195 }),
        fc.integer({ min: 1, max: 50 }),
        (size, gb, containers) => {
          const effective = size.sale_price || size.price
          expect(effectivePlanPrice(size)).toBe(effective)
          const lines = monthlyPrice({
            plan: size,
            diskMb: gb * 1024,
            mariadbDiskMb: 20_480,
            containers,
            ssdRate: vnd,
            mariadbRate: included,
          })
          expect(lines).toEqual({
            plan: effective,
            disk: gb * 4000,
            mariadbDisk: 0,
            containers: effective * containers,
            total: effective + gb * 4000 + effective * containers,
          })
        },
      ),
    )
  })
  // High rates give products beyond the exact integers of a double.
  test('part of a GB is rounded up to one unit, exactly, and never falls as the disk grows', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 10_240, max: 200_000 }),
        fc.oneof(fc.nat(10 ** 6), fc.integer({ min: 10 ** 11, max: 10 ** 13 })),
        (mb, perGb) => {
          const over = BigInt(diskPrice(mb, { perGb })) * 1024n - BigInt(mb) * BigInt(perGb)
          expect([over >= 0n, over < 1024n]).toEqual([true, true])
          expect(diskPrice(mb + 1, { perGb })).toBeGreaterThanOrEqual(diskPrice(mb, { perGb }))
        },
      ),
    )
  })
  test('a MariaDB rate above 0 counts', () => {
    const lines = monthlyPrice({
      plan: { price: 100, sale_price: 0 },
      diskMb: 10_240,
      mariadbDiskMb: 20_480,
      containers: 1,
      ssdRate: { perGb: 26 },
      mariadbRate: { perGb: 10 },
    })
    expect(lines).toEqual({ plan: 100, disk: 260, mariadbDisk: 200, containers: 100, total: 660 })
  })
})

describe('a price explained', () => {
  const month = 2_592_000
  const basis = fc.record({
    plan: fc.constant('BASIC-1'),
    price: fc.nat(100_000_000),
    sale_price: fc.oneof(fc.constant(0), fc.nat(100_000_000)),
    disk: fc.integer({ min: 10_240, max: 200_000 }),
    disk_per_gb: fc.nat(10_000),
    mariadb_disk_size: fc.integer({ min: 10_240, max: 200_000 }),
    mariadb_per_gb: fc.nat(10_000),
    replicate: fc.integer({ min: 1, max: 50 }),
    seconds: fc.nat(month),
    of_seconds: fc.constant(month),
  })

  test('each step is its quantity times its price, rounded once, and a month is their sum', () => {
    fc.assert(
      fc.property(basis, (given) => {
        const { steps, amount } = explainPrice(given)
        for (const step of steps) {
          const exact = BigInt(step.quantity) * BigInt(step.unit_price)
          const charged = BigInt(step.amount) * BigInt(step.per)
          const off = charged - exact
          if (step.part === 'share')
            expect((off < 0n ? -off : off) * 2n).toBeLessThanOrEqual(BigInt(step.per))
          else expect([off >= 0n, off < BigInt(step.per)]).toEqual([true, true])
          expect([step.rounded_up, step.rounded_down]).toEqual([off > 0n, off < 0n])
        }
        const whole = explainPrice({ ...given, seconds: month })
        expect(whole.steps.reduce((sum, step) => sum + step.amount, 0)).toBe(whole.amount)
        expect(whole.steps.map(({ part }) => part)).not.toContain('share')
        expect(amount).toBeLessThanOrEqual(whole.amount)
        expect(steps.at(-1)?.amount).toBe(
          given.seconds === month ? whole.steps.at(-1)?.amount : amount,
        )
      }),
    )
  })
})
