/**
 * Short notices between the processes of a portal, by PostgreSQL's LISTEN and NOTIFY on one
 * connection. A notice is a hint that spares others a query. It may be lost; the tables are
 * authoritative. TCP does not report a peer that has vanished, so a query probes the connection.
 */
import type pg from 'pg'
import { newClient } from './database-client.ts'
import type { Log } from './log.ts'

const heartbeatMs = 15_000
const reconnectMs = 500
/** Notices within this time are sent together. */
const gatherMs = 10
/** PostgreSQL takes payloads of less than 8000 bytes. */
const longestPayload = 7000

export interface Listening {
  onNotice(payload: string): void
  /**
   * Notices are heard from now on; `again` after an interruption, in which some may have been lost.
   * The first time it is waited for.
   */
  onConnect?(again: boolean): Promise<void> | void
}

export interface Notices {
  /**
   * The channel is a plain identifier. `on` may also be called after `start`; listening then begins
   * soon.
   */
  on(channel: string, listening: Listening): void
  /**
   * Tells every process, this one too; several texts on one channel may arrive as one notice, with
   * spaces between. Outside of transactions, for a NOTIFY in them makes their commits wait for each
   * other. Lost where there is no connection.
   */
  tell(channel: string, text: string): void
  /** Rejects where the first connection fails. */
  start(): Promise<void>
  stop(): Promise<void>
  isConnected(): boolean
}

export function createNotices(url: string, log: Log): Notices {
  const listeners = new Map<string, Listening>()
  const untold = new Map<string, Set<string>>()
  let client: pg.Client | undefined
  let stopped = true
  let connectedBefore = false
  let heartbeat: NodeJS.Timeout | undefined
  let gathering: NodeJS.Timeout | undefined

  const reconnectSoon = (): void => {
    if (!stopped) setTimeout(() => void reconnect(), reconnectMs).unref()
  }
  const lost = (): void => {
    client = undefined
    reconnectSoon()
  }

  async function connect(): Promise<void> {
    const next = newClient(url, { application_name: 'portal-listen', query_timeout: 10_000 })
    next.on('error', (error) => log.warn({ err: error }, 'listen connection'))
    next.on('end', () => {
      if (client === next) lost()
    })
    next.on('notification', ({ channel, payload = '' }) =>
      listeners.get(channel)?.onNotice(payload),
    )
    try {
      await next.connect()
      await next.query([...listeners.keys()].map((channel) => `listen ${channel}`).join('; '))
    } catch (error) {
      // The caller of a failed attempt tries again: two retries for one failure would become four
      // at the next.
      void next.end().catch(() => undefined)
      throw error
    }
    client = next
    const again = connectedBefore
    for (const { onConnect } of listeners.values()) await onConnect?.(again)
    connectedBefore = true
  }
  async function reconnect(): Promise<void> {
    if (stopped || client) return
    try {
      await connect()
    } catch (error) {
      log.warn({ err: error }, 'listen connection')
      reconnectSoon()
    }
  }

  function flush(): void {
    gathering = undefined
    for (const [channel, texts] of untold)
      for (const payload of inPayloads(texts))
        client?.query('select pg_notify($1, $2)', [channel, payload]).catch(() => undefined)
    untold.clear()
  }

  return {
    on(channel, listening) {
      listeners.set(channel, listening)
      client?.query(`listen ${channel}`).catch(() => undefined)
    },
    tell(channel, text) {
      const known = untold.get(channel)
      if (known) known.add(text)
      else untold.set(channel, new Set([text]))
      gathering ??= setTimeout(flush, gatherMs).unref()
    },
    async start() {
      stopped = false
      await connect()
      heartbeat = setInterval(() => {
        const probed = client
        probed?.query('select 1').catch(() => {
          if (client !== probed) return
          // Does not wait for the end of the connection: when the peer has vanished, that takes as
          // long as TCP's timeout.
          lost()
          void probed.end().catch(() => undefined)
        })
      }, heartbeatMs)
      heartbeat.unref()
    },
    async stop() {
      stopped = true
      clearInterval(heartbeat)
      clearTimeout(gathering)
      await client?.end()
    },
    isConnected: () => client !== undefined,
  }
}

/** Texts with spaces between, as many to a payload as it holds. */
function inPayloads(texts: Iterable<string>): string[] {
  const payloads: string[] = []
  let now = ''
  for (const text of texts) {
    const longer = now === '' ? text : `${now} ${text}`
    if (longer.length > longestPayload) payloads.push(now)
    now = longer.length > longestPayload ? text : longer
  }
  return now === '' ? payloads : [...payloads, now]
}
