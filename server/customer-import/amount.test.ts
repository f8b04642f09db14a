/** Balances are read as people and panels write them, or not at all. */
import { expect, test } from 'vitest'
import { currencies, exponents, toMajor, type Currency } from '../../contract/money.ts'
import { readAmount } from './amount.ts'

const seed = Number(process.env['SEED'] ?? 1)
/** Numbers from a seed (mulberry32). */
function numbers(of: number): () => number {
  let state = of
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}
const grouped = (whole: string, sign: string): string => whole.replaceAll(/\B(?=(\d{3})+$)/g, sign)

/** Every notation of an amount that has one meaning. */
function notations(minor: number, currency: Currency): string[] {
  const [whole = '0', fraction] = toMajor(minor, currency).split('.')
  const plain = fraction === undefined ? [whole] : [`${whole}.${fraction}`, `${whole},${fraction}`]
  // Other panels print đồng with two decimals.
  const decimals = fraction ?? '00'
  const groups = [
    `${grouped(whole, ',')}.${decimals}`,
    `${grouped(whole, '.')},${decimals}`,
    `${whole}.${decimals}`,
    ...(exponents[currency] === 0 ? [grouped(whole, '.'), grouped(whole, ',')] : []),
  ]
  const marks = { VND: ['đ', '₫', ' VND'], AUD: ['A$'], USD: ['$'], EUR: ['€', ' EUR'] }[currency]
  const bare = [...plain, ...groups]
  return [...bare, ...bare.flatMap((text) => marks.flatMap((mark) => [text + mark, mark + text]))]
}

test('every notation of any amount reads as that amount', () => {
  const random = numbers(seed)
  for (let n = 0; n < 1500; n++) {
    const currency = currencies[Math.floor(random() * currencies.length)] ?? 'VND'
    const minor = Math.floor(random() * 10 ** Math.floor(1 + random() * 12))
    for (const text of notations(minor, currency))
      expect(readAmount(text, currency), `${text} ${currency} (SEED=${seed})`).toBe(BigInt(minor))
  }
})

test('any text is an amount that its digits say, or none', () => {
  const random = numbers(seed + 1)
  const signs = '0123456789.,,.- $€đ()e+'
  for (let n = 0; n < 50_000; n++) {
    const currency = currencies[Math.floor(random() * currencies.length)] ?? 'VND'
    const text = Array.from(
      { length: Math.floor(random() * 9) },
      () => signs[Math.floor(random() * signs.length)],
    ).join('')
    const read = readAmount(text, currency)
    if (read === undefined) continue
    expect(read >= 0n && !text.includes('-') && !text.includes('e'), text).toBe(true)
    // No digit is lost or made up, besides zeros behind the point.
    const digits = BigInt(text.replaceAll(/\D/g, ''))
    const same = [0, 1, 2].flatMap((zeros) => [
      read === digits * 10n ** BigInt(zeros),
      digits === read * 10n ** BigInt(zeros),
    ])
    expect(same, `${text} ${currency} reads as ${read}`).toContain(true)
  }
})

test.each([
  ['50.50', 'VND'],
  ['12.345', 'USD'],
  ['1.234', 'EUR'],
  ['1,234,56', 'USD'],
  ['1.23.456', 'EUR'],
  ['1.234,567.00', 'USD'],
  ['-5', 'USD'],
  ['12 USD', 'EUR'],
  ['€12', 'USD'],
  ['', 'VND'],
  ['abc', 'VND'],
  ['1e5', 'VND'],
  ['99999999999999999999', 'VND'],
] as const)('%j is no amount in %s', (text, currency) => {
  expect(readAmount(text, currency)).toBeUndefined()
})
