/** Assembles the dns module for the app. */
import type { Clock } from '../platform/clock.ts'
import type { Database } from '../platform/db.ts'
import type { Jobs } from '../platform/jobs.ts'
import type { Log } from '../platform/log.ts'
import type { Notices } from '../platform/notices.ts'
import type { EventOutbox } from '../realtime/index.ts'
import { createDnsChallenges, type DnsChallenges } from './challenges.ts'
import type { DelegationCheck } from './delegation/index.ts'
import type { DnsCapabilities, DnsDriver, RecordSet } from './driver.ts'
import { challengeTtlSeconds } from './store.ts'
import { apexTtlSeconds, createPublisher, soaTimes, type Publisher } from './publish.ts'
import { createVerifier, type Verifier } from './verify.ts'

export interface Dns {
  readonly publisher: Publisher
  readonly verifier: Verifier
  readonly challenges: DnsChallenges
  readonly capabilities: DnsCapabilities
  /** Names of name servers from which pairs are chosen. */
  readonly pool: readonly string[]
  /** The zones of the name servers' own addresses: nobody may claim them. */
  readonly ownZones: readonly string[]
  /** The SOA's mailbox in the notation of a name. */
  readonly contact: string
  /** Serves everything and opens the driver's ports. */
  start(): Promise<void>
  /** Stops the synchronisation and closes the driver. */
  stop(): Promise<void>
}

const parentOf = (name: string): string => name.slice(name.indexOf('.') + 1)

export function createDns(deps: {
  db: Database
  clock: Clock
  jobs: Jobs
  log: Log
  outbox: EventOutbox
  notices: Notices
  driver: DnsDriver
  delegation: DelegationCheck
  /** Names of name servers, A-labels without a dot at the end. */
  pool: readonly string[]
  /** The addresses of the name servers. */
  addresses: readonly string[]
  /** The names that a name is an alias of, by public DNS; undefined: no answer. */
  aliasesOf: (name: string) => Promise<readonly string[] | undefined>
}): Dns {
  const { driver, pool } = deps
  /** TXT records of the own zones, by name: answers to certificate authorities. */
  const ownTexts = new Map<string, ReadonlySet<string>>()
  let ownSerial = 0
  const ownZones = [...new Set(pool.map(parentOf))]
  const contact = `hostmaster.${ownZones[0] ?? 'localhost'}`
  const publisher = createPublisher({
    ...deps,
    contact,
    own: ownZones,
    async serveOwn() {
      // Another process of the portal may have served older ones after this one.
      const held = await Promise.all(ownZones.map((zone) => driver.held(zone)))
      if (held.some((one) => !one || one.serial < ownSerial)) await serveOwnZones()
    },
  })
  const verifier = createVerifier({ ...deps, publisher })

  /**
   * Our name servers' addresses are the glue that parents publish. With a third party's name server
   * the operator manages them.
   */
  async function serveOwnZones(): Promise<void> {
    for (const zone of ownZones) {
      const hosts = pool.filter((name) => parentOf(name) === zone)
      const sets = hosts.flatMap((name): RecordSet[] =>
        (['A', 'AAAA'] as const).map((type) => ({
          name,
          type,
          ttlSeconds: apexTtlSeconds,
          proxied: false,
          values: deps.addresses.filter((address) => address.includes(':') === (type === 'AAAA')),
        })),
      )
      for (const [name, texts] of ownTexts)
        if (name.endsWith(`.${zone}`))
          sets.push({
            name,
            type: 'TXT',
            ttlSeconds: challengeTtlSeconds,
            proxied: false,
            values: [...texts],
          })
      ownSerial = Math.max(ownSerial + 1, Math.floor(deps.clock.now().getTime() / 1000))
      await driver.putZone(
        {
          id: `own:${zone}`,
          name: zone,
          serial: ownSerial,
          nameServers: hosts.slice(0, 2),
          apexTtlSeconds,
          soa: { contact, ...soaTimes },
        },
        sets.filter(({ values }) => values.length > 0),
      )
    }
  }

  return {
    publisher,
    verifier,
    challenges: createDnsChallenges({
      ...deps,
      publisher,
      // A third party's name server also serves these zones.
      ownZones: driver.durable ? [] : ownZones,
      async serveOwn(name, texts) {
        if (texts.size > 0) ownTexts.set(name, texts)
        else ownTexts.delete(name)
        await serveOwnZones()
      },
    }),
    capabilities: driver.capabilities,
    pool,
    ownZones,
    contact,
    async start() {
      if (!driver.durable) await serveOwnZones()
      await publisher.start()
      await driver.start()
    },
    async stop() {
      await publisher.stop()
      await driver.close()
    },
  }
}
