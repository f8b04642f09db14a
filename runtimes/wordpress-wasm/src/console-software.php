<?php
/** Commands of the console: WordPress itself, plugins, themes, maintenance. */
require_once ABSPATH . 'wp-admin/includes/plugin.php';
require_once ABSPATH . 'wp-admin/includes/theme.php';
require_once ABSPATH . 'wp-admin/includes/file.php';
require_once ABSPATH . 'wp-admin/includes/misc.php';

function portal_core_version(): void {
	Portal_Tool::value( $GLOBALS['wp_version'] );
}
function portal_core_is_installed(): void {
	if ( ! is_blog_installed() ) {
		portal_stop( 'WordPress is not installed.' );
	}
	Portal_Tool::say( 'Success', 'WordPress is installed.' );
}

function portal_slug( string $file ): string {
	return str_contains( $file, '/' ) ? dirname( $file ) : basename( $file, '.php' );
}
/** Main files by the names that WP-CLI gives plugins. */
function portal_plugin_files(): array {
	$files = array();
	foreach ( array_keys( get_plugins() ) as $file ) {
		$files[ portal_slug( $file ) ] ??= $file;
	}
	return $files;
}
function portal_plugin_file( string $name ): string {
	$files = portal_plugin_files();
	$file = $files[ $name ] ?? ( in_array( $name, $files, true ) ? $name : null );
	return $file ?? portal_stop( "The '$name' plugin could not be found." );
}

function portal_plugin_rows(): array {
	$updates = get_site_transient( 'update_plugins' );
	$automatic = (array) get_site_option( 'auto_update_plugins', array() );
	$rows = array();
	foreach ( get_plugins() as $file => $data ) {
		$newer = $updates->response[ $file ]->new_version ?? '';
		$rows[] = array( 'name' => portal_slug( $file ),
			'status' => is_plugin_active( $file ) ? 'active' : 'inactive',
			'update' => $newer === '' ? 'none' : 'available', 'version' => $data['Version'],
			'update_version' => $newer,
			'auto_update' => in_array( $file, $automatic, true ) ? 'on' : 'off',
			'title' => $data['Name'], 'author' => wp_strip_all_tags( $data['Author'] ),
			'file' => $file );
	}
	foreach ( get_mu_plugins() as $file => $data ) {
		$rows[] = array( 'name' => portal_slug( $file ), 'status' => 'must-use', 'update' => 'none',
			'version' => $data['Version'], 'update_version' => '', 'auto_update' => 'off',
			'title' => $data['Name'], 'author' => wp_strip_all_tags( $data['Author'] ),
			'file' => $file );
	}
	return array_filter( $rows,
		fn( $row ) => portal_flag( 'status', $row['status'] ) === $row['status'] );
}
function portal_plugin_list(): void {
	portal_list( array( 'name', 'status', 'update', 'version', 'update_version', 'auto_update' ),
		portal_plugin_rows() );
}
function portal_plugin_status( array $args ): void {
	if ( $args === array() ) {
		portal_list( array( 'name', 'status', 'version' ), portal_plugin_rows() );
		return;
	}
	$file = portal_plugin_file( $args[0] );
	foreach ( portal_plugin_rows() as $row ) {
		if ( $row['file'] === $file ) {
			portal_record( $row );
		}
	}
}

function portal_activate( string $name ): string {
	$file = portal_plugin_file( $name );
	if ( is_plugin_active( $file ) ) {
		Portal_Tool::say( 'Warning', "Plugin '$name' is already active." );
		return "Plugin '$name' activated.";
	}
	portal_right( activate_plugin( $file ) );
	return "Plugin '$name' activated.";
}
function portal_deactivate( string $name ): string {
	$file = portal_plugin_file( $name );
	if ( ! is_plugin_active( $file ) ) {
		Portal_Tool::say( 'Warning', "Plugin '$name' isn't active." );
	}
	deactivate_plugins( $file );
	return "Plugin '$name' deactivated.";
}
/** Those that were named, or all that are on or off. */
function portal_named( array $args, bool $is_active ): array {
	if ( ! portal_has( 'all' ) ) {
		return $args === array()
			? portal_stop( 'Please specify one or more plugins, or use --all.' ) : $args;
	}
	return array_keys( array_filter( portal_plugin_files(),
		fn( $file ) => is_plugin_active( $file ) === $is_active ) );
}
function portal_plugin_activate( array $args ): void {
	portal_each( portal_named( $args, false ), 'portal_activate', 'Activated' );
}
function portal_plugin_deactivate( array $args ): void {
	portal_each( portal_named( $args, true ), 'portal_deactivate', 'Deactivated' );
}
function portal_plugin_toggle( array $args ): void {
	portal_each( $args, fn( $name ) => is_plugin_active( portal_plugin_file( $name ) )
		? portal_deactivate( $name ) : portal_activate( $name ), 'Toggled' );
}
function portal_plugin_delete( array $args ): void {
	portal_each( $args, function ( $name ) {
		$file = portal_plugin_file( $name );
		if ( is_plugin_active( $file ) ) {
			portal_stop( "Plugin '$name' is active: deactivate it first." );
		}
		if ( portal_right( delete_plugins( array( $file ) ) ) !== true ) {
			portal_stop( "Plugin '$name' could not be deleted." );
		}
		return "Deleted '$name' plugin.";
	}, 'Deleted' );
}

function portal_theme_rows(): array {
	$updates = get_site_transient( 'update_themes' );
	$automatic = (array) get_site_option( 'auto_update_themes', array() );
	$rows = array();
	foreach ( wp_get_themes( array( 'errors' => null ) ) as $slug => $theme ) {
		$newer = $updates->response[ $slug ]['new_version'] ?? '';
		$status = get_template() === $slug ? 'parent' : 'inactive';
		$rows[] = array( 'name' => $slug,
			'status' => get_stylesheet() === $slug ? 'active' : $status,
			'update' => $newer === '' ? 'none' : 'available', 'version' => $theme->get( 'Version' ),
			'update_version' => $newer,
			'auto_update' => in_array( $slug, $automatic, true ) ? 'on' : 'off',
			'title' => $theme->get( 'Name' ),
			'author' => wp_strip_all_tags( (string) $theme->get( 'Author' ) ) );
	}
	return array_filter( $rows,
		fn( $row ) => portal_flag( 'status', $row['status'] ) === $row['status'] );
}
function portal_theme_list(): void {
	portal_list( array( 'name', 'status', 'update', 'version', 'update_version', 'auto_update' ),
		portal_theme_rows() );
}
function portal_theme( string $slug ): WP_Theme {
	$theme = wp_get_theme( $slug );
	return preg_match( '~^[\w.-]+$~', $slug ) && $theme->exists() ? $theme
		: portal_stop( "The '$slug' theme could not be found." );
}
function portal_theme_status( array $args ): void {
	if ( $args === array() ) {
		portal_list( array( 'name', 'status', 'version' ), portal_theme_rows() );
		return;
	}
	portal_theme( $args[0] );
	foreach ( portal_theme_rows() as $row ) {
		if ( $row['name'] === $args[0] ) {
			portal_record( $row );
		}
	}
}
function portal_theme_activate( array $args ): void {
	$theme = portal_theme( $args[0] );
	if ( $theme->errors() ) {
		portal_right( $theme->errors() );
	}
	$name = $theme->get( 'Name' );
	if ( get_stylesheet() === $args[0] ) {
		Portal_Tool::say( 'Warning', "The '$name' theme is already active." );
		return;
	}
	switch_theme( $args[0] );
	Portal_Tool::say( 'Success', "Switched to '$name' theme." );
}
function portal_theme_delete( array $args ): void {
	portal_each( $args, function ( $slug ) {
		portal_theme( $slug );
		if ( in_array( $slug, array( get_stylesheet(), get_template() ), true ) ) {
			portal_stop( "Can't delete the currently active theme: $slug" );
		}
		portal_right( delete_theme( $slug ) );
		return "Deleted '$slug' theme.";
	}, 'Deleted' );
}

function portal_maintenance_mode_status(): void {
	$is_on = is_file( ABSPATH . '.maintenance' );
	Portal_Tool::value( 'Maintenance mode is ' . ( $is_on ? 'active.' : 'not active.' ) );
}
function portal_maintenance_mode_activate(): void {
	if ( is_file( ABSPATH . '.maintenance' ) ) {
		portal_stop( 'Maintenance mode already activated.' );
	}
	// Without an end, as WP-CLI does.
	if ( ! @file_put_contents( ABSPATH . '.maintenance', '<?php $upgrading = time(); ?>' ) ) {
		portal_stop( 'The file .maintenance could not be written.' );
	}
	Portal_Tool::say( 'Success', 'Activated Maintenance mode.' );
}
function portal_maintenance_mode_deactivate(): void {
	if ( ! is_file( ABSPATH . '.maintenance' ) ) {
		portal_stop( 'Maintenance mode already deactivated.' );
	}
	if ( ! @unlink( ABSPATH . '.maintenance' ) ) {
		portal_stop( 'The file .maintenance could not be removed.' );
	}
	Portal_Tool::say( 'Success', 'Deactivated Maintenance mode.' );
}
