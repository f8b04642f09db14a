/** A gateway that hangs delays only its own customers. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { eventually, openTestPortal, type TestPortal } from '../../test/portal.ts'
import type { PaymentDriver } from './driver.ts'

let portal: TestPortal
let release: () => void = () => undefined
const hanging = new Promise<void>((resolve) => {
  release = resolve
})
const lookUps = { vnpay: 0, alepay: 0 }
beforeAll(async () => {
  portal = await openTestPortal({
    timing: { askGatewaySeconds: [0, 3600] },
    changeDrivers(drivers) {
      const watched = (name: keyof typeof lookUps, before: () => Promise<void>): PaymentDriver => {
        const driver = drivers.payments.get(name)
        if (!driver) throw new Error(`no ${name}`)
        const lookUp = driver.lookUp.bind(driver)
        return {
          ...driver,
          async lookUp(order, about) {
            lookUps[name] += 1
            await before()
            return await lookUp(order, about)
          },
        }
      }
      const payments = new Map(drivers.payments)
      payments.set(
        'vnpay',
        watched('vnpay', () => hanging),
      )
      payments.set(
        'alepay',
        watched('alepay', async () => undefined),
      )
      return { ...drivers, payments }
    },
  })
})
afterAll(async () => {
  release()
  await portal.close()
})

test('the others are asked while one of them answers nothing', async () => {
  const an = await portal.customer()
  const begin = (type: 1 | 2, method: string | null) =>
    portal.call('POST', '/api/payments/checkout', {
      token: an.token,
      body: { amount: 100_000, type, method },
    })
  for (let n = 0; n < 4; n++) expect((await begin(1, 'QRPAY')).status).toBe(200)
  await eventually('as many questions as that gateway has workers', async () => lookUps.vnpay === 2)
  expect((await begin(2, null)).status).toBe(200)
  await eventually('a question to another gateway', async () => lookUps.alepay > 0, 15)
  expect(lookUps.vnpay).toBe(2)
})
