/** The dns module put together: what the app opens and closes. */
import type { Clock } from '../platform/clock.ts'
import type { Database } from '../platform/db.ts'
import type { Jobs } from '../platform/jobs.ts'
import type { Log } from '../platform/log.ts'
import type { Notices } from '../platform/notices.ts'
import type { EventOutbox } from '../realtime/index.ts'
import type { DelegationCheck } from './delegation/index.ts'
import type { DnsCapabilities, DnsDriver, RecordSet } from './driver.ts'
import { apexTtlSeconds, createPublisher, soaTimes, type Publisher } from './publish.ts'
import { createVerifier, type Verifier } from './verify.ts'

export interface Dns {
  readonly publisher: Publisher
  readonly verifier: Verifier
  readonly capabilities: DnsCapabilities
  /** Names of name servers to choose pairs from. */
  readonly pool: readonly string[]
  /** The zones that hold the name servers' own addresses: nobody's to claim. */
  readonly ownZones: readonly string[]
  /** The SOA's mailbox, as a name. */
  readonly contact: string
  /** Serves everything and opens the driver's ports. */
  start(): Promise<void>
  /** Stops telling, and closes the driver. */
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
  /** What they resolve to. */
  addresses: readonly string[]
}): Dns {
  const { driver, pool } = deps
  const ownZones = [...new Set(pool.map(parentOf))]
  const contact = `hostmaster.${ownZones[0] ?? 'localhost'}`
  const publisher = createPublisher({ ...deps, contact, own: ownZones })
  const verifier = createVerifier({ ...deps, publisher })

  /**
   * Name servers of ours answer for themselves: their addresses are the glue that parents hand on.
   * Elsewhere that is the operator's.
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
      await driver.putZone(
        {
          id: `own:${zone}`,
          name: zone,
          serial: Math.floor(deps.clock.now().getTime() / 1000),
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
