import { expect, test } from 'vitest'
import type { Subscription } from '../../contract/billing.ts'
import type { Server } from '../../contract/wordpress.ts'
import { chargedNow, priceWithDisk, priceWithPlan } from './resize-price.ts'

/** BASIC-1 with 10 GB and one container. */
const server = { price: 218_000, replicate: 1 } as Server
const month = {
  periodStart: '2026-11-01T00:00:00.000Z',
  periodEnd: '2026-12-01T00:00:00.000Z',
} as Subscription
const basic = { price: 89_000, sale_price: 0 }
const sale = { price: 189_000, sale_price: 149_000 }

test('another disk changes the disk’s part alone', () => {
  expect(priceWithDisk(server, 10_240, 20_480, 4000)).toBe(258_000)
  expect(priceWithDisk(server, 10_240, 20_480, 0)).toBe(218_000)
})

test('another plan is paid once and once more for each container', () => {
  expect(priceWithPlan(server, basic, sale, 1)).toBe(40_000 + 2 * 149_000)
  expect(priceWithPlan(server, basic, basic, 3)).toBe(40_000 + 4 * 89_000)
})

test('the rest of the month is charged where it grows, and nothing where it does not', () => {
  expect(chargedNow(month, 218_000, 258_000, Date.parse('2026-11-16T00:00:00Z'))).toBe(20_000)
  expect(chargedNow(month, 258_000, 218_000, Date.parse('2026-11-16T00:00:00Z'))).toBe(0)
  expect(chargedNow(month, 218_000, 258_000, Date.parse('2026-12-02T00:00:00Z'))).toBe(0)
  expect(chargedNow(month, 218_000, 258_000, Date.parse('2026-10-31T00:00:00Z'))).toBe(40_000)
})
