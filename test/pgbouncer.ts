/** A real PgBouncer in transaction mode in front of a test's server, where one is installed. */
import { spawn, spawnSync, type ChildProcess } from 'node:child_process'
import { chmodSync, chownSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import pg from 'pg'
import { chooseUser } from '../server/platform/postgres/binaries.ts'
import { eventually, freePort } from './portal.ts'
import type { PostgresServer } from './postgres-server.ts'

const program = process.env['PGBOUNCER'] ?? 'pgbouncer'
export const hasPgbouncer = spawnSync(program, ['--version']).status === 0

export interface Pgbouncer {
  /** The URL of the server's database `portal` through it, as the owner. */
  readonly url: string
  start(): Promise<void>
  kill(): Promise<void>
  close(): Promise<void>
}

/** At most `poolSize` connections to the server. */
export async function openPgbouncer(server: PostgresServer, poolSize: number): Promise<Pgbouncer> {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'portal-pgbouncer-'))
  const runAs = chooseUser(folder, undefined)
  const port = await freePort()
  const { username, password } = new URL(server.url)
  const file = (name: string, content: string): string => {
    const place = path.join(folder, name)
    writeFileSync(place, content, { mode: 0o600 })
    if (runAs.uid !== undefined) chownSync(place, runAs.uid, runAs.gid ?? runAs.uid)
    return place
  }
  chmodSync(folder, 0o755)
  const users = file('users', `"${username}" "${password}"\n`)
  const settings = file(
    'pgbouncer.ini',
    [
      '[databases]',
      `portal = host=127.0.0.1 port=${server.port} pool_size=${poolSize}`,
      '[pgbouncer]',
      'listen_addr = 127.0.0.1',
      `listen_port = ${port}`,
      'unix_socket_dir =',
      'pool_mode = transaction',
      'auth_type = scram-sha-256',
      `auth_file = ${users}`,
      'server_login_retry = 1',
      'query_wait_timeout = 5',
    ].join('\n'),
  )
  const url = server.url.replace(/@[^/]+/, `@127.0.0.1:${port}`)
  let child: ChildProcess | undefined
  const pooler: Pgbouncer = {
    url,
    async start() {
      child = spawn(program, [settings], { ...runAs, cwd: '/', stdio: 'ignore' })
      await eventually('PgBouncer', async () => {
        const client = new pg.Client({ connectionString: url })
        client.on('error', () => undefined)
        return await client.connect().then(
          () => client.end().then(() => true),
          () => false,
        )
      })
    },
    async kill() {
      const ending = child
      child = undefined
      if (!ending) return
      const gone = new Promise((resolve) => ending.once('exit', resolve))
      ending.kill('SIGKILL')
      await gone
    },
    async close() {
      await pooler.kill()
      rmSync(folder, { recursive: true, force: true })
    },
  }
  await pooler.start()
  return pooler
}
