/**
 * A real PostgreSQL server as a child of this process, for a machine that has none.
 *
 * POSIX: a Unix socket in a private folder and no TCP port. A guard in /bin/sh holds a pipe from
 * the portal: when the pipe closes (a clean stop, a crash or kill -9), the guard asks PostgreSQL
 * for a fast shutdown. The first boot is atomic: initdb in a side folder, then rename. As root the
 * server runs as an ordinary user; where that user cannot reach DATA_DIR (a clone under a closed
 * /root), the data lie under /var/lib and DATA_DIR holds a note that says where.
 */
import { spawn, spawnSync, type ChildProcess } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import fs from 'node:fs'
import net from 'node:net'
import path from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import pg from 'pg'
import { locateBinaries, onWindows } from './binaries.ts'
import { lockKeys } from '../lock-keys.ts'
import { childEnvironment, createCluster, removeLeftovers } from './cluster.ts'
import { clearStaleLock, guardName, hasGuard, isServerOf, readPidFile } from './lock.ts'
import { choosePlace, makeSocketFolder } from './place.ts'

export { placeOf } from './place.ts'

export interface EmbeddedOptions {
  /** Folder that will hold the cluster, its password and its log. */
  readonly folder: string
  readonly database?: string
  /** User to run as when the portal is root. */
  readonly runAsUser?: string | undefined
  /** Extra server settings, such as { fsync: 'off' } in tests. */
  readonly settings?: Readonly<Record<string, string>>
  readonly log?: (line: string) => void
}

export interface EmbeddedPostgres {
  readonly url: string
  readonly adminUrl: string
  /** False when another live process of ours owns the server and we only use it. */
  readonly owner: boolean
  /** Process id of the postmaster, for memory figures. */
  readonly pid: number
  /** Resolves with the reason when the server ends without stop() having been asked for. */
  readonly died: Promise<string>
  stop(): Promise<void>
}

const guardScript = `
exec 3<&0 </dev/null
"$@" 3<&- &
pg=$!
( while read -r _ <&3; do :; done; kill -INT "$pg" 2>/dev/null ) &
guard=$!
exec 3<&-
trap 'kill -INT "$pg" 2>/dev/null' INT TERM HUP
while kill -0 "$pg" 2>/dev/null; do wait "$pg"; code=$?; done
kill "$guard" 2>/dev/null
exit "$code"`

const freePort = (): Promise<number> =>
  new Promise((resolve, reject) => {
    const server = net
      .createServer()
      .once('error', reject)
      .listen(0, '127.0.0.1', () => {
        const { port } = server.address() as net.AddressInfo
        server.close(() => {
          resolve(port)
        })
      })
  })

/** Role and database of the application. The role is no superuser, as on a managed server. */
async function ensureDatabase(adminUrl: string, database: string, password: string): Promise<void> {
  const admin = new pg.Client({ connectionString: adminUrl })
  await admin.connect()
  try {
    await admin.query('select pg_advisory_lock($1)', [lockKeys.makeDatabase])
    if (
      (await admin.query('select 1 from pg_roles where rolname = $1', [database])).rowCount === 0
    ) {
      await admin.query(
        `create role ${admin.escapeIdentifier(database)} login createdb password
          ${admin.escapeLiteral(password)}`,
      )
    }
    if (
      (await admin.query('select 1 from pg_database where datname = $1', [database])).rowCount === 0
    ) {
      await admin.query(
        `create database ${admin.escapeIdentifier(database)} owner
          ${admin.escapeIdentifier(database)}`,
      )
    }
  } finally {
    await admin.end()
  }
}

/**
 * Boots the cluster (creating it at the first start) or joins the one that another process of ours
 * already runs. Throws a sentence for the operator.
 */
export async function startEmbeddedPostgres(options: EmbeddedOptions): Promise<EmbeddedPostgres> {
  const log = options.log ?? (() => undefined)
  const database = options.database ?? 'portal'
  const { base, runAs } = choosePlace(options.folder, options.runAsUser)
  const dataFolder = path.join(base, 'pgdata')
  const binaries = locateBinaries(base, runAs)

  const passwordFile = path.join(base, 'password')
  if (!fs.existsSync(passwordFile))
    fs.writeFileSync(passwordFile, randomBytes(24).toString('base64url'), {
      mode: 0o600,
      flag: 'wx',
    })
  const password = fs.readFileSync(passwordFile, 'utf8').trim()
  const socketFolder = makeSocketFolder(base, runAs)

  const logFile = path.join(base, 'postgres.log')
  if (fs.existsSync(logFile) && fs.statSync(logFile).size > 10_000_000)
    fs.renameSync(logFile, `${logFile}.1`)
  const logTail = (): string =>
    fs.existsSync(logFile)
      ? fs.readFileSync(logFile, 'utf8').trimEnd().split('\n').slice(-8).join('\n')
      : ''

  removeLeftovers(base)
  if (!fs.existsSync(path.join(dataFolder, 'PG_VERSION')))
    await createCluster(base, dataFolder, password, binaries, runAs)
  const major = fs.readFileSync(path.join(dataFolder, 'PG_VERSION'), 'utf8').trim()
  if (major !== binaries.version.split('.')[0]) {
    throw new Error(
      `${dataFolder} was made by PostgreSQL ${major}, this build has ${binaries.version}. ` +
        'Export it with the old version first.',
    )
  }

  const port = onWindows ? await freePort() : 5432
  const settings: Record<string, string> = {
    listen_addresses: onWindows ? '127.0.0.1' : '',
    port: String(port),
    max_connections: '80',
    shared_buffers: '64MB',
    max_wal_size: '256MB',
    log_min_messages: 'warning',
    password_encryption: 'scram-sha-256',
    ...(onWindows
      ? {}
      : { unix_socket_directories: socketFolder, unix_socket_permissions: '0700' }),
    ...options.settings,
  }
  const args = [
    '-D',
    dataFolder,
    ...Object.entries(settings).flatMap(([key, value]) => ['-c', `${key}=${value}`]),
  ]

  let child: ChildProcess | undefined
  let ended: string | undefined
  let up = false
  let stopping: Promise<void> | undefined
  const death = Promise.withResolvers<string>()
  const launch = (): ChildProcess => {
    const output = fs.openSync(logFile, 'a', 0o600)
    try {
      const started = onWindows
        ? spawn(binaries.postgres, args, {
            env: childEnvironment(),
            stdio: ['pipe', output, output],
            windowsHide: true,
          })
        : // Detached: Ctrl-C in the terminal must not reach the database before the portal has
          // finished.
          spawn('/bin/sh', ['-c', guardScript, guardName, binaries.postgres, ...args], {
            ...runAs,
            env: childEnvironment(),
            cwd: '/',
            stdio: ['pipe', output, output],
            detached: true,
          })
      started.on('error', (error) => {
        ended = error.message
      })
      started.on('exit', (code, signal) => {
        ended = `PostgreSQL ended (${signal ?? code})`
        if (up && !stopping) death.resolve(`${ended}\n${logTail()}`)
      })
      return started
    } finally {
      fs.closeSync(output)
    }
  }

  let failures = 0
  // No deadline while a server lives: crash recovery and the shutdown of an earlier server may take
  // long.
  for (let round = 0; ; round++) {
    const lock = readPidFile(dataFolder)
    if (lock && isServerOf(lock.pid, dataFolder)) {
      if (lock.status === 'ready' && hasGuard(lock.pid)) break
      if (lock.status === 'ready') {
        // An orphan: end it cleanly, then start our own.
        process.kill(lock.pid, 'SIGINT')
        await pause(200)
      }
    } else if (child === undefined || ended !== undefined) {
      if (ended !== undefined) {
        if (++failures > 3) throw new Error(`PostgreSQL did not start. ${ended}\n${logTail()}`)
        await pause(300 * failures)
      }
      ended = undefined
      await clearStaleLock(dataFolder, socketFolder)
      child = launch()
    }
    if (round === 400) log('still waiting for PostgreSQL (crash recovery takes its time)')
    await pause(25)
  }
  up = true
  // We lost a race against another process of ours: use its server.
  if (ended !== undefined) child = undefined

  const live = readPidFile(dataFolder)
  const host = onWindows ? `127.0.0.1:${live?.port ?? port}` : 'localhost'
  const query = onWindows
    ? ''
    : `?host=${encodeURIComponent(live?.socketFolder || socketFolder)}&port=${live?.port ?? port}`
  const address = (user: string, name: string): string =>
    `postgresql://${user}:${password}@${host}/${name}${query}`
  await ensureDatabase(address('postgres', 'postgres'), database, password)

  const stop = (): Promise<void> =>
    (stopping ??= (async () => {
      if (!child || child.exitCode !== null || child.signalCode !== null) return
      const gone = new Promise<void>((resolve) => {
        child.once('exit', () => {
          resolve()
        })
      })
      if (onWindows)
        spawnSync(path.join(path.dirname(binaries.postgres), 'pg_ctl.exe'), [
          'stop',
          '-D',
          dataFolder,
          '-m',
          'fast',
          '-w',
        ])
      // The guard answers the closed pipe with SIGINT: a fast shutdown with a checkpoint.
      else child.stdin?.end()
      const late = setTimeout(() => {
        const lock = readPidFile(dataFolder)
        if (lock && isServerOf(lock.pid, dataFolder)) process.kill(lock.pid, 'SIGQUIT')
      }, 20_000)
      await gone
      clearTimeout(late)
    })())

  return {
    url: address(database, database),
    adminUrl: address('postgres', 'postgres'),
    owner: child !== undefined,
    pid: live?.pid ?? 0,
    died: death.promise,
    stop,
  }
}
