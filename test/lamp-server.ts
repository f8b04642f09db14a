/**
 * A conventional host, with PHP and MariaDB of the distribution, for a site that is exported from
 * the portal.
 */
import { execFileSync, spawn, spawnSync, type ChildProcess } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { eventually, freePort } from './portal.ts'

/** Programs that it needs and this machine lacks. */
export const missingForLamp = (): string[] =>
  ['mariadbd', 'mariadb-install-db', 'mariadb', 'mariadb-dump', 'php'].filter(
    (program) => spawnSync(program, ['--version']).status === null,
  )

export interface LampServer {
  /** The web server's folder. */
  readonly folder: string
  /** Lines for wp-config.php. */
  readonly settings: Readonly<Record<'DB_NAME' | 'DB_USER' | 'DB_PASSWORD' | 'DB_HOST', string>>
  /** Runs SQL in its database; returns what the client printed, with tabs between values. */
  sql(text: string): string
  /** The output of `mariadb-dump` for its database, with these options. */
  dump(...options: readonly string[]): Buffer
  /** Starts PHP on the folder; returns the address. */
  serve(): Promise<string>
  close(): Promise<void>
}

const ended = (child: ChildProcess): Promise<unknown> =>
  child.exitCode !== null || child.signalCode !== null
    ? Promise.resolve()
    : new Promise((resolve) => child.once('exit', resolve))

/** Resolves when its database accepts statements. */
export async function openLampServer(): Promise<LampServer> {
  const root = mkdtempSync(path.join(os.tmpdir(), 'portal-lamp-'))
  const [data, folder, socket] = ['data', 'www', 'db.sock'].map((one) => path.join(root, one)) as [
    string,
    string,
    string,
  ]
  // As root, `--user=root` is needed: another user could not enter this run's folder.
  const asUser = process.getuid?.() === 0 ? ['--user=root'] : []
  execFileSync(
    'mariadb-install-db',
    [
      '--no-defaults',
      ...asUser,
      `--datadir=${data}`,
      '--skip-test-db',
      '--auth-root-authentication-method=normal',
    ],
    { stdio: 'ignore' },
  )
  const database = spawn(
    'mariadbd',
    ['--no-defaults', ...asUser, `--datadir=${data}`, `--socket=${socket}`, '--skip-networking'],
    { stdio: 'ignore' },
  )
  const client = (input: string, ...args: string[]) =>
    spawnSync(
      'mariadb',
      [
        '--no-defaults',
        `--socket=${socket}`,
        '--user=root',
        '--batch',
        '--skip-column-names',
        '--default-character-set=utf8mb4',
        ...args,
      ],
      { input, encoding: 'utf8', maxBuffer: 2 ** 28 },
    )
  await eventually('MariaDB', async () => client('select 1').status === 0, 30)
  client('create database wordpress')
  let php: ChildProcess | undefined
  return {
    folder,
    settings: {
      DB_NAME: 'wordpress',
      DB_USER: 'root',
      DB_PASSWORD: '',
      DB_HOST: `localhost:${socket}`,
    },
    sql(text) {
      const { status, stdout, stderr } = client(text, 'wordpress')
      if (status !== 0) throw new Error(stderr)
      return stdout
    },
    dump: (...options) =>
      execFileSync(
        'mariadb-dump',
        ['--no-defaults', `--socket=${socket}`, '--user=root', ...options, 'wordpress'],
        { maxBuffer: 2 ** 28 },
      ),
    async serve() {
      const port = await freePort()
      php = spawn('php', ['-S', `127.0.0.1:${port}`, '-t', folder], { stdio: 'ignore' })
      const address = `http://127.0.0.1:${port}`
      await eventually(
        'PHP',
        async () => (await fetch(`${address}/license.txt`).catch(() => undefined))?.ok === true,
        30,
      )
      return address
    },
    async close() {
      for (const child of [php, database]) {
        child?.kill('SIGTERM')
        if (child) await ended(child)
      }
      rmSync(root, { recursive: true, force: true, maxRetries: 3 })
    },
  }
}
