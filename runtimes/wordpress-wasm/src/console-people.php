<?php
/** Commands of the console: users. */
require_once ABSPATH . 'wp-admin/includes/user.php';

function portal_user( string $name ): WP_User {
	$user = preg_match( '~^\d{1,18}$~', $name ) ? get_user_by( 'id', (int) $name ) : false;
	$user = $user ? $user : get_user_by( 'email', $name );
	$user = $user ? $user : get_user_by( 'login', $name );
	return $user ? $user : portal_stop( "Invalid user ID, email or login: '$name'" );
}
function portal_user_row( WP_User $user ): array {
	return array( 'ID' => $user->ID, 'user_login' => $user->user_login,
		'display_name' => $user->display_name, 'user_email' => $user->user_email,
		'user_registered' => $user->user_registered, 'roles' => implode( ',', $user->roles ),
		'first_name' => $user->first_name, 'last_name' => $user->last_name,
		'user_nicename' => $user->user_nicename, 'user_url' => $user->user_url,
		'user_status' => $user->user_status );
}
function portal_role( string $role ): string {
	return wp_roles()->is_role( $role ) ? $role : portal_stop( "Role doesn't exist: $role" );
}
function portal_password(): string {
	return wp_generate_password( 24, false );
}
/** Somebody must be able to administer the site afterwards. */
function portal_keep_administrator( WP_User $user ): void {
	$all = get_users( array( 'role' => 'administrator', 'fields' => 'ID', 'number' => 2 ) );
	if ( array_map( 'intval', $all ) === array( $user->ID ) ) {
		portal_stop( "'$user->user_login' is the only administrator of this site." );
	}
}

function portal_user_list(): void {
	$search = portal_flag( 'search' );
	$users = get_users( array( 'number' => 2000, 'orderby' => 'ID' )
		+ ( portal_has( 'role' ) ? array( 'role' => portal_flag( 'role' ) ) : array() )
		+ ( $search === '' ? array() : array( 'search' => $search ) ) );
	portal_list(
		array( 'ID', 'user_login', 'display_name', 'user_email', 'user_registered', 'roles' ),
		array_map( 'portal_user_row', $users ) );
}
function portal_user_get( array $args ): void {
	portal_record( portal_user_row( portal_user( $args[0] ) ) );
}
function portal_user_create( array $args ): void {
	list( $login, $email ) = $args;
	if ( ! is_email( $email ) ) {
		portal_stop( "The email address '$email' is invalid." );
	}
	if ( username_exists( $login ) ) {
		portal_stop( "The '$login' username is already registered." );
	}
	$given = portal_flags(
		array( 'user_pass', 'display_name', 'first_name', 'last_name', 'user_url' ) );
	$password = $given['user_pass'] ?? portal_password();
	$role = portal_role( portal_flag( 'role', (string) get_option( 'default_role' ) ) );
	$id = portal_right( wp_insert_user( wp_slash( array( 'user_login' => $login,
		'user_email' => $email, 'user_pass' => $password, 'role' => $role ) + $given ) ) );
	if ( portal_has( 'porcelain' ) ) {
		Portal_Tool::value( (string) $id );
		return;
	}
	Portal_Tool::say( 'Success', "Created user $id." );
	if ( ! isset( $given['user_pass'] ) ) {
		Portal_Tool::say( '', "Password: $password" );
	}
}
function portal_user_update( array $args ): void {
	$given = portal_flags( array( 'user_pass', 'user_email', 'display_name', 'first_name',
		'last_name', 'user_url', 'role' ) );
	if ( $given === array() ) {
		portal_stop( 'Need some fields to update.' );
	}
	if ( isset( $given['role'] ) ) {
		portal_role( $given['role'] );
	}
	portal_each( $args, function ( $name ) use ( $given ) {
		$user = portal_user( $name );
		if ( ( $given['role'] ?? 'administrator' ) !== 'administrator' ) {
			portal_keep_administrator( $user );
		}
		$id = portal_right( wp_update_user( wp_slash( array( 'ID' => $user->ID ) + $given ) ) );
		return "Updated user $id.";
	}, 'Updated' );
}
function portal_user_delete( array $args ): void {
	$heir = portal_has( 'reassign' ) ? portal_user( portal_flag( 'reassign' ) )->ID : null;
	portal_each( $args, function ( $name ) use ( $heir ) {
		$user = portal_user( $name );
		portal_keep_administrator( $user );
		if ( $heir === $user->ID ) {
			portal_stop( 'Posts cannot be reassigned to the user who is deleted.' );
		}
		return wp_delete_user( $user->ID, $heir ) ? "Removed user $user->ID."
			: portal_stop( "Failed deleting user $user->ID." );
	}, 'Removed' );
}
function portal_user_set_role( array $args ): void {
	$user = portal_user( $args[0] );
	$role = portal_role( $args[1] ?? (string) get_option( 'default_role' ) );
	if ( $role !== 'administrator' ) {
		portal_keep_administrator( $user );
	}
	$user->set_role( $role );
	Portal_Tool::say( 'Success',
		"Added $user->user_login ($user->ID) to " . home_url() . " as $role." );
}
function portal_user_reset_password( array $args ): void {
	if ( portal_has( 'skip-email' ) ) {
		add_filter( 'send_password_change_email', '__return_false' );
	}
	$made = array();
	$names = array_unique( $args );
	$reset = function ( $name ) use ( &$made ) {
		$user = portal_user( $name );
		$password = portal_password();
		portal_right( wp_update_user( array( 'ID' => $user->ID, 'user_pass' => $password ) ) );
		$made[] = $password;
		return "Reset password for $user->user_login. Password: $password";
	};
	if ( portal_has( 'porcelain' ) ) {
		array_map( $reset, $names );
		Portal_Tool::value( implode( "\n", $made ) );
	} else {
		portal_each( $names, $reset, 'Reset' );
	}
}
