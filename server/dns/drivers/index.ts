// The drivers by name. Nothing else names one.
import type { DnsDriver } from '../driver.ts'
import { createCloudflare } from './cloudflare/index.ts'
import * as cloudflare from './cloudflare/settings.ts'
import { createEmbedded, type NameServer } from './embedded/index.ts'
import type { Settings as EmbeddedSettings } from './embedded/settings.ts'
import { createPowerdns } from './powerdns/index.ts'
import * as powerdns from './powerdns/settings.ts'

export { connectNameServer, passOnToNameServer, serveNameServer } from './remote/index.ts'

export const dnsDrivers = {
  embedded: { create: (settings: EmbeddedSettings): NameServer => createEmbedded(settings) },
  powerdns: {
    create: (settings: unknown): DnsDriver => createPowerdns(powerdns.settings.parse(settings)),
  },
  cloudflare: {
    create: (settings: unknown): DnsDriver => createCloudflare(cloudflare.settings.parse(settings)),
  },
} as const
