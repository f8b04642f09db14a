// The settings of PHP and of PHP-FPM that a web container starts with.
import fs from 'node:fs/promises'
import path from 'node:path'

/**
 * Functions that PHP must not have: it starts no program, makes no links (which the portal would
 * follow as another user), and sends letters only by the platform's own mail().
 */
const disabled =
  'exec,shell_exec,system,passthru,proc_open,popen,pcntl_exec,pcntl_fork,dl,mail,symlink,link'

/** Memory for compiled code, MB: WordPress with its administration fills 25. */
const opcacheMb = (memoryMb: number): number =>
  Math.min(192, Math.max(48, Math.floor(memoryMb / 10)))

const phpIni = (memoryMb: number): string => `auto_prepend_file=/internal/shared/prepend.php
disable_functions=${disabled}
cgi.fix_pathinfo=0
variables_order=EGPCS
error_reporting=E_ALL
display_errors=0
display_startup_errors=0
html_errors=0
log_errors=1
ignore_repeated_errors=1
expose_php=0
allow_url_include=0
output_buffering=4096
date.timezone=UTC
upload_tmp_dir=/internal/tmp
sys_temp_dir=/internal/tmp
session.save_path=/internal/tmp
realpath_cache_size=4096k
realpath_cache_ttl=600
mysqli.default_socket=/run/mysqld/mysqld.sock
pdo_mysql.default_socket=/run/mysqld/mysqld.sock
opcache.enable=1
opcache.memory_consumption=${opcacheMb(memoryMb)}
opcache.interned_strings_buffer=8
opcache.max_accelerated_files=16000
opcache.validate_timestamps=1
opcache.revalidate_freq=0
opcache.jit=0
`

/**
 * FPM's configuration. `pm.max_children` hardly limits: the front passes on no more requests than
 * the plan has memory for.
 */
const fpmConf = (pageSeconds: number): string => `[global]
error_log = /proc/self/fd/2
log_level = warning
daemonize = no

[www]
listen = /run/portal/php.sock
listen.backlog = 511
pm = ondemand
pm.max_children = 64
pm.process_idle_timeout = 300s
pm.max_requests = 2000
request_terminate_timeout = ${pageSeconds}s
clear_env = yes
catch_workers_output = yes
decorate_workers_output = no
security.limit_extensions = .php
`

/** Least time limit: WordPress's own scheduled jobs may take longer than a page. */
const leastSeconds = 200

/** Writes the settings into the container's own folder. */
export async function writePhpFiles(
  internalDir: string,
  memoryMb: number,
  pageMs: number,
): Promise<void> {
  const folder = path.join(internalDir, 'ini')
  await fs.mkdir(folder, { recursive: true })
  const seconds = Math.max(leastSeconds, Math.ceil(pageMs / 1_000) + 5)
  const files = { '99-portal.ini': phpIni(memoryMb), 'fpm.conf': fpmConf(seconds) }
  for (const [name, text] of Object.entries(files)) {
    await fs.writeFile(path.join(folder, name), text)
    await fs.chmod(path.join(folder, name), 0o644)
  }
  // The site's user must read the files, while the portal's umask denies others access.
  await fs.chmod(folder, 0o755)
}
