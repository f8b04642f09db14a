/** A database beside the portal's own, to restore a backup into on trial. */
import { randomBytes } from 'node:crypto'
import type pg from 'pg'
import { withDatabaseName } from '../platform/database-address.ts'
import { newClient } from '../platform/database-client.ts'
import { quoted } from './dump.ts'

const prefix = 'portal_verify_'
/** One that is older was left by a process that was killed. */
const oldSeconds = 24 * 3600

/** Drops those of killed processes; one that cannot be dropped is left. */
async function dropOld(client: pg.Client): Promise<void> {
  const { rows } = await client.query<{ name: string }>(
    `select datname as name from pg_database where datname ~ '^${prefix}[0-9]+_'
      and split_part(datname, '_', 3)::bigint < extract(epoch from now()) - ${oldSeconds}`,
  )
  for (const { name } of rows)
    await client.query(`drop database ${quoted(name)} with (force)`).catch(() => undefined)
}

/**
 * Runs `work` on an empty database of the same server, and drops it. The role of `url` must be
 * allowed to make databases (CREATEDB).
 */
export async function inScratchDatabase<T>(
  url: string,
  work: (scratchUrl: string) => Promise<T>,
): Promise<T> {
  const name = `${prefix}${Math.floor(Date.now() / 1000)}_${randomBytes(4).toString('hex')}`
  const asOwner = async (act: (client: pg.Client) => Promise<unknown>): Promise<void> => {
    const client = newClient(url, { application_name: 'portal-backup' })
    client.on('error', () => undefined)
    await client.connect()
    try {
      await act(client)
    } finally {
      await client.end()
    }
  }
  await asOwner(async (client) => {
    await dropOld(client)
    await client.query(`create database ${quoted(name)}`)
  })
  try {
    return await work(withDatabaseName(url, name))
  } finally {
    await asOwner((client) => client.query(`drop database ${quoted(name)} with (force)`))
  }
}
