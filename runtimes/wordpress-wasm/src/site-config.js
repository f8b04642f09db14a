// wp-config.php of a site, which its owner may change afterwards.
import { randomBytes } from 'node:crypto'
import fs from 'node:fs'
import path from 'node:path'

/** Writes it if there is none. */
export function writeSiteConfig(siteDir) {
  const config = path.join(siteDir, 'wp-config.php')
  if (fs.existsSync(config)) return
  const salts = [
    'AUTH_KEY',
    'SECURE_AUTH_KEY',
    'LOGGED_IN_KEY',
    'NONCE_KEY',
    'AUTH_SALT',
    'SECURE_AUTH_SALT',
    'LOGGED_IN_SALT',
    'NONCE_SALT',
  ]
  const defined = (name) => `define( '${name}', '${randomBytes(48).toString('base64url')}' );`
  fs.writeFileSync(
    config,
    `<?php
// The hosting platform sets the address, the database and the limits before this file is read.
defined( 'DB_NAME' ) || define( 'DB_NAME', 'wordpress' );
defined( 'DB_USER' ) || define( 'DB_USER', 'wordpress' );
defined( 'DB_PASSWORD' ) || define( 'DB_PASSWORD', '' );
defined( 'DB_HOST' ) || define( 'DB_HOST', 'localhost' );
defined( 'DB_CHARSET' ) || define( 'DB_CHARSET', 'utf8mb4' );
defined( 'DB_COLLATE' ) || define( 'DB_COLLATE', '' );
${salts.map(defined).join('\n')}
$table_prefix = 'wp_';
defined( 'WP_DEBUG' ) || define( 'WP_DEBUG', false );
defined( 'ABSPATH' ) || define( 'ABSPATH', __DIR__ . '/' );
require_once ABSPATH . 'wp-settings.php';
`,
    { mode: 0o640 },
  )
}

/** Writes wp-content/db.php, if its text differs. */
export function writeDropIn(siteDir, text) {
  const target = path.join(siteDir, 'wp-content', 'db.php')
  const stat = fs.lstatSync(target, { throwIfNoEntry: false })
  if (stat?.isFile() && fs.readFileSync(target, 'utf8') === text) return
  fs.rmSync(target, { recursive: true, force: true })
  fs.writeFileSync(target, text)
}
