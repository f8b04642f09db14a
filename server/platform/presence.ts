/**
 * How processes with a worker on one database know of each other: an advisory lock that all of them
 * share, each on a connection of its own, so that it goes with the process. A connection that
 * breaks under a process that lives is opened again, and the lock is taken again.
 */
import { setTimeout as pause } from 'node:timers/promises'
import pg from 'pg'
import { lockKeys } from './lock-keys.ts'
import type { Log } from './log.ts'

const firstPauseMs = 250
const longestPauseMs = 10_000
/** A connection never notices a black hole by itself, so it is asked for a sign of life. */
const heartbeatMs = 15_000
/** Long enough for whoever takes back jobs while the lock is waited for. */
const answerMs = 30_000
const farewellMs = 1000

export interface Presence {
  /**
   * Shows this process to the others. Where it sees none, `alone` runs before, and whoever starts
   * meanwhile waits.
   */
  show(alone: (session: pg.Client) => Promise<void>): Promise<void>
  /** Whether the others see this process now. */
  shown(): boolean
  hide(): Promise<void>
}

export function createPresence(url: string, log: Log): Presence {
  let session: pg.Client | undefined
  /** On its way to be the session. */
  let opening: pg.Client | undefined
  let wanted = false
  let pauseMs = firstPauseMs
  let timer: NodeJS.Timeout | undefined
  let heartbeat: NodeJS.Timeout | undefined

  async function open(take: (client: pg.Client) => Promise<void>): Promise<void> {
    const client = new pg.Client({
      connectionString: url,
      application_name: 'portal-presence',
      keepAlive: true,
      connectionTimeoutMillis: 10_000,
      query_timeout: answerMs,
    })
    client.on('error', (error) => {
      if (wanted) log.warn({ err: error }, 'the presence connection is gone')
    })
    client.on('end', () => {
      if (session === client) lost()
    })
    opening = client
    try {
      await client.connect()
      await take(client)
      if (!wanted) throw new Error('the portal stops')
    } catch (error) {
      void client.end().catch(() => undefined)
      throw error
    } finally {
      opening = undefined
    }
    session = client
    pauseMs = firstPauseMs
  }

  function lost(): void {
    session = undefined
    showAgainSoon()
  }
  function showAgainSoon(): void {
    if (!wanted) return
    timer = setTimeout(() => void showAgain(), pauseMs)
    timer.unref()
    pauseMs = Math.min(longestPauseMs, pauseMs * 2)
  }
  async function showAgain(): Promise<void> {
    try {
      // Whoever believes to be alone just now has it for a moment; what they took back in the
      // meantime runs twice and acts once.
      await open(async (client) => {
        await client.query('select pg_advisory_lock_shared($1)', [lockKeys.jobWorkers])
      })
    } catch (error) {
      if (wanted) log.warn({ err: error }, 'other portals do not see this one')
      showAgainSoon()
    }
  }

  return {
    async show(alone) {
      wanted = true
      await open(async (client) => {
        const { rows } = await client.query<{ alone: boolean }>(
          'select pg_try_advisory_lock($1) as alone',
          [lockKeys.jobWorkers],
        )
        const isAlone = rows[0]?.alone === true
        if (isAlone) await alone(client)
        await client.query('select pg_advisory_lock_shared($1)', [lockKeys.jobWorkers])
        if (isAlone) await client.query('select pg_advisory_unlock($1)', [lockKeys.jobWorkers])
      })
      heartbeat = setInterval(() => {
        const asked = session
        asked?.query('select 1').catch(() => {
          if (session !== asked) return
          // Not waiting for its end: in a black hole that takes as long as TCP is patient.
          lost()
          void asked.end().catch(() => undefined)
        })
      }, heartbeatMs)
      heartbeat.unref()
    },
    shown: () => session !== undefined,
    async hide() {
      wanted = false
      clearTimeout(timer)
      clearInterval(heartbeat)
      const open = [session, opening].filter((client) => client !== undefined)
      session = undefined
      await Promise.race([
        Promise.allSettled(open.map((client) => client.end())),
        pause(farewellMs, undefined, { ref: false }),
      ])
    },
  }
}
