// Writes files into a native container's own folder and into the site's, before its PHP runs.
import { createHash } from 'node:crypto'
import fs from 'node:fs'
import path from 'node:path'
import { mailCode } from './mail-php.js'
import { talkCode } from './native-talk.js'
import { pageTagsCode } from './page-tags-php.js'
import { writeDropIn, writeSiteConfig } from './site-config.js'

/** The path at which PHP sees the container's own folder, which is read-only for it. */
const shared = '/internal/shared'

/**
 * The name of the socket for the site's calls to itself, in the folder that PHP sees as
 * /run/portal.
 */
export const ownCallsSocket = 'own.sock'
const ownCallsInPhp = `/run/portal/${ownCallsSocket}`

/**
 * Bytes of the database's disk beyond the plan's size (database-disk.ts): on a completely full disk
 * MariaDB cannot undo a statement, and ends.
 */
const reserveBytes = 96 * 1_048_576

const dropIn = `<?php
// Written by the hosting platform at every start.
require_once '${shared}/portal-database-disk.php';
require_once '${shared}/portal-page-tags.php';
require_once '${shared}/portal-own-calls.php';
`

/**
 * The site's requests to itself (Site Health, background requests) use a socket, because its
 * container has no network. The server at that socket knows the scheme by which the site is
 * visited.
 */
const ownCallsCode = `<?php
final class Portal_Own_Calls {
	private static function is_own( $url ) {
		$host = parse_url( (string) $url, PHP_URL_HOST );
		return is_string( $host )
			&& 0 === strcasecmp( $host, (string) parse_url( WP_HOME, PHP_URL_HOST ) );
	}
	public static function plain( &$url ) {
		if ( self::is_own( $url ) ) {
			$url = preg_replace( '/^https:/i', 'http:', $url );
		}
	}
	public static function lead( $handle, $args, $url ) {
		if ( self::is_own( $url ) ) {
			curl_setopt( $handle, CURLOPT_UNIX_SOCKET_PATH, '${ownCallsInPhp}' );
		}
	}
}
add_action( 'requests-requests.before_request', array( 'Portal_Own_Calls', 'plain' ), PHP_INT_MAX );
add_action( 'http_api_curl', array( 'Portal_Own_Calls', 'lead' ), PHP_INT_MAX, 3 );
`

/**
 * While the plan's disk is full, statements that add data are refused, but statements that remove
 * data are not.
 */
const databaseDiskCode = `<?php
final class Portal_Database_Disk {
	private static $is_told = false;
	public static function query( $sql ) {
		if ( ! is_string( $sql )
			|| ! preg_match( '/^\\s*(insert|replace|update|create|alter|load)\\b/i', $sql, $found ) ) {
			return $sql;
		}
		$least = 'update' === strtolower( $found[1] ) ? ${reserveBytes / 2} : ${reserveBytes};
		$free  = @disk_free_space( '/internal/database-disk' );
		if ( false === $free || $free >= $least ) {
			return $sql;
		}
		if ( ! self::$is_told ) {
			self::$is_told = true;
			error_log( 'database disk is full' );
		}
		return '';
	}
}
add_filter( 'query', array( 'Portal_Database_Disk', 'query' ), PHP_INT_MAX - 1 );
`

const prepended = ({ url, internet }) => `<?php
$portal_home = $_SERVER['PORTAL_HOME'] ?? '${url.replace(/[\\']/g, '\\$&')}';
define( 'WP_HOME', $portal_home );
define( 'WP_SITEURL', $portal_home );
unset( $portal_home, $_SERVER['PORTAL_HOME'] );
$portal_seconds = (int) ( $_SERVER['PORTAL_SECONDS'] ?? 0 );
if ( $portal_seconds > 0 ) set_time_limit( $portal_seconds );
unset( $portal_seconds, $_SERVER['PORTAL_SECONDS'] );
define( 'WP_DEBUG', '1' === ( $_SERVER['PORTAL_DEBUG'] ?? '' ) );
unset( $_SERVER['PORTAL_DEBUG'], $_SERVER['PHP_ADMIN_VALUE'] );
define( 'WP_DEBUG_DISPLAY', false );
define( 'WP_MEMORY_LIMIT', ini_get( 'memory_limit' ) );
define( 'WP_MAX_MEMORY_LIMIT', ini_get( 'memory_limit' ) );
define( 'WP_HTTP_BLOCK_EXTERNAL', ${internet ? 'false' : 'true'} );
define( 'AUTOMATIC_UPDATER_DISABLED', ${internet ? 'false' : 'true'} );
define( 'DISABLE_WP_CRON', true );
define( 'FS_METHOD', 'direct' );
define( 'DB_NAME', 'wordpress' );
define( 'DB_USER', 'wordpress' );
define( 'DB_PASSWORD', trim( (string) file_get_contents( '/run/secrets/database-password' ) ) );
define( 'DB_HOST', 'localhost:/run/mysqld/mysqld.sock' );
define( 'DB_CHARSET', 'utf8mb4' );
define( 'DB_COLLATE', 'utf8mb4_unicode_520_ci' );
${talkCode}${mailCode}`

/**
 * PHP settings for each request, so that changes by the owner or the plan apply from the next one.
 */
export const phpValues = (order, limitMs) =>
  [
    `memory_limit = ${order.phpMemoryMb}M`,
    `max_execution_time = ${Math.ceil(limitMs / 1_000)}`,
    `max_input_vars = ${order.inputVars ?? 5_000}`,
    `upload_max_filesize = ${order.uploadMb ?? 64}M`,
    `post_max_size = ${order.uploadMb ?? 64}M`,
  ].join('\n')

/** Writes all files of a native container. */
export function writeNativeFiles(order) {
  const folder = path.join(order.internalDir, 'shared')
  fs.mkdirSync(path.join(folder, 'acts'), { recursive: true })
  fs.writeFileSync(path.join(folder, 'prepend.php'), prepended(order))
  fs.writeFileSync(path.join(folder, 'portal-page-tags.php'), pageTagsCode)
  fs.writeFileSync(path.join(folder, 'portal-database-disk.php'), databaseDiskCode)
  fs.writeFileSync(path.join(folder, 'portal-own-calls.php'), ownCallsCode)
  writeDropIn(order.siteDir, dropIn)
  writeSiteConfig(order.siteDir)
}

const written = new Set()
/** Writes our own PHP into a file; returns the path as PHP sees it. */
export function codeFile(internalDir, code) {
  const name = `${createHash('sha256').update(code).digest('hex').slice(0, 24)}.php`
  if (!written.has(name)) {
    fs.writeFileSync(path.join(internalDir, 'shared', 'acts', name), code)
    written.add(name)
  }
  return `${shared}/acts/${name}`
}
