/** Chooses the drivers for SMS and mail by name; no other file does. */
import type { MailDriver, SmsDriver } from '../driver.ts'
import { createEsms } from './esms/index.ts'
import * as esms from './esms/settings.ts'
import { createSmtp } from './smtp/index.ts'
import * as smtp from './smtp/settings.ts'

/**
 * Settings: a zod schema of what the driver needs; environment: the variable each setting is read
 * from.
 */
export const smsDrivers = {
  esms: { settings: esms.settings, environment: esms.environment, create: createEsms },
} as const
export const mailDrivers = {
  smtp: { settings: smtp.settings, environment: smtp.environment, create: createSmtp },
} as const

/** Opens the named SMS driver. Throws a ZodError that names each wrong setting. */
export function createSmsDriver(name: keyof typeof smsDrivers, settings: unknown): SmsDriver {
  const driver = smsDrivers[name]
  return driver.create(driver.settings.parse(settings))
}

/** Opens the named mail driver. Throws a ZodError that names each wrong setting. */
export function createMailDriver(name: keyof typeof mailDrivers, settings: unknown): MailDriver {
  const driver = mailDrivers[name]
  return driver.create(driver.settings.parse(settings))
}
