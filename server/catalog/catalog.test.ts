import { readFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, test } from 'vitest'
import { currencies, toMinor } from '../../contract/money.ts'
import { monthlyOf } from '../../contract/pricing.ts'
import { CatalogFault, currencyOf, languageOfRegion, loadCatalog, parseCatalog } from './index.ts'
import { dataCentres, plans, termsOf } from '../wordpress/plans.ts'

const file = path.resolve(import.meta.dirname, '../../catalog.yaml')
const shipped = readFileSync(file, 'utf8')
const catalog = loadCatalog(file)

/** The faults of the shipped catalogue after one change, and the line that was changed. */
function faultsAfter(from: string, to: string): { faults: string[]; line: number } {
  expect(shipped.split(from).length, `"${from}" stands once`).toBe(2)
  const line = shipped.slice(0, shipped.indexOf(from)).split('\n').length
  try {
    parseCatalog(shipped.replace(from, to), 'catalog.yaml')
  } catch (error) {
    expect(error).toBeInstanceOf(CatalogFault)
    return { faults: (error as Error).message.split('\n'), line }
  }
  return { faults: [], line }
}

describe('as shipped', () => {
  test('six regions, id 5 with the 20 GB minimum, five plans in every currency', () => {
    expect(dataCentres(catalog).map(({ id, minDisk }) => [id, minDisk])).toEqual([
      [1, 10_240],
      [2, 10_240],
      [3, 10_240],
      [4, 10_240],
      [5, 20_480],
      [6, 10_240],
    ])
    for (const currency of currencies) {
      const offered = plans(catalog, currency)
      expect(offered.length).toBeGreaterThanOrEqual(5)
      for (const plan of offered) {
        expect(plan.currency).toBe(currency)
        expect(plan.price).toBeGreaterThan(plan.sale_price)
      }
    }
  })
  test('presets, limits, disk prices and flags as portal.md and contract.md have them', () => {
    expect(catalog.payments.currencies.VND).toEqual({
      presets: [100_000, 500_000, 1_000_000, 2_000_000, 3_000_000, 5_000_000, 10_000_000],
      min: 10_000,
      max: 500_000_000,
    })
    expect(catalog.payments.currencies.AUD.presets).toEqual([
      500, 1000, 2000, 3000, 4000, 5000, 6000,
    ])
    expect(catalog.disks).toMatchObject({
      ssdPerGb: { VND: 4000 },
      mariadbPerGb: { VND: 0, AUD: 0, USD: 0, EUR: 0 },
    })
    expect(catalog.products).toEqual({
      wordpress: true,
      hosting: true,
      dns: true,
      paas: true,
      antiDdos: true,
      svm: false,
      smsOtp: false,
      cloudDatabase: false,
    })
    expect(
      (['VN', 'USD', 'EURO', 'AUD'] as const).map((region) => [
        currencyOf(catalog, region),
        languageOfRegion(catalog, region),
      ]),
    ).toEqual([
      ['VND', 'vi'],
      ['USD', 'en'],
      ['EUR', 'en'],
      ['AUD', 'aud'],
    ])
  })
  test('prices are exact minor units, quoted or not', () => {
    expect(plans(catalog, 'AUD').find(({ id }) => id === 2)).toMatchObject({
      price: 1250,
      sale_price: 990,
    })
    for (const [written, minor] of [
      ['12.5', 1250],
      ["'12.50'", 1250],
      ['0.29', 29],
      ['1.15', 115],
      ['8.2', 820],
      ['1001', 100_100],
    ] as const) {
      expect(
        parseCatalog(shipped.replace("price: '5.90'", `price: ${written}`), 'c').plans[0]?.prices
          .AUD.price,
        written,
      ).toBe(minor)
      expect(toMinor(written.replaceAll("'", ''), 'AUD')).toBe(minor)
    }
  })
  test("a server's price in VND and in AUD", () => {
    const price = (currency: 'VND' | 'AUD', size: number, gb: number, containers: number) => {
      const plan = plans(catalog, currency).find(({ id }) => id === size)
      if (!plan) throw new Error('no such plan')
      return monthlyOf(
        termsOf(catalog, currency, { plan, diskMb: gb * 1024, mariadbDiskMb: 10_240, containers }),
      ).total
    }
    expect(price('VND', 1, 10, 1)).toBe(89_000 + 40_000 + 89_000)
    expect(price('VND', 2, 20, 3)).toBe(149_000 + 80_000 + 149_000 * 3)
    expect(price('AUD', 2, 40, 2)).toBe(990 + 40 * 26 + 990 * 2)
  })
})

describe('a fault names its line', () => {
  test.each([
    ['price: 1890000', "price: 'free'", /plans\.4\.prices\.VND\.price: is no price in VND/],
    // YAML reads ninety-nine here.
    ['price: 1890000', 'price: 99.000', /is no price in VND/],
    ['price: 1890000', 'price: 5e4', /is no price in VND/],
    ['price: 1890000', 'price: -5', /plans\.4\.prices\.VND\.price/],
    ['price: 1890000', 'price: 0', /is no price in VND/],
    ['price: 1890000', 'price: 18.5', /is no price in VND/],
    ["price: '76.00'", "price: '76.001'", /is no price in EUR/],
    [
      "price: '65.00', sale: '56.00'",
      "price: '65.00', sale: '65.00'",
      /must be an amount below the price/,
    ],
    ['minDiskGb: 20', 'minDiskGb: 5', /dataCentres\.4\.minDiskGb/],
    ['minDiskGb: 20', 'minDisk: 20', /dataCentres\.4/],
    ['svm: false', 'svm: maybe', /products\.svm/],
    [
      'AUD: { currency: AUD, language: aud',
      'AUD: { currency: GBP, language: aud',
      /regions\.AUD\.currency/,
    ],
    [
      'timeZone: Australia/Sydney',
      'timeZone: Australia/Nowhere',
      /regions\.AUD\.timeZone: is no time zone/,
    ],
    [
      'timeZone: Australia/Sydney',
      'tax: { name: GST, percent: 10.125 }',
      /regions\.AUD\.tax\.percent: is no rate/,
    ],
    ['suspendDays: 7', 'suspendDays: 6', /billing\.suspendDays: must come after the last reminder/],
    ['deleteDays: 30', 'deleteDays: 7', /billing\.deleteDays: must come after suspendDays/],
    ['[0, 3, 6]', '[0, 3, 3]', /billing\.reminderDays: must grow/],
    ['id: 5, name: Tokyo', 'id: 4, name: Tokyo', /dataCentres: holds the same id twice/],
    ['method: ATMCARD', 'method: CASH', /payments\.routing\.1\.method/],
    ['min: 10000,', 'min: ten,', /payments\.currencies\.VND\.min/],
    ['[100000, 500000', '[100.5, 500000', /payments\.currencies\.VND\.presets/],
    ['max: 500000000', 'max: 5000', /payments\.currencies\.VND\.max/],
    ['[100000, 500000', '[1000, 500000', /payments\.currencies\.VND\.presets/],
    ['cpu: 16', 'cpu: 0', /plans\.4\.cpu/],
    ['ram: 32000', 'ram: 32000\n    colour: red', /plans\.4/],
  ])('%s → %s', (from, to, says) => {
    const { faults, line } = faultsAfter(from, to)
    expect(faults.length).toBeGreaterThan(0)
    expect(faults[0]).toMatch(says)
    // A fault of the whole list is reported at the list's line.
    const told = Number(/^catalog\.yaml, line (\d+): /.exec(faults[0] ?? '')?.[1])
    expect(told).toBeLessThanOrEqual(line + to.split('\n').length - 1)
    expect(told).toBeGreaterThan(line - 8)
  })

  test('a key that there is not is told by its own line, at any depth', () => {
    const at = (text: string, key: string) => text.slice(0, text.indexOf(key)).split('\n').length
    const text = shipped
      .replace('\nproducts:', '\nproductz:')
      .replace('minDiskGb: 20', 'minDisk: 20')
    for (const [written, key] of [
      ['productz:', 'productz'],
      ['minDisk: 20', 'dataCentres.4.minDisk'],
    ] as const)
      expect(() => parseCatalog(text, 'c.yaml')).toThrow(
        `c.yaml, line ${at(text, written)}: ${key}: the catalogue has no such key`,
      )
  })

  test('several faults come at once', () => {
    const text = shipped
      .replace('svm: false', 'svm: 1')
      .replace('cpu: 16', 'cpu: lots')
      .replace('country: SG', 'country: Singapore')
    expect(() => parseCatalog(text, 'c.yaml')).toThrow(
      /products\.svm[^]*dataCentres\.2\.country[^]*plans\.4\.cpu/,
    )
  })
  test('no YAML, an empty file, a list, no file', () => {
    expect(() => parseCatalog('a: [1', 'c.yaml')).toThrow(/^c\.yaml, line 1: /)
    expect(() => parseCatalog('seller:\n  name: a\n  name: b\n', 'c.yaml')).toThrow(
      /^c\.yaml, line 3: /,
    )
    expect(() => parseCatalog('', 'c.yaml')).toThrow(/^c\.yaml, line 1: the file: /)
    expect(() => parseCatalog('- 1', 'c.yaml')).toThrow(CatalogFault)
    expect(() => loadCatalog('/nowhere/catalog.yaml')).toThrow(
      'The catalogue /nowhere/catalog.yaml cannot be read.',
    )
  })
  test('what grows out of all bounds is refused, not expanded', () => {
    const bomb = [
      'a: &a [x,x,x,x,x,x,x,x,x]',
      ...'bcdefgh'
        .split('')
        .map((name, at) => `${name}: &${name} [${Array(9).fill(`*${'abcdefg'[at]}`).join(',')}]`),
    ].join('\n')
    expect(() => parseCatalog(bomb, 'c.yaml')).toThrow(CatalogFault)
  })
})
