/**
 * Domains: claimed, proven at the parent zone, stored as records, and published to the name
 * servers.
 */
export { createDelegation, dnsPort, ownAddresses, ownNameServer } from './addresses.ts'
export { dropOldChanges } from './change-log.ts'
export type { DnsChallenges } from './challenges.ts'
export { countDomains, domainStates } from './counts.ts'
export type { DnsDriver, NameServerCounts } from './driver.ts'
export { domainName, domainsOfCustomer, findDomains, ownedDomains, waitingDomains } from './desk.ts'
export { forgetRecords } from './forget.ts'
export { giveDomain, holdDomain } from './hand-over.ts'
export { createDns, type Dns } from './dns.ts'
export { addRecord } from './records.ts'
export { routes } from './routes.ts'
export { ownDomains } from './search.ts'
export { isAnswered, isAnsweredFor } from './store.ts'
export { createZoneTexts } from './texts.ts'
export { titles } from './titles.ts'
export { createZone } from './zones.ts'
