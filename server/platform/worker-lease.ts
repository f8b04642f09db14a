/**
 * The lease of a process with a job worker: a shared advisory lock, on a connection of its own, so
 * that the lease ends with the process. Processes see by it whether others work on the same
 * database. When the connection breaks, the process reconnects and acquires the lease again.
 */
import { setTimeout as pause } from 'node:timers/promises'
import { sql } from 'kysely'
import type pg from 'pg'
import { newClient } from './database-client.ts'
import type { Queryable } from './db.ts'
import { lockKeys } from './lock-keys.ts'
import type { Log } from './log.ts'

const firstPauseMs = 250
const longestPauseMs = 10_000
/** TCP does not report a peer that has vanished, so the connection is probed by a query. */
const heartbeatMs = 15_000
/** Long enough for another process to requeue orphaned jobs while this one waits for the lock. */
const answerMs = 30_000
const closeTimeoutMs = 1000

export interface WorkerLease {
  /**
   * Acquires the lease. When no other process has one, `whenAlone` runs first, and a process that
   * starts meanwhile waits.
   */
  acquireWorkerLease(whenAlone: (session: pg.Client) => Promise<void>): Promise<void>
  /** Whether this process has the lease now. */
  isHeld(): boolean
  release(): Promise<void>
}

export function createWorkerLease(url: string, log: Log): WorkerLease {
  let session: pg.Client | undefined
  /** The connection that is being opened to become the session. */
  let opening: pg.Client | undefined
  let wanted = false
  let pauseMs = firstPauseMs
  let timer: NodeJS.Timeout | undefined
  let heartbeat: NodeJS.Timeout | undefined

  async function open(take: (client: pg.Client) => Promise<void>): Promise<void> {
    const client = newClient(url, {
      application_name: 'portal-presence',
      query_timeout: answerMs,
    })
    client.on('error', (error) => {
      if (wanted) log.warn({ err: error }, 'the connection of the worker lease broke')
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
    reacquireSoon()
  }
  function reacquireSoon(): void {
    if (!wanted) return
    timer = setTimeout(() => void reacquire(), pauseMs)
    timer.unref()
    pauseMs = Math.min(longestPauseMs, pauseMs * 2)
  }
  async function reacquire(): Promise<void> {
    try {
      // Another process that believes to be alone has the lock for a moment; the jobs that it
      // requeued meanwhile run twice and act once.
      await open(async (client) => {
        await client.query('select pg_advisory_lock_shared($1)', [lockKeys.jobWorkers])
      })
    } catch (error) {
      if (wanted) log.warn({ err: error }, 'the worker lease could not be acquired again')
      reacquireSoon()
    }
  }

  return {
    async acquireWorkerLease(whenAlone) {
      wanted = true
      await open(async (client) => {
        const { rows } = await client.query<{ alone: boolean }>(
          'select pg_try_advisory_lock($1) as alone',
          [lockKeys.jobWorkers],
        )
        const isAlone = rows[0]?.alone === true
        if (isAlone) await whenAlone(client)
        await client.query('select pg_advisory_lock_shared($1)', [lockKeys.jobWorkers])
        if (isAlone) await client.query('select pg_advisory_unlock($1)', [lockKeys.jobWorkers])
      })
      heartbeat = setInterval(() => {
        const probed = session
        probed?.query('select 1').catch(() => {
          if (session !== probed) return
          // Does not wait for the end of the connection: when the peer has vanished, that takes as
          // long as TCP's timeout.
          lost()
          void probed.end().catch(() => undefined)
        })
      }, heartbeatMs)
      heartbeat.unref()
    },
    isHeld: () => session !== undefined,
    async release() {
      wanted = false
      clearTimeout(timer)
      clearInterval(heartbeat)
      const open = [session, opening].filter((client) => client !== undefined)
      session = undefined
      await Promise.race([
        Promise.allSettled(open.map((client) => client.end())),
        pause(closeTimeoutMs, undefined, { ref: false }),
      ])
    },
  }
}

/** Whether a process with a worker lease lives on this database, so that added jobs will run. */
export async function hasWorkers(db: Queryable): Promise<boolean> {
  const { rows } = await sql`
    select from pg_locks where locktype = 'advisory' and granted and classid = 0 and objsubid = 1
      and objid = ${lockKeys.jobWorkers}
      and database = (select oid from pg_database where datname = current_database())
    limit 1`.execute(db)
  return rows.length > 0
}
