/**
 * Locks that last longer than a transaction and shorter than the process: PostgreSQL's session
 * advisory locks on one connection of their own. A kill drops them with the connection.
 */
import type pg from 'pg'
import { newClient } from './database-client.ts'

export interface SessionLocks {
  /**
   * Returns a function that releases the lock, or undefined when another holder has it. Throws when
   * the database is away.
   */
  tryLock(key: bigint): Promise<(() => Promise<void>) | undefined>
  close(): Promise<void>
}

export function createSessionLocks(url: string): SessionLocks {
  let client: Promise<pg.Client> | undefined
  // The same session may take its own lock again, so what this process holds is known here.
  const held = new Set<bigint>()

  async function open(): Promise<pg.Client> {
    const opened = newClient(url, { application_name: 'portal-locks', query_timeout: 10_000 })
    const forget = (): void => {
      client = undefined
    }
    // Its locks are gone with it; the next one that is taken opens another connection.
    opened.on('error', forget)
    opened.on('end', forget)
    await opened.connect()
    return opened
  }
  async function session(): Promise<pg.Client> {
    client ??= open()
    try {
      return await client
    } catch (error) {
      client = undefined
      throw error
    }
  }

  async function drop(): Promise<void> {
    const gone = client
    client = undefined
    await (await gone?.catch(() => undefined))?.end().catch(() => undefined)
  }

  return {
    async tryLock(key) {
      if (held.has(key)) return undefined
      held.add(key)
      try {
        const { rows } = await (
          await session()
        ).query<{ held: boolean }>('select pg_try_advisory_lock($1) as held', [String(key)])
        if (rows[0]?.held !== true) {
          held.delete(key)
          return undefined
        }
      } catch (error) {
        held.delete(key)
        // The query may have taken the lock although its response was lost: closing the connection
        // releases it.
        await drop()
        throw error
      }
      return async () => {
        held.delete(key)
        await (
          await client
        )
          ?.query('select pg_advisory_unlock($1)', [String(key)])
          .catch(() => undefined)
      }
    },
    close: drop,
  }
}
