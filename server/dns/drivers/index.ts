// The drivers by name; no other file names one.
import type { DnsDriver } from '../driver.ts'
import { createCloudflare } from './cloudflare/index.ts'
import * as cloudflare from './cloudflare/settings.ts'
import { createPowerdns } from './powerdns/index.ts'
import * as powerdns from './powerdns/settings.ts'

export { connectNameServer } from './remote/index.ts'

export const dnsDrivers = {
  powerdns: {
    create: (settings: unknown): DnsDriver => createPowerdns(powerdns.settings.parse(settings)),
  },
  cloudflare: {
    create: (settings: unknown): DnsDriver => createCloudflare(cloudflare.settings.parse(settings)),
  },
} as const
