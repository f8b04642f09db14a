/**
 * A test's own PostgreSQL server on a TCP port: with TLS, with a replica, to be killed. It is the
 * built-in one, or that of POSTGRES_BIN, such as /usr/lib/postgresql/15/bin.
 */
import { execFileSync, spawn, type ChildProcess } from 'node:child_process'
import {
  appendFileSync,
  chmodSync,
  chownSync,
  mkdtempSync,
  openSync,
  closeSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import pg from 'pg'
import { chooseUser, locateBinaries } from '../server/platform/postgres/binaries.ts'
import { eventually, freePort } from './portal.ts'

export interface PostgresServer {
  readonly port: number
  /** The database `portal` over TCP, as its owner, who is no superuser. */
  readonly url: string
  /** The same as a superuser. */
  readonly adminUrl: string
  readonly folder: string
  /** Starts or restarts it; resolves when it accepts connections. */
  start(): Promise<void>
  /** kill -9 of the postmaster and its backends. */
  kill(): Promise<void>
  /** Stops it at once with a checkpoint, as an operator's supervisor does. */
  stop(): Promise<void>
  /** Runs a statement as superuser. */
  admin<T extends object>(text: string, values?: unknown[]): Promise<T[]>
  /** Another server, which streams from this one; from now on commits wait for it. */
  replica(): Promise<PostgresServer>
  /** Promotes the replica to primary. */
  promote(): Promise<void>
  /** Stops it and removes its folder. */
  close(): Promise<void>
}

const password = 'a-password-of-tests'

function programs(base: string): { initdb: string; postgres: string } {
  const folder = process.env['POSTGRES_BIN']
  if (folder !== undefined)
    return { initdb: path.join(folder, 'initdb'), postgres: path.join(folder, 'postgres') }
  return locateBinaries(base, chooseUser(base, undefined))
}

/** A folder owned by the user that PostgreSQL runs as. */
function newFolder(): string {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'portal-postgres-'))
  chmodSync(folder, 0o755)
  return folder
}

function serverIn(
  base: string,
  port: number,
  settings: Readonly<Record<string, string>>,
): PostgresServer {
  const data = path.join(base, 'pgdata')
  const { postgres } = programs(base)
  const runAs = chooseUser(data, undefined)
  const logFile = path.join(base, 'log')
  let child: ChildProcess | undefined
  const addressOf = (user: string, name: string): string =>
    `postgresql://${user}:${password}@127.0.0.1:${port}/${name}`
  const adminUrl = addressOf('postgres', 'portal')

  const connected = async <T>(work: (client: pg.Client) => Promise<T>): Promise<T> => {
    const client = new pg.Client({
      connectionString: addressOf('postgres', 'postgres'),
      ssl: settings['ssl'] === 'on' ? { rejectUnauthorized: false } : false,
    })
    client.on('error', () => undefined)
    await client.connect()
    try {
      return await work(client)
    } finally {
      await client.end()
    }
  }
  const end = async (signal: NodeJS.Signals): Promise<void> => {
    const ending = child
    child = undefined
    if (!ending || ending.exitCode !== null || ending.signalCode !== null) return
    const gone = new Promise((resolve) => ending.once('exit', resolve))
    ending.kill(signal)
    await gone
  }

  const server: PostgresServer = {
    port,
    url: addressOf('portal', 'portal'),
    adminUrl,
    folder: base,
    async start() {
      const output = openSync(logFile, 'a')
      const args = Object.entries({
        listen_addresses: '127.0.0.1',
        port: String(port),
        unix_socket_directories: '',
        fsync: 'off',
        shared_buffers: '32MB',
        wal_keep_size: '64MB',
        ...settings,
      }).flatMap(([name, value]) => ['-c', `${name}=${value}`])
      const started = spawn(postgres, ['-D', data, ...args], {
        ...runAs,
        cwd: '/',
        env: { LC_ALL: 'C', TZ: 'UTC', PATH: process.env['PATH'] ?? '' },
        stdio: ['ignore', output, output],
      })
      closeSync(output)
      child = started
      await eventually('the start of PostgreSQL', async () => {
        if (started.exitCode !== null)
          throw new Error(`PostgreSQL ended: ${readFileSync(logFile, 'utf8').slice(-2000)}`)
        return await connected(() => Promise.resolve(true)).catch(() => false)
      })
    },
    kill: () => end('SIGKILL'),
    stop: () => end('SIGINT'),
    admin: (text, values) =>
      connected(async (client) => (await client.query(text, values)).rows as never),
    async replica() {
      const other = newFolder()
      await connected(async (client) => {
        // Copies the files while the server runs (the manual's 25.3.3).
        await client.query(`select pg_backup_start('replica', true)`)
        execFileSync('cp', ['-a', data, path.join(other, 'pgdata')])
        const { rows } = await client.query<{ labelfile: string }>(
          'select labelfile from pg_backup_stop()',
        )
        const own = (name: string, content: string): void => {
          const file = path.join(other, 'pgdata', name)
          writeFileSync(file, content)
          if (runAs.uid !== undefined) chownSync(file, runAs.uid, runAs.gid ?? runAs.uid)
        }
        rmSync(path.join(other, 'pgdata', 'postmaster.pid'))
        own('backup_label', rows[0]?.labelfile ?? '')
        own('standby.signal', '')
      })
      const made = serverIn(other, await freePort(), {
        ...settings,
        primary_conninfo:
          `host=127.0.0.1 port=${port} user=postgres password=${password} ` +
          'application_name=replica',
      })
      await made.start()
      await connected((client) =>
        client.query(`alter system set synchronous_standby_names = 'replica'`),
      )
      await connected((client) => client.query('select pg_reload_conf()'))
      await eventually('the replica following', () =>
        connected(async (client) => {
          const { rowCount } = await client.query(
            `select from pg_stat_replication where sync_state = 'sync'`,
          )
          return rowCount === 1
        }),
      )
      return made
    },
    async promote() {
      await connected((client) => client.query('select pg_promote()'))
    },
    async close() {
      await end('SIGQUIT')
      rmSync(base, { recursive: true, force: true, maxRetries: 5 })
    },
  }
  return server
}

/** A running new server with an empty database `portal` and its owner. */
export async function openPostgresServer(
  options: {
    readonly settings?: Readonly<Record<string, string>>
    /** PEM; the server then accepts only TLS connections. */
    readonly tls?: { readonly certificate: string; readonly key: string }
  } = {},
): Promise<PostgresServer> {
  const base = newFolder()
  const data = path.join(base, 'pgdata')
  const runAs = chooseUser(data, undefined)
  const give = (file: string, mode: number): void => {
    chmodSync(file, mode)
    if (runAs.uid !== undefined) chownSync(file, runAs.uid, runAs.gid ?? runAs.uid)
  }
  if (runAs.uid !== undefined) chownSync(base, runAs.uid, runAs.gid ?? runAs.uid)
  const passwordFile = path.join(base, 'password')
  writeFileSync(passwordFile, password)
  give(passwordFile, 0o600)
  execFileSync(
    programs(base).initdb,
    ['-D', data, '-U', 'postgres', '-A', 'scram-sha-256', `--pwfile=${passwordFile}`, '-E', 'UTF8'],
    { ...runAs, cwd: '/', env: { LC_ALL: 'C', PATH: process.env['PATH'] ?? '' }, stdio: 'ignore' },
  )
  const tls: Record<string, string> = {}
  if (options.tls) {
    const [certificate, key] = [path.join(base, 'server.crt'), path.join(base, 'server.key')]
    writeFileSync(certificate, options.tls.certificate)
    writeFileSync(key, options.tls.key)
    give(certificate, 0o644)
    give(key, 0o600)
    Object.assign(tls, { ssl: 'on', ssl_cert_file: certificate, ssl_key_file: key })
    const rules = path.join(data, 'pg_hba.conf')
    writeFileSync(rules, '')
    appendFileSync(rules, 'hostssl all all 127.0.0.1/32 scram-sha-256\n')
  }
  const server = serverIn(base, await freePort(), { ...tls, ...options.settings })
  await server.start()
  await server.admin(`create role portal login createdb password '${password}'`)
  await server.admin('create database portal owner portal')
  return server
}
