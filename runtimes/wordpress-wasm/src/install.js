// Installs WordPress with the chosen admin before the port opens, so that nobody can reach
// install.php first.
import { wordpressRoot } from './root.js'

/** Marks a database that was installed in advance with a random admin and has no owner yet. */
export const templateOption = 'portal_template_url'

const code = `<?php
define( 'WP_INSTALLING', true );
// No visitor waits for it: a busy machine may take longer than a page may.
set_time_limit( 0 );
function wp_new_blog_notification( ...$args ) {}
require '${wordpressRoot}/wp-load.php';
require_once ABSPATH . 'wp-admin/includes/upgrade.php';
global $wpdb;
$order = json_decode( getenv( 'INSTALL_ORDER' ), true );
$permalinks = '/%year%/%monthnum%/%day%/%postname%/';
$locale = 'vi' === $order['language'] ? 'vi' : '';
$template = is_blog_installed() ? get_option( '${templateOption}' ) : false;
if ( is_blog_installed() && ! $template ) {
	echo json_encode( array( 'already' => true ) );
	exit;
}
$user = sanitize_user( $order['user'], true );
if ( '' === $user || $user !== $order['user'] ) {
	echo json_encode( array( 'error' => 'the admin name is not one WordPress takes' ) );
	exit;
}
if ( $template ) {
	// The database was made ahead of time: hand it to its owner.
	$home = home_url();
	$columns = array( array( 'posts', 'guid' ), array( 'posts', 'post_content' ),
		array( 'comments', 'comment_content' ) );
	foreach ( $columns as list( $table, $column ) ) {
		$name = $wpdb->$table;
		$wpdb->query( $wpdb->prepare( "UPDATE $name SET $column = REPLACE( $column, %s, %s )",
			$template, $home ) );
	}
	$now = array( current_time( 'mysql' ), current_time( 'mysql', true ) );
	$wpdb->query( $wpdb->prepare( "UPDATE {$wpdb->posts} SET post_date = %s, post_date_gmt = %s,
		post_modified = %s, post_modified_gmt = %s", $now[0], $now[1], $now[0], $now[1] ) );
	$wpdb->query( $wpdb->prepare( "UPDATE {$wpdb->comments}
		SET comment_date = %s, comment_date_gmt = %s", $now[0], $now[1] ) );
	$wpdb->update(
		$wpdb->users,
		array(
			'user_login' => $user,
			'user_nicename' => sanitize_title( $user ),
			'display_name' => $user,
			'user_email' => $order['email'],
			'user_url' => $home,
			'user_pass' => wp_hash_password( wp_slash( $order['password'] ) ),
			'user_registered' => gmdate( 'Y-m-d H:i:s' ),
			'user_activation_key' => '',
		),
		array( 'ID' => 1 )
	);
	update_user_meta( 1, 'nickname', $user );
	delete_user_meta( 1, 'session_tokens' );
	// WP_HOME and WP_SITEURL hide what is stored, and update_option() would find nothing to change:
	// another host reads it there when the site is taken away.
	foreach ( array( 'siteurl', 'home' ) as $name ) {
		$wpdb->update( $wpdb->options, array( 'option_value' => $home ),
			array( 'option_name' => $name ) );
	}
	update_option( 'blogname', $order['title'] );
	// The former one is nobody's, and would be written to.
	add_filter( 'send_site_admin_email_change_email', '__return_false' );
	update_option( 'admin_email', $order['email'] );
	$secrets = array( 'auth_key', 'auth_salt', 'secure_auth_key', 'secure_auth_salt', 'logged_in_key',
		'logged_in_salt', 'nonce_key', 'nonce_salt', 'recovery_keys' );
	foreach ( $secrets as $secret ) {
		delete_site_option( $secret );
	}
	delete_option( '${templateOption}' );
	wp_cache_flush();
} else {
	if ( $locale ) {
		load_default_textdomain( $locale );
		$GLOBALS['wp_locale'] = new WP_Locale();
	}
	// wp_install() would ask the site itself over HTTP whether pretty permalinks work.
	add_filter( 'pre_option_permalink_structure', fn() => $permalinks );
	$password = wp_slash( $order['password'] );
	wp_install( $order['title'], $user, $order['email'], true, '', $password, $locale );
	remove_all_filters( 'pre_option_permalink_structure' );
	update_option( 'permalink_structure', $permalinks );
	update_option( 'timezone_string', $locale ? 'Asia/Ho_Chi_Minh' : 'UTC' );
	delete_option( 'rewrite_rules' );
	if ( ! empty( $order['template'] ) ) {
		update_option( '${templateOption}', home_url() );
	}
}
$admin = get_user_by( 'login', $user );
echo json_encode( array( 'user' => $admin ? $admin->ID : 0, 'version' => $GLOBALS['wp_version'] ) );
`

/**
 * @param php the booted PHP
 * @param order `{user, password, email, title, language, template?}`; `template` keeps the database
 * open for a later owner
 * @returns {Promise<{already?: true, user?: number}>}
 * @throws with `rejected: true` when the order itself is at fault
 */
export async function installWordpress(php, order) {
  const response = await php.run({ code, env: { INSTALL_ORDER: JSON.stringify(order) } })
  const line = response.text.slice(response.text.lastIndexOf('{'))
  let answer
  try {
    answer = JSON.parse(line)
  } catch {
    // PHP's error message may contain the order: the password is removed from it.
    const text = `${response.errors} ${response.text}`
      .replaceAll(order.password, '***')
      .slice(0, 1_000)
    throw new Error(`WordPress did not install: ${text}`)
  }
  if (answer.error)
    throw Object.assign(new Error(`WordPress did not install: ${answer.error}`), { rejected: true })
  if (!answer.already && !(answer.user > 0))
    throw new Error('WordPress did not install: the admin is missing')
  return answer
}
