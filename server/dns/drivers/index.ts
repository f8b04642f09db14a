// The drivers by name. Nothing else names one.
import type { DnsDriver } from '../driver.ts'
import { createEmbedded } from './embedded/index.ts'
import type { Settings as EmbeddedSettings } from './embedded/settings.ts'

export const dnsDrivers = {
  embedded: { create: (settings: EmbeddedSettings): DnsDriver => createEmbedded(settings) },
} as const
