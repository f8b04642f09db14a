/**
 * WordPress as installed manually, to compare with sites in containers: a copy of a site on this
 * machine's PHP-FPM, with that site's own MariaDB; and the engine's own commands that make a site,
 * one after the other. This machine's nginx is the web server of both.
 */
import { execFile, spawn, type ChildProcess } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import fs from 'node:fs/promises'
import http from 'node:http'
import path from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { promisify } from 'node:util'
import { freePort } from './portal.ts'

const run = promisify(execFile)
const nginx = '/usr/sbin/nginx'
const startMs = 30_000
const lookMs = 10

/** This machine's PHP-FPM, such as /usr/sbin/php-fpm8.2; undefined where there is none. */
const phpFpm = (): string | undefined =>
  readdirSync('/usr/sbin')
    .filter((name) => /^php-fpm\d/.test(name))
    .map((name) => path.join('/usr/sbin', name))
    .at(-1)

/** Why a native comparison is impossible here; undefined where it is possible. */
export function withoutNative(): string | undefined {
  if (phpFpm() === undefined) return 'there is no PHP-FPM here (apt-get install php-fpm php-mysql)'
  return existsSync(nginx) ? undefined : 'there is no nginx here'
}

interface Database {
  /** The path as PHP sees it. */
  readonly socket: string
  readonly password: string
}

const configOf = (url: string, { socket, password }: Database): string => `<?php
define( 'WP_HOME', '${url}' );
define( 'WP_SITEURL', '${url}' );
define( 'DB_NAME', 'wordpress' );
define( 'DB_USER', 'wordpress' );
define( 'DB_PASSWORD', '${password}' );
define( 'DB_HOST', 'localhost:${socket}' );
define( 'DB_CHARSET', 'utf8mb4' );
define( 'DB_COLLATE', 'utf8mb4_unicode_520_ci' );
define( 'DISABLE_WP_CRON', true );
define( 'WP_HTTP_BLOCK_EXTERNAL', true );
$table_prefix = 'wp_';
defined( 'ABSPATH' ) || define( 'ABSPATH', __DIR__ . '/' );
require_once ABSPATH . 'wp-settings.php';
`

/**
 * The same settings as for PHP in containers (php-files.ts), so that neither side has an advantage.
 */
const opcache = [
  'opcache.enable=1',
  'opcache.memory_consumption=100',
  'opcache.interned_strings_buffer=8',
  'opcache.max_accelerated_files=16000',
  'opcache.revalidate_freq=0',
  'opcache.jit=0',
  'realpath_cache_size=4096k',
]

const poolOf = (socket: string, user?: number): string => `[global]
error_log = /proc/self/fd/2
daemonize = no
[www]
listen = ${socket}
listen.mode = 0666
${user === undefined ? '' : `user = ${user}\ngroup = ${user}`}
pm = ondemand
pm.max_children = 64
pm.process_idle_timeout = 300s
catch_workers_output = yes
`

/** nginx in front of PHP's socket; `root` is where PHP finds the files. */
async function serve(folder: string, socket: string, root: string) {
  const port = await freePort()
  const file = path.join(folder, 'nginx.conf')
  const params = [
    `SCRIPT_FILENAME ${root}/index.php`,
    `DOCUMENT_ROOT ${root}`,
    'SCRIPT_NAME /index.php',
    'REQUEST_URI $request_uri',
    'QUERY_STRING $query_string',
    'REQUEST_METHOD $request_method',
    'SERVER_PROTOCOL $server_protocol',
    'REMOTE_ADDR $remote_addr',
    'SERVER_NAME $host',
    'SERVER_PORT 80',
  ]
  await fs.writeFile(
    file,
    `daemon off; worker_processes 1; pid ${folder}/nginx.pid; error_log stderr error; user root;
events { worker_connections 256; }
http {
  access_log off;
  client_body_temp_path ${folder}/body; fastcgi_temp_path ${folder}/fastcgi;
  proxy_temp_path ${folder}/proxy; uwsgi_temp_path ${folder}/uwsgi; scgi_temp_path ${folder}/scgi;
  server {
    listen 127.0.0.1:${port};
    location / {
${params.map((one) => `      fastcgi_param ${one};`).join('\n')}
      fastcgi_pass unix:${socket};
    }
  }
}
`,
  )
  const child = spawn(nginx, ['-c', file, '-p', folder], { stdio: 'ignore' })
  return { port, child }
}

/** The status of the front page; 0: no answer. */
export const frontOf = (port: number, host: string): Promise<number> =>
  new Promise((resolve) => {
    http
      .get({ host: '127.0.0.1', port, path: '/', headers: { host }, agent: false }, (answer) =>
        answer.resume().once('end', () => resolve(answer.statusCode ?? 0)),
      )
      .once('error', () => resolve(0))
  })

async function untilFront(port: number, host: string): Promise<void> {
  const until = performance.now() + startMs
  for (;;) {
    const status = await frontOf(port, host)
    if (status === 200) return
    if (performance.now() > until) throw new Error(`the native site answers ${status}`)
    await pause(lookMs)
  }
}

/** CPU time of a process and its children, ms; proc(5), schedstat. */
function cpuMsOf(pid: number): number {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim()
  const [own = 0] = readFileSync(`/proc/${pid}/schedstat`, 'utf8').split(' ').map(Number)
  const below = children === '' ? [] : children.split(' ').map(Number)
  return below.reduce((sum, one) => sum + cpuMsOf(one), own / 1e6)
}

const ended = (child: ChildProcess): Promise<unknown> =>
  child.exitCode === null
    ? new Promise((resolve) => child.once('exit', resolve))
    : Promise.resolve()

export interface NativeSite {
  readonly port: number
  /** CPU time of PHP alone so far, ms. */
  phpCpuMs(): number
  webCpuMs(): number
  stop(): Promise<void>
}

/**
 * A copy of a site's files without the portal's additions, on this machine's PHP-FPM.
 * @param siteDir as the driver lays it out
 */
export async function startNative(siteDir: string, url: string): Promise<NativeSite> {
  const folder = path.join(siteDir, '..', '..', 'native')
  const root = path.join(folder, 'files')
  const files = path.join(siteDir, 'wordpress', 'files')
  const { uid } = await fs.stat(files)
  await fs.mkdir(folder)
  await fs.chmod(folder, 0o755)
  await run('cp', ['-a', files, root])
  await fs.rm(path.join(root, 'wp-content', 'db.php'))
  const secret = await fs.readFile(path.join(siteDir, 'secrets', 'database-password'), 'utf8')
  const database = {
    socket: path.join(siteDir, 'database-run', 'mysqld.sock'),
    password: secret.trim(),
  }
  await fs.writeFile(path.join(root, 'wp-config.php'), configOf(url, database))
  await fs.chown(path.join(root, 'wp-config.php'), uid, uid)
  const socket = path.join(folder, 'php.sock')
  const pool = path.join(folder, 'fpm.conf')
  await fs.writeFile(pool, poolOf(socket, uid))
  const php = spawn(phpFpm() ?? '', ['-F', '-y', pool, ...opcache.flatMap((one) => ['-d', one])], {
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  const web = await serve(folder, socket, root)
  const stop = async (): Promise<void> => {
    for (const child of [web.child, php]) {
      child.kill('SIGTERM')
      await ended(child)
    }
    await fs.rm(folder, { recursive: true, force: true })
  }
  try {
    await untilFront(web.port, new URL(url).host)
  } catch (error) {
    await stop()
    throw error
  }
  return {
    port: web.port,
    phpCpuMs: () => cpuMsOf(php.pid ?? 0),
    webCpuMs: () => cpuMsOf(web.child.pid ?? 0),
    stop,
  }
}

const installCode = `<?php
define( 'WP_INSTALLING', true );
for ( $left = 3000; $left > 0; $left-- ) {
	try {
		mysqli_connect( 'localhost', 'wordpress', 'bare', 'wordpress', 0, '/run/mysqld/mysqld.sock' );
		break;
	} catch ( mysqli_sql_exception $error ) {
		usleep( 10000 );
	}
}
require '/wordpress/wp-load.php';
require_once ABSPATH . 'wp-admin/includes/upgrade.php';
wp_install( 'Bare', 'boss', 'boss@example.com', true, '', 'Another#1pass' );
`

/**
 * Makes a site by the engine's own commands: files are copied, both containers start, WordPress is
 * installed, and a page arrives. Returns how long that took, ms; removes everything.
 */
export async function bareOrder(parts: {
  readonly docker: (...args: string[]) => Promise<string>
  readonly images: { readonly wordpress: string; readonly mariadb: string }
  /** A folder on the sites' disk. */
  readonly folder: string
  readonly filesDir: string
}): Promise<number> {
  const { docker, images, folder, filesDir } = parts
  const at = (name: string): string => path.join(folder, name)
  const host = 'bare.localhost'
  let web: Awaited<ReturnType<typeof serve>> | undefined
  const began = performance.now()
  try {
    await fs.mkdir(folder)
    await fs.chmod(folder, 0o755)
    for (const name of ['data', 'run', 'talk']) {
      await fs.mkdir(at(name))
      await fs.chmod(at(name), 0o777)
    }
    const volume = (name: string, to: string): string => `--volume=${at(name)}:${to}`
    const runs = ['run', '-d', '--network=none', volume('run', '/run/mysqld')]
    const database = docker(
      ...runs,
      '--name=bare-database',
      volume('data', '/var/lib/mysql'),
      '--env=MARIADB_DATABASE=wordpress',
      '--env=MARIADB_USER=wordpress',
      '--env=MARIADB_PASSWORD=bare',
      images.mariadb,
    )
    await run('cp', ['-a', filesDir, at('files')])
    const socket = { socket: '/run/mysqld/mysqld.sock', password: 'bare' }
    await fs.writeFile(at('files/wp-config.php'), configOf(`http://${host}`, socket))
    await fs.writeFile(at('files/install-bare.php'), installCode)
    await fs.writeFile(at('fpm.conf'), poolOf('/run/portal/php.sock'))
    for (const name of ['files/wp-config.php', 'files/install-bare.php', 'fpm.conf'])
      await fs.chmod(at(name), 0o644)
    await database
    await docker(
      ...runs,
      '--name=bare-web',
      volume('files', '/wordpress'),
      volume('talk', '/run/portal'),
      volume('fpm.conf', '/fpm.conf'),
      images.wordpress,
      'php-fpm',
      '-F',
      '-y',
      '/fpm.conf',
    )
    await docker('exec', 'bare-web', 'php', '/wordpress/install-bare.php')
    web = await serve(folder, at('talk/php.sock'), '/wordpress')
    await untilFront(web.port, host)
    return performance.now() - began
  } finally {
    await docker('rm', '-f', '-v', 'bare-web', 'bare-database').catch(() => '')
    web?.child.kill('SIGTERM')
    if (web) await ended(web.child)
    await fs.rm(folder, { recursive: true, force: true })
  }
}
