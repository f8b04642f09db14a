<?php
/**
 * Lists what is installed: WordPress, plugins, themes. Handed to PHP as it is. WordPress is loaded
 * without plugins and themes, so that a site which one of them breaks can be listed as well.
 */
unset( $_SERVER['PORTAL_STEP'], $_SERVER['PORTAL_ACT'] );
define( 'SHORTINIT', true );
require '/wordpress/wp-load.php';

/** A header of a plugin or theme, as get_file_data() reads it; '' where there is none. */
function portal_header( string $text, string $name ): string {
	$pattern = '~^(?:[ \t]*<\?php)?[ \t/*#@]*' . preg_quote( $name, '~' ) . ':(.*)$~mi';
	return preg_match( $pattern, $text, $found )
		? trim( preg_replace( '~\s*(?:\*/|\?>).*~', '', $found[1] ) ) : '';
}

function portal_head( string $file ): string {
	return is_file( $file ) ? (string) file_get_contents( $file, false, null, 0, 8192 ) : '';
}

function portal_option( string $name ) {
	global $wpdb;
	$stored = $wpdb->get_var( $wpdb->prepare(
		"SELECT option_value FROM $wpdb->options WHERE option_name = %s", $name ) );
	return is_string( $stored ) && preg_match( '~^a:~', $stored )
		? @unserialize( $stored, array( 'allowed_classes' => false ) ) : $stored;
}

function portal_names( string $dir ): array {
	$names = is_dir( $dir ) ? scandir( $dir ) : array();
	return array_values( array_filter( (array) $names, fn( $name ) => $name[0] !== '.' ) );
}

function portal_plugins(): array {
	$active = array_flip( array_filter( (array) portal_option( 'active_plugins' ), 'is_string' ) );
	$dir = WP_CONTENT_DIR . '/plugins';
	$found = array();
	foreach ( portal_names( $dir ) as $name ) {
		$files = is_dir( "$dir/$name" )
			? array_map( fn( $file ) => "$name/$file", portal_names( "$dir/$name" ) )
			: array( $name );
		foreach ( $files as $file ) {
			if ( ! str_ends_with( $file, '.php' ) || count( $found ) >= 300 ) {
				continue;
			}
			$head = portal_head( "$dir/$file" );
			$title = portal_header( $head, 'Plugin Name' );
			if ( $title !== '' ) {
				$found[] = array( 'file' => $file, 'name' => mb_substr( $title, 0, 200 ),
					'version' => mb_substr( portal_header( $head, 'Version' ), 0, 60 ),
					'active' => isset( $active[ $file ] ),
					'updateUri' => mb_substr( portal_header( $head, 'Update URI' ), 0, 300 ) );
			}
		}
	}
	return $found;
}

function portal_themes(): array {
	$used = array( portal_option( 'stylesheet' ), portal_option( 'template' ) );
	$dir = WP_CONTENT_DIR . '/themes';
	$found = array();
	foreach ( array_slice( portal_names( $dir ), 0, 100 ) as $slug ) {
		$head = portal_head( "$dir/$slug/style.css" );
		$title = portal_header( $head, 'Theme Name' );
		if ( $title !== '' ) {
			$found[] = array( 'slug' => $slug, 'name' => mb_substr( $title, 0, 200 ),
				'version' => mb_substr( portal_header( $head, 'Version' ), 0, 60 ),
				'active' => in_array( $slug, $used, true ),
				'updateUri' => mb_substr( portal_header( $head, 'Update URI' ), 0, 300 ) );
		}
	}
	return $found;
}

header( 'Content-Type: application/json' );
header( 'Cache-Control: no-store' );
echo json_encode( array( 'wordpress' => $wp_version, 'php' => PHP_VERSION,
	'plugins' => portal_plugins(), 'themes' => portal_themes() ),
	JSON_UNESCAPED_SLASHES | JSON_INVALID_UTF8_SUBSTITUTE );
