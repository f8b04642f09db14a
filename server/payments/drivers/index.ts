/** The gateways by name. Nothing else picks a driver. */
import type { PaymentDriver } from '../driver.ts'
import { createVnpay } from './vnpay/index.ts'
import * as vnpay from './vnpay/settings.ts'

/** Settings: a zod schema of what the driver needs; environment: the variable each setting is read from. */
export const paymentDrivers = {
  vnpay: { settings: vnpay.settings, environment: vnpay.environment, create: createVnpay },
} as const
export type PaymentDriverName = keyof typeof paymentDrivers

/** Opens the named gateway. Throws a ZodError that names each wrong setting. */
export function createPaymentDriver(name: PaymentDriverName, settings: unknown): PaymentDriver {
  const driver = paymentDrivers[name]
  return driver.create(driver.settings.parse(settings))
}
