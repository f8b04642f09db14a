// One PHP 8.3 in this process, prepared for one site.
import fs from 'node:fs'
import path from 'node:path'
import { rootCertificates } from 'node:tls'
import {
  FileLockManagerForPosix,
  bindUserSpace,
  createNodeFsMountHandler,
  loadNodeRuntime,
} from '@php-wasm/node'
import { PHP } from '@php-wasm/universal'
import { createSpawnHandler } from '@php-wasm/util'
import { databaseFunctions } from './database-functions.js'
import { mailCode } from './mail-php.js'
import { allowListening } from './network-guard.js'
import { pageTagsCode } from './page-tags-php.js'
import { wordpressRoot } from './root.js'
import { writeDropIn, writeSiteConfig } from './site-config.js'

const sqlitePlugin = '/internal/shared/sqlite-database-integration'
const databaseAdditions = '/internal/shared/portal-database.php'
const pageTags = '/internal/shared/portal-page-tags.php'
/** Loaded after the page tags, which must read statements as they were sent. */
const mysqlParts = ['mysql-dates.php', 'mysql-functions.php', 'mysql-statements.php']
/** Shared by the containers of a site; neither served nor backed up. */
const lockDir = `${wordpressRoot}/wp-content/database/.locks`

/** Flags of flock(2), and its error number in Emscripten. */
const lockSharedFlag = 1
const lockNoWait = 4
const wouldBlock = 6

const quoted = (value) =>
  typeof value === 'string' ? `'${value.replace(/[\\']/g, '\\$&')}'` : String(value)

function constants({ phpMemoryMb, internet, debug }) {
  return {
    WP_DEBUG: debug === true,
    WP_DEBUG_DISPLAY: false,
    WP_MEMORY_LIMIT: `${phpMemoryMb}M`,
    WP_MAX_MEMORY_LIMIT: `${phpMemoryMb}M`,
    WP_HTTP_BLOCK_EXTERNAL: !internet,
    AUTOMATIC_UPDATER_DISABLED: !internet,
    DISABLE_WP_CRON: true,
    FS_METHOD: 'direct',
    DB_ENGINE: 'sqlite',
    SQLITE_JOURNAL_MODE: 'DELETE',
    WP_SQLITE_AST_DRIVER: true,
    SQLITE_MAIN_FILE: '1',
  }
}

/**
 * Memory for compiled code, MB: WordPress with its administration fills 25. Code that does not fit
 * is read from the file cache. Memory is only used as it fills.
 */
const opcacheMb = ({ memoryMb }) => Math.min(64, Math.max(32, Math.floor(memoryMb / 32)))

const phpIni = (order) => `auto_prepend_file=/internal/shared/auto_prepend_file.php
memory_limit=${order.phpMemoryMb}M
max_execution_time=${Math.ceil(order.pageMs / 1_000)}
max_input_time=-1
max_input_vars=${order.inputVars ?? 5_000}
upload_max_filesize=${order.uploadMb ?? 64}M
post_max_size=${order.uploadMb ?? 64}M
upload_tmp_dir=/internal/tmp
sys_temp_dir=/internal/tmp
session.save_path=/internal/tmp
error_reporting=E_ALL
display_errors=0
display_startup_errors=0
html_errors=0
log_errors=1
ignore_repeated_errors=1
expose_php=0
allow_url_fopen=1
allow_url_include=0
disable_functions=exec,shell_exec,system,passthru,proc_open,popen,mail
implicit_flush=0
output_buffering=4096
date.timezone=UTC
openssl.cafile=/internal/shared/ca-bundle.crt
curl.cainfo=/internal/shared/ca-bundle.crt
realpath_cache_size=4096k
realpath_cache_ttl=600
opcache.enable=1
opcache.enable_cli=1
opcache.jit=0
opcache.file_cache=/internal/shared/opcache
opcache.file_cache_consistency_checks=0
opcache.memory_consumption=${opcacheMb(order)}
opcache.interned_strings_buffer=4
opcache.max_accelerated_files=8000
opcache.validate_timestamps=1
opcache.revalidate_freq=0
`

/**
 * Writes the container's own folder: php.ini, constants, certificates, and a copy of the SQLite
 * plugin (PHP may write here, so it must not be shared).
 */
function writeInternal(order) {
  // The container's first process has written them.
  if (!order.first) return
  const shared = path.join(order.internalDir, 'shared')
  for (const dir of ['opcache', 'preload', 'mu-plugins'])
    fs.mkdirSync(path.join(shared, dir), { recursive: true })
  fs.rmSync(path.join(order.internalDir, 'tmp'), { recursive: true, force: true })
  fs.mkdirSync(path.join(order.internalDir, 'tmp'))
  fs.writeFileSync(path.join(shared, 'php.ini'), phpIni(order))
  fs.writeFileSync(path.join(shared, 'ca-bundle.crt'), rootCertificates.join('\n'))
  const defines = Object.entries(constants(order)).map(
    ([name, value]) => `define('${name}', ${quoted(value)});`,
  )
  // The address that the visitor asked for, if it is one of the site's (src/http.js). Visitors
  // cannot set $_SERVER under this name.
  const home = `$portal_home = $_SERVER['PORTAL_HOME'] ?? ${quoted(order.url)};
define('WP_HOME', $portal_home);
define('WP_SITEURL', $portal_home);
unset($portal_home, $_SERVER['PORTAL_HOME']);`
  // WordPress's own jobs get their own time limit, because no visitor waits for them
  // (src/php-answer.js).
  const time = `$portal_seconds = (int) ($_SERVER['PORTAL_SECONDS'] ?? 0);
if ($portal_seconds > 0) set_time_limit($portal_seconds);
unset($portal_seconds, $_SERVER['PORTAL_SECONDS']);`
  fs.writeFileSync(
    path.join(shared, 'auto_prepend_file.php'),
    `<?php\n${home}\n${time}\n${defines.join('\n')}\n${mailCode}`,
  )
  fs.writeFileSync(path.join(shared, 'portal-database.php'), databaseFunctions(lockDir))
  // In a file of the container's own, because containers of another release share
  // wp-content/db.php.
  fs.writeFileSync(
    path.join(shared, 'portal-page-tags.php'),
    pageTagsCode + mysqlParts.map((name) => `require_once __DIR__ . '/portal-${name}';\n`).join(''),
  )
  for (const name of mysqlParts)
    fs.copyFileSync(new URL(name, import.meta.url), path.join(shared, `portal-${name}`))
  const plugin = path.join(shared, 'sqlite-database-integration')
  fs.rmSync(plugin, { recursive: true, force: true })
  // Keeps modification times, because the warmed opcache would otherwise be stale.
  fs.cpSync(order.sqliteDir, plugin, { recursive: true, preserveTimestamps: true })
}

/**
 * Writes the SQLite drop-in and wp-config.php. The drop-in is restored at every start, because
 * without it the site has no database.
 */
function writeSiteFiles({ siteDir }) {
  const dropIn = `<?php
// Written by the hosting platform at every start: WordPress on SQLite.
define( 'SQLITE_DB_DROPIN_VERSION', '1.8.0' );
require_once '${sqlitePlugin}/wp-includes/sqlite/db.php';
require_once '${databaseAdditions}';
require_once '${pageTags}';
`
  writeDropIn(siteDir, dropIn)
  writeSiteConfig(siteDir)
}

/**
 * Boots PHP with the site mounted at /wordpress.
 * @param order the boot order (README)
 * @param budget DiskBudget wrapped around PHP's file system
 * @param {(text: string) => void} onText gets each line that PHP writes to a device of its own
 * (/dev/tty, /dev/stdout, /dev/stderr), which would otherwise be written to this process's own
 * standard output
 */
export async function bootPhp(order, budget, onText) {
  writeInternal(order)
  writeSiteFiles(order)
  const locks = new FileLockManagerForPosix()
  const php = new PHP(
    await allowListening(true, () =>
      loadNodeRuntime('8.3', {
        extensions: [],
        emscriptenOptions: {
          processId: process.pid,
          nativeInternalDirPath: order.internalDir,
          print: onText,
          printErr: onText,
          // The value of getenv('_'); php-wasm would give this installation's path.
          thisProgram: 'php',
          bindUserSpace: (context) => {
            budget.install(context)
            const api = bindUserSpace({ fileLockManager: locks }, context)
            const { flock } = api
            // php-wasm up to 3.1.56 passes flock()'s LOCK_SH (1) to a check written for fcntl's
            // F_WRLCK (1). So a shared lock on a read-only descriptor fails with EBADF, and
            // opcache's file cache is written but never read. Here shared locks are requested from
            // the kernel directly, because the processes of a container share the cache.
            const lockShared = (fd, operation) => {
              const file = context.FS.getStream(fd)
              if (file?.nfd === undefined) return 0
              const wish = {
                type: 'shared',
                pid: process.pid,
                fd: file.nfd,
                waitForLock: (operation & lockNoWait) === 0,
              }
              return locks.lockWholeFile(file.path, wish) ? 0 : -wouldBlock
            }
            return {
              ...api,
              flock: (fd, operation) =>
                operation & lockSharedFlag ? lockShared(fd, operation) : flock(fd, operation),
            }
          },
        },
      }),
    ),
  )
  await php.setSapiName('fpm-fcgi')
  // There are no programs to start here. Without a handler, a request that starts one would hang
  // for ever.
  await php.setSpawnHandler(
    createSpawnHandler(async (_command, program) => {
      await new Promise((resolve) => setTimeout(resolve, 1))
      program.exit(127)
    }),
  )
  php.mkdir(wordpressRoot)
  await php.mount(wordpressRoot, createNodeFsMountHandler(order.siteDir))
  php.chdir(wordpressRoot)
  return php
}
