/** A database beside the portal's own, to restore a backup into on trial. */
import { randomBytes } from 'node:crypto'
import type pg from 'pg'
import { withDatabaseName } from '../platform/database-address.ts'
import { newClient } from '../platform/database-client.ts'
import { quoted } from './dump.ts'
import { BackupFault } from './fault.ts'

const prefix = 'portal_verify_'
/** An older one was left by a killed process. */
const oldSeconds = 24 * 3600

/** Drops those of killed processes; one that cannot be dropped stays. */
async function dropOld(client: pg.Client): Promise<void> {
  const { rows } = await client.query<{ name: string }>(
    `select datname as name from pg_database where datname ~ '^${prefix}[0-9]+_'
      and split_part(datname, '_', 3)::bigint < extract(epoch from now()) - ${oldSeconds}`,
  )
  for (const { name } of rows)
    await client.query(`drop database ${quoted(name)} with (force)`).catch(() => undefined)
}

/** Whether the role of a connection may make databases; a sentence where it may not. */
async function whyNone(client: pg.Client): Promise<string | undefined> {
  const { rows } = await client.query<{ role: string; may: boolean }>(
    `select rolname as role, rolcreatedb or rolsuper as may
      from pg_roles where rolname = current_user`,
  )
  const [found] = rows
  if (!found || found.may) return undefined
  return (
    `The role ${found.role} of DATABASE_URL may not make a scratch database, so no backup can be ` +
    `restored on trial: run "alter role ${quoted(found.role)} createdb" as a superuser.`
  )
}

/**
 * Why no backup can be test-restored beside this database, as a sentence; undefined: it is
 * possible.
 */
export async function whyNoScratchDatabase(url: string): Promise<string | undefined> {
  const client = newClient(url, { application_name: 'portal-backup' })
  client.on('error', () => undefined)
  await client.connect()
  try {
    return await whyNone(client)
  } finally {
    await client.end()
  }
}

/**
 * Runs `work` on an empty database of the same server, and drops it. The role of `url` must be
 * allowed to make databases (CREATEDB).
 * @throws BackupFault where it is not
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
    const why = await whyNone(client)
    if (why !== undefined) throw new BackupFault(why)
    await dropOld(client)
    await client.query(`create database ${quoted(name)}`)
  })
  try {
    return await work(withDatabaseName(url, name))
  } finally {
    await asOwner((client) => client.query(`drop database ${quoted(name)} with (force)`))
  }
}
