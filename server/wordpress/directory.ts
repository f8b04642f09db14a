/**
 * The edge's host table: which host name belongs to which site, and in what state. It is read from
 * the database; a change is published at once, a missed one within seconds.
 */
import type { Database } from '../platform/db.ts'
import type { Log } from '../platform/log.ts'
import { hostRows, type SiteAddressing } from './store.ts'

/** A host name as the edge gets it: lower case, no port. */
export interface HostTarget {
  readonly host: string
  readonly site: string
  /** `live`: shown as soon as a container answers. */
  readonly state: 'live' | 'starting' | 'suspended' | 'failed'
}

/** The edge, wherever it runs. */
export interface EdgeControl {
  /** All host names that there are from now on. */
  publish(targets: readonly HostTarget[]): Promise<void>
}

export interface Directory {
  /** Something changed: the edge is updated soon. */
  refresh(): void
  /** Resolves when the edge has the table for the first time. */
  start(): Promise<void>
  stop(): void
}

const roundMs = 5000

function stateOf(status: string): HostTarget['state'] | undefined {
  switch (status) {
    // A site that is being set up is shown as soon as it responds: its owner need not wait for our
    // own check.
    case 'provisioning':
    case 'running':
      return 'live'
    case 'pending_payment':
      return 'starting'
    case 'suspended':
    case 'failed':
      return status
    default:
      return undefined
  }
}

export function createDirectory(
  db: Database,
  edge: EdgeControl,
  addressing: SiteAddressing,
  log: Log,
): Directory {
  let published: string | undefined
  let publishing: Promise<void> | undefined
  let again = false
  let timer: NodeJS.Timeout | undefined

  async function publish(): Promise<void> {
    const rows = await hostRows(db, addressing.host)
    const targets = rows
      .flatMap(({ id, host, status }): HostTarget[] => {
        const state = stateOf(status)
        return state ? [{ host, site: id, state }] : []
      })
      .toSorted((a, b) => (a.host < b.host ? -1 : 1))
    const text = JSON.stringify(targets)
    if (text === published) return
    await edge.publish(targets)
    published = text
  }
  /** Publishes one table at a time: an older table must not be sent after a newer one. */
  function refresh(): void {
    if (publishing) {
      again = true
      return
    }
    publishing = publish()
      .catch((error: unknown) => log.warn({ err: error }, 'telling the edge of host names'))
      .finally(() => {
        publishing = undefined
        if (!again) return
        again = false
        refresh()
      })
  }

  return {
    refresh,
    async start() {
      await publish()
      timer = setInterval(refresh, roundMs)
      timer.unref()
    },
    stop: () => clearInterval(timer),
  }
}
