/** VNPay with a function between the portal and its refunds: the driver is the real one. */
import type { PaymentDriver } from '../server/payments/driver.ts'
import type { TestPortalOptions } from './portal.ts'

type Refund = NonNullable<PaymentDriver['refund']>

/** `between` gets the gateway's own refund function, and its request. */
export const refundsThrough =
  (
    between: (refund: Refund, ...asked: Parameters<Refund>) => ReturnType<Refund>,
  ): NonNullable<TestPortalOptions['changeDrivers']> =>
  (drivers) => {
    const vnpay = drivers.payments.get('vnpay')
    if (!vnpay?.refund) throw new Error('vnpay refunds')
    const refund = vnpay.refund.bind(vnpay)
    const changed: PaymentDriver = {
      ...vnpay,
      refund: (...asked) => between(refund, ...asked),
    }
    return { ...drivers, payments: new Map([...drivers.payments, ['vnpay', changed]]) }
  }
