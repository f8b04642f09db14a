<?php
/**
 * Loads a site that is moved in, in steps of a few seconds each. Handed to PHP as it is, with the
 * step in $_SERVER, where no visitor can put anything.
 *
 * The step is JSON: `act` (`load`, `finish`), `after` (where the step before ended in the file of
 * statements, 0 at first), `ms` (how long it may take), `own` (the site's address).
 *
 * The file (import-load.php) is read by what stands before this one: import-sqlite.php or
 * import-mariadb.php.
 */
$portal_step = json_decode( $_SERVER['PORTAL_STEP'] ?? 'null', true );
unset( $_SERVER['PORTAL_STEP'] );
if ( 'load' === $portal_step['act'] ) {
	define( 'SHORTINIT', true );
} else {
	// Neither plugins nor the theme: what they do waits until the site is in its place.
	define( 'WP_INSTALLING', true );
}
require '/wordpress/wp-load.php';

function portal_home_of( string $name ): string {
	global $wpdb;
	return rtrim( (string) $wpdb->get_var( $wpdb->prepare(
		"SELECT option_value FROM $wpdb->options WHERE option_name = %s", $name ) ), '/' );
}

/** The front page, then pages, then the newest posts. */
function portal_paths(): array {
	$paths = array( '/' );
	foreach ( array( 'page' => 8, 'post' => 11 ) as $type => $count ) {
		$found = get_posts( array( 'post_type' => $type, 'post_status' => 'publish',
			'numberposts' => $count, 'has_password' => false, 'suppress_filters' => true ) );
		foreach ( $found as $post ) {
			$parts = wp_parse_url( get_permalink( $post ) );
			$paths[] = ( $parts['path'] ?? '/' )
				. ( empty( $parts['query'] ) ? '' : '?' . $parts['query'] );
		}
	}
	// A visitor's program could not ask for any other.
	$sound = array_filter( array_unique( $paths ),
		fn( $path ) => preg_match( '~^/(?!/)[\x21-\x7e]{0,900}$~D', $path ) );
	return array_slice( array_values( $sound ), 0, 20 );
}

function portal_finish(): array {
	global $wpdb, $wp_db_version;
	$wpdb->suppress_errors( true );
	$wpdb->query( 'DROP TABLE IF EXISTS portal_import' );
	$home = portal_home_of( 'home' );
	if ( 'http://template.invalid' === $home ) {
		// Of a server of this platform before it stored its address: that of its first post.
		$guid = (string) $wpdb->get_var( "SELECT guid FROM $wpdb->posts
			WHERE guid LIKE 'http%' ORDER BY ID LIMIT 1" );
		if ( preg_match( '~^https?://[^/?#]+~i', $guid, $found ) ) {
			$home = $found[0];
		}
	}
	$from = array_values( array_unique( array( $home, portal_home_of( 'home' ),
		portal_home_of( 'siteurl' ) ) ) );
	require_once ABSPATH . 'wp-admin/includes/upgrade.php';
	require_once ABSPATH . 'wp-admin/includes/plugin.php';
	if ( (int) get_option( 'db_version' ) < $wp_db_version ) {
		wp_upgrade();
	}
	$missing = array();
	foreach ( (array) get_option( 'active_plugins' ) as $plugin ) {
		if ( ! is_string( $plugin ) || ! is_file( WP_PLUGIN_DIR . '/' . $plugin ) ) {
			$missing[] = is_string( $plugin ) ? $plugin : '?';
		}
	}
	$theme = (string) get_option( 'stylesheet' );
	$admins = array_map( fn( $user ) => $user->user_login, get_users( array(
		'role' => 'administrator', 'number' => 20, 'orderby' => 'ID' ) ) );
	$short = fn( $text ) => mb_substr( (string) $text, 0, 200 );
	return array(
		'home' => $short( $home ),
		'from' => array_map( $short, $from ),
		'admins' => array_map( $short, $admins ),
		'paths' => portal_paths(),
		'missing' => array_map( $short, array_slice( $missing, 0, 20 ) ),
		'theme' => is_dir( get_theme_root() . '/' . $theme ) ? '' : $short( $theme ),
	);
}

function portal_import( array $step ): array {
	global $wpdb;
	try {
		if ( 'finish' === $step['act'] ) {
			return portal_finish();
		}
		$load = portal_load();
		return $load->run( (int) $step['after'], microtime( true ) + $step['ms'] / 1000 );
	} catch ( Throwable $error ) {
		return array( 'error' => $error->getMessage() );
	}
}

$portal_answer = portal_import( $portal_step );
header( 'Content-Type: application/json' );
header( 'Cache-Control: no-store' );
echo json_encode( $portal_answer,
	JSON_UNESCAPED_SLASHES | JSON_UNESCAPED_UNICODE | JSON_INVALID_UTF8_SUBSTITUTE );
