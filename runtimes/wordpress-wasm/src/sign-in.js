// The one-click sign-in: uses up a ticket that the portal has stored, before PHP sees the request.
import { createHash } from 'node:crypto'
import fs from 'node:fs'
import path from 'node:path'
import { wordpressRoot } from './root.js'

const address = /^\/portal-sign-in\/([\w-]{43})$/

/** The ticket of a sign-in address, undefined for any other address. */
export const ticketOf = (pathname) => address.exec(pathname)?.[1]

/**
 * Removes a ticket, so that no other container takes it.
 * @returns {{user?: string, act?: string, step?: object, ms?: number} | null} what it allows: to
 * sign a user in, or a step of an act (acts.js) for so many ms; null when there is no such ticket,
 * it was used, or its minute is over
 */
export function takeTicket(dir, ticket) {
  const file = path.join(dir, createHash('sha256').update(ticket).digest('hex'))
  try {
    const { until, ...allowed } = JSON.parse(fs.readFileSync(file, 'utf8'))
    // Two containers may have read it, but only one can remove it.
    fs.unlinkSync(file)
    return Date.now() < until ? allowed : null
  } catch {
    return null
  }
}

/**
 * Signs the user in and redirects to wp-admin. PHP gets this code unchanged, with the user's name
 * in $_SERVER, which no visitor can set.
 */
export const signInCode = `<?php
$portal_user = $_SERVER['PORTAL_USER'] ?? '';
unset( $_SERVER['PORTAL_USER'] );
require '${wordpressRoot}/wp-load.php';
nocache_headers();
header( 'Referrer-Policy: no-referrer' );
$user = get_user_by( 'login', $portal_user );
if ( ! $user || ! user_can( $user, 'manage_options' ) ) {
	$user = get_users( array( 'role' => 'administrator', 'orderby' => 'ID',
		'number' => 1 ) )[0] ?? null;
}
if ( ! $user ) {
	wp_die( 'This site has no administrator.', '', array( 'response' => 403 ) );
}
wp_set_current_user( $user->ID );
wp_set_auth_cookie( $user->ID, false );
// Plugins that ask for a second factor do so here.
do_action( 'wp_login', $user->user_login, $user );
wp_safe_redirect( admin_url() );
exit;
`

export const refusalPage = `<!doctype html><html lang="en"><meta charset="utf-8">
<meta name="viewport" content="width=device-width"><title>Link used up</title>
<body style="font:16px/1.5 system-ui,sans-serif;max-width:34rem;margin:15vh auto;padding:0 1rem">
<p>This sign-in link was used already, or its minute is over. Ask the portal for a new one.</p>
<p lang="vi">Liên kết đăng nhập này đã được dùng hoặc đã hết hạn.
Vui lòng tạo liên kết mới trong trang quản lý.</p>
`
