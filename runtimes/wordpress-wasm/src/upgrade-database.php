<?php
/**
 * Brings the database to the version of WordPress's files, as wp-admin/upgrade.php does, and has
 * WordPress forget which updates it knew of. Handed to PHP as it is. While WP_INSTALLING is set,
 * WordPress loads no plugins. A second run finds nothing left to do.
 */
unset( $_SERVER['PORTAL_STEP'], $_SERVER['PORTAL_ACT'] );
define( 'WP_INSTALLING', true );
require '/wordpress/wp-load.php';
require_once ABSPATH . 'wp-admin/includes/upgrade.php';

global $wp_db_version;
$before = (int) get_option( 'db_version' );
ob_start();
wp_upgrade();
foreach ( array( 'update_core', 'update_plugins', 'update_themes' ) as $known ) {
	delete_site_transient( $known );
}
wp_cache_flush();
ob_end_clean();
header( 'Content-Type: application/json' );
header( 'Cache-Control: no-store' );
echo json_encode( array( 'before' => $before, 'after' => (int) get_option( 'db_version' ),
	'files' => (int) $wp_db_version ) );
