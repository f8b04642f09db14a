/** Ways to pay that a region is offered, by catalog.yaml, the keys and the gateways' currencies. */
import path from 'node:path'
import { expect, test } from 'vitest'
import type { RegionCode } from '../../contract/money.ts'
import { loadCatalog } from '../catalog/index.ts'
import type { PaymentDriver } from './driver.ts'
import { paymentDriverNames, paymentDrivers } from './drivers/index.ts'
import { available, routeOf } from './routing.ts'

const shipped = loadCatalog(path.resolve(import.meta.dirname, '../../catalog.yaml'))
const all = new Map(
  paymentDriverNames.map((name): [string, PaymentDriver] => {
    const { inSandbox, sandboxKeys, open } = paymentDrivers[name]
    const keys = sandboxKeys((purpose) => `derived for ${purpose}`)
    const webhookUrl = `http://127.0.0.1:18080/api/webhooks/${name}`
    return [name, open(inSandbox('http://127.0.0.1:18081', keys), { webhookUrl })]
  }),
)
/** Every row of the table for every region, as a mistaken edit would have it. */
const everywhere = {
  ...shipped,
  payments: {
    ...shipped.payments,
    routing: shipped.payments.routing.map((row) => ({
      ...row,
      regions: Object.keys(shipped.regions) as RegionCode[],
    })),
  },
}

test('a row whose gateway does not take the region’s currency is neither offered nor taken', () => {
  expect(available(everywhere, all, 'VN')).toHaveLength(shipped.payments.routing.length)
  for (const region of ['AUD', 'USD', 'EURO'] as const) {
    expect(available(everywhere, all, region)).toEqual([])
    expect(routeOf(available(everywhere, all, region), 1, 'QRPAY')).toBeUndefined()
  }
})

test('a row whose gateway has no keys is neither offered nor taken', () => {
  const without = new Map([...all].filter(([name]) => name !== 'vnpay'))
  const left = available(shipped, without, 'VN')
  expect(left.map(({ gateway }) => gateway)).toEqual(['bank', 'alepay', 'payos'])
  expect(routeOf(left, 1, 'QRPAY')).toBeUndefined()
  expect(routeOf(left, 2, 'VIETQR')?.gateway).toBe('payos')
})

test('the method decides first, then the type', () => {
  const rows = available(shipped, all, 'VN')
  expect(routeOf(rows, 1, 'ATMCARD')?.channel).toBe('VNBANK')
  expect(routeOf(rows, 1, null)?.gateway).toBe('vnpay')
  expect(routeOf(rows, 2, null)?.gateway).toBe('alepay')
})
