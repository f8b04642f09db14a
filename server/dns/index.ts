/** Domains: claimed, proven at the parent zone, kept as records, and told to the name servers. */
export { createDelegation, dnsPort, ownAddresses, ownNameServer } from './addresses.ts'
export type { DnsDriver } from './driver.ts'
export { createDns, type Dns } from './dns.ts'
export { addRecord } from './records.ts'
export { routes } from './routes.ts'
export { isAnswered, isAnsweredFor } from './store.ts'
export { titles } from './titles.ts'
export { createZone } from './zones.ts'
