/** The edge's map: which host name is which site, and in what state. Read from the database; a change is heard at once, a missed one within seconds. */
import type { Database } from '../platform/db.ts'
import type { Log } from '../platform/log.ts'
import type { SiteAddress, WordpressDriver } from './driver.ts'
import { hostRows, type SiteAddressing } from './store.ts'

export interface HostTarget {
  readonly state: 'running' | 'starting' | 'suspended' | 'failed' | 'unknown'
  readonly addresses: readonly SiteAddress[]
}

export interface Directory {
  /** `host` as the browser sent it, with or without a port. */
  resolve(host: string): HostTarget
  refresh(): void
  start(): Promise<void>
  stop(): void
}

const roundMs = 5000
const unknown: HostTarget = { state: 'unknown', addresses: [] }

export function createDirectory(db: Database, driver: WordpressDriver, addressing: SiteAddressing, log: Log): Directory {
  let hosts = new Map<string, { id: string; status: string }>()
  let timer: NodeJS.Timeout | undefined

  async function read(): Promise<void> {
    const rows = await hostRows(db, addressing.host)
    hosts = new Map(rows.map(({ id, host, status }) => [host, { id, status }]))
  }
  const refresh = (): void => {
    read().catch((error: unknown) => log.warn({ err: error }, 'reading the host names'))
  }

  return {
    resolve(host) {
      const site = hosts.get(host.toLowerCase().replace(/:\d+$/, '').replace(/\.$/, ''))
      switch (site?.status) {
        // While it is being set up it is shown as soon as it answers: its owner need not wait for our own check.
        case 'provisioning':
        case 'running': {
          const addresses = driver.addresses(site.id)
          return { state: addresses.length > 0 ? 'running' : 'starting', addresses }
        }
        case 'pending_payment':
          return { state: 'starting', addresses: [] }
        case 'suspended':
          return { state: 'suspended', addresses: [] }
        case 'failed':
          return { state: 'failed', addresses: [] }
        default:
          return unknown
      }
    },
    refresh,
    async start() {
      await read()
      timer = setInterval(refresh, roundMs)
      timer.unref()
    },
    stop: () => clearInterval(timer),
  }
}
