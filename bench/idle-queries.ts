/** The statements that a portal sends to its database while it is idle. */
import { existsSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import pg from 'pg'

export interface IdleQuery {
  /** The connection's name, as PostgreSQL lists it. */
  readonly connection: string
  readonly text: string
  readonly perSecond: number
}

const prefix = 'idle-query '
/** A log line that begins with our prefix; further lines of the statement follow. */
const entry = new RegExp(`^${prefix}(\\S*) LOG: {2}(?:statement|execute [^:]*): ([\\s\\S]*)$`)

/**
 * Statements during `seconds` seconds, the most frequent first. `dataDir`: the folder of a portal
 * with its own PostgreSQL.
 */
export async function idleQueries(dataDir: string, seconds: number): Promise<IdleQuery[]> {
  const noted = path.join(dataDir, 'postgres', 'location')
  const folder = existsSync(noted)
    ? readFileSync(noted, 'utf8').trim()
    : path.join(dataDir, 'postgres')
  const log = path.join(folder, 'postgres.log')
  const password = readFileSync(path.join(folder, 'password'), 'utf8').trim()
  const admin = new pg.Client({
    connectionString:
      `postgresql://postgres:${password}@localhost/postgres?host=` +
      `${encodeURIComponent(path.join(folder, 'run'))}&port=5432&application_name=bench`,
  })
  await admin.connect()
  try {
    await admin.query(`alter system set log_line_prefix = '${prefix}%a '`)
    await admin.query(`alter system set log_statement = 'all'`)
    await admin.query('select pg_reload_conf()')
    // Other backends apply the change at their next query.
    await pause(2000)
    const from = readFileSync(log, 'utf8').length
    await pause(seconds * 1000)
    const written = readFileSync(log, 'utf8').slice(from)
    const counts = new Map<string, { connection: string; text: string; count: number }>()
    for (const block of written.split(new RegExp(`\\n(?=${prefix})`))) {
      const [, connection = '', text = ''] = entry.exec(block) ?? []
      if (connection === '' || connection === 'bench') continue
      const plain = text
        .replace(/\s+/g, ' ')
        .replace(/'[^']*'/g, "'…'")
        .trim()
      const key = `${connection} ${plain}`
      const known = counts.get(key) ?? { connection, text: plain, count: 0 }
      counts.set(key, { ...known, count: known.count + 1 })
    }
    return [...counts.values()]
      .map(({ count, ...query }) => ({ ...query, perSecond: count / seconds }))
      .toSorted((a, b) => b.perSecond - a.perSecond)
  } finally {
    await admin.query('alter system reset all')
    await admin.query('select pg_reload_conf()')
    await admin.end()
  }
}
