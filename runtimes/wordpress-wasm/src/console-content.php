<?php
/** Commands of the console: options, posts, comments, what is kept for a while. */
require_once ABSPATH . 'wp-admin/includes/comment.php';

function portal_option_get( array $args ): void {
	$none = new stdClass();
	$value = get_option( $args[0], $none );
	if ( $value === $none ) {
		portal_stop( "Could not get '{$args[0]}' option. Does it exist?" );
	}
	if ( portal_flag( 'format' ) === 'json' ) {
		Portal_Tool::value( (string) json_encode( $value, JSON_UNESCAPED_SLASHES | JSON_UNESCAPED_UNICODE
			| JSON_PARTIAL_OUTPUT_ON_ERROR | JSON_INVALID_UTF8_SUBSTITUTE ) );
	} elseif ( is_scalar( $value ) && portal_flag( 'format' ) === '' ) {
		Portal_Tool::value( Portal_Tool::text( $value ) );
	} else {
		Portal_Tool::value( var_export( $value, true ) );
	}
}
function portal_option_update( array $args ): void {
	list( $key, $value ) = $args;
	if ( portal_flag( 'format' ) === 'json' ) {
		$value = json_decode( $value, true );
		if ( json_last_error() !== JSON_ERROR_NONE ) {
			portal_stop( 'Invalid JSON: ' . json_last_error_msg() );
		}
	}
	$autoload = portal_has( 'autoload' ) ? portal_flag( 'autoload' ) === 'yes' : null;
	$value = sanitize_option( $key, $value );
	if ( get_option( $key ) === $value && $autoload === null ) {
		Portal_Tool::say( 'Success', "Value passed for '$key' option is unchanged." );
		return;
	}
	if ( ! update_option( $key, $value, $autoload ) && get_option( $key ) != $value ) {
		portal_stop( "Could not update option '$key'." );
	}
	Portal_Tool::say( 'Success', "Updated '$key' option." );
}
function portal_option_list(): void {
	global $wpdb;
	$rows = (array) $wpdb->get_results(
		"SELECT option_name, option_value, autoload FROM $wpdb->options ORDER BY option_name", ARRAY_A );
	$search = portal_flag( 'search' );
	$is_on = array( 'yes', 'on', 'auto', 'auto-on' );
	$wanted = portal_flag( 'autoload' );
	portal_list( array( 'option_name', 'option_value' ), array_map(
		fn( $row ) => $row + array( 'size_bytes' => strlen( $row['option_value'] ) ),
		array_filter( $rows, fn( $row ) => portal_matches( $search, $row['option_name'] )
			&& ! str_starts_with( $row['option_name'], '_transient_' )
			&& ! str_starts_with( $row['option_name'], '_site_transient_' )
			&& ( $wanted === ''
				|| in_array( $row['autoload'], $is_on, true ) === ( $wanted === 'on' ) ) ) ) );
}
function portal_option_delete( array $args ): void {
	portal_each( $args, fn( $key ) => delete_option( $key ) ? "Deleted '$key' option."
		: portal_stop( "Could not delete '$key' option. Does it exist?" ), 'Deleted' );
}

function portal_post_row( WP_Post $post ): array {
	return array_diff_key( get_object_vars( $post ), array( 'filter' => 1 ) )
		+ array( 'url' => get_permalink( $post ) );
}
function portal_post( string $id ): WP_Post {
	$post = get_post( portal_number( $id ) );
	return $post ? $post : portal_stop( "Could not find the post with ID $id." );
}
function portal_post_list(): void {
	$types = explode( ',', portal_flag( 'post_type', 'post' ) );
	$posts = get_posts( array( 'post_type' => $types === array( 'any' ) ? 'any' : $types,
		'post_status' => explode( ',', portal_flag( 'post_status', 'any' ) ),
		'numberposts' => min( 2000, portal_number( portal_flag( 'posts_per_page', '2000' ) ) ),
		's' => portal_flag( 's' ), 'suppress_filters' => true ) );
	portal_list( array( 'ID', 'post_title', 'post_name', 'post_date', 'post_status' ),
		array_map( 'portal_post_row', $posts ) );
}
function portal_post_get( array $args ): void {
	portal_record( portal_post_row( portal_post( $args[0] ) ) );
}
function portal_post_update( array $args ): void {
	$given = portal_flags( array( 'post_title', 'post_content', 'post_excerpt', 'post_status',
		'post_name', 'post_date', 'post_author', 'post_type', 'post_parent', 'comment_status' ) );
	if ( $given === array() ) {
		portal_stop( 'Need some fields to update.' );
	}
	if ( isset( $given['post_status'] ) && ! get_post_status_object( $given['post_status'] ) ) {
		portal_stop( "There is no post status '{$given['post_status']}'." );
	}
	if ( isset( $given['post_type'] ) && ! post_type_exists( $given['post_type'] ) ) {
		portal_stop( "There is no post type '{$given['post_type']}'." );
	}
	if ( isset( $given['post_author'] ) ) {
		$given['post_author'] = portal_user( $given['post_author'] )->ID;
	}
	portal_each( $args, function ( $id ) use ( $given ) {
		portal_post( $id );
		portal_right( wp_update_post( wp_slash( array( 'ID' => (int) $id ) + $given ), true ) );
		return "Updated post $id.";
	}, 'Updated' );
}
function portal_post_delete( array $args ): void {
	portal_each( $args, function ( $id ) {
		$post = portal_post( $id );
		$is_forced = portal_has( 'force' );
		// What has no trash, or lies in it, is deleted for good only when it is said.
		$can_trash = in_array( $post->post_type, array( 'post', 'page' ), true );
		if ( ! $is_forced && ( $post->post_status === 'trash' || ! $can_trash ) ) {
			portal_stop( "Post $id does not go to the trash; use --force to delete it for good." );
		}
		$done = $is_forced ? wp_delete_post( $post->ID, true ) : wp_trash_post( $post->ID );
		return $done ? ( $is_forced ? "Deleted post $id." : "Trashed post $id." )
			: portal_stop( "Failed deleting post $id." );
	}, 'Deleted' );
}

function portal_comment( string $id ): WP_Comment {
	$comment = get_comment( portal_number( $id ) );
	return $comment ? $comment : portal_stop( "Could not find the comment with ID $id." );
}
function portal_comment_list(): void {
	$comments = get_comments( array( 'status' => portal_flag( 'status', 'all' ),
		'number' => min( 2000, portal_number( portal_flag( 'number', '2000' ) ) ) )
		+ ( portal_has( 'post_id' )
			? array( 'post_id' => portal_number( portal_flag( 'post_id' ) ) ) : array() ) );
	portal_list( array( 'comment_ID', 'comment_post_ID', 'comment_date', 'comment_approved',
		'comment_author', 'comment_author_email' ),
		array_map( fn( $comment ) => $comment->to_array(), $comments ) );
}
function portal_comments( array $args, callable $act, string $done ): void {
	portal_each( $args, function ( $id ) use ( $act, $done ) {
		$comment = portal_comment( $id );
		return $act( $comment ) ? "$done comment $comment->comment_ID."
			: portal_stop( "Comment $id could not be changed." );
	}, $done );
}
function portal_comment_status( string $status ): callable {
	$stored = array( 'approve' => '1', 'hold' => '0', 'spam' => 'spam' )[ $status ];
	return fn( $comment ) => $comment->comment_approved === $stored
		|| wp_set_comment_status( $comment->comment_ID, $status );
}
function portal_comment_approve( array $args ): void {
	portal_comments( $args, portal_comment_status( 'approve' ), 'Approved' );
}
function portal_comment_unapprove( array $args ): void {
	portal_comments( $args, portal_comment_status( 'hold' ), 'Unapproved' );
}
function portal_comment_spam( array $args ): void {
	portal_comments( $args, fn( $comment ) => $comment->comment_approved === 'spam'
		|| wp_spam_comment( $comment ), 'Marked as spam' );
}
function portal_comment_delete( array $args ): void {
	$is_forced = portal_has( 'force' );
	portal_comments( $args, fn( $comment ) => wp_delete_comment( $comment, $is_forced ),
		$is_forced ? 'Deleted' : 'Trashed' );
}

function portal_cache_flush(): void {
	if ( ! wp_cache_flush() ) {
		portal_stop( 'The object cache could not be flushed.' );
	}
	Portal_Tool::say( 'Success', 'The cache was flushed.' );
}
function portal_transient_list(): void {
	global $wpdb;
	$rows = (array) $wpdb->get_results( "SELECT t.option_name AS name, t.option_value AS value,
		e.option_value AS expiration FROM $wpdb->options t LEFT JOIN $wpdb->options e
		ON e.option_name = CONCAT('_transient_timeout_', SUBSTRING(t.option_name, 12))
		WHERE t.option_name LIKE '\_transient\_%' AND t.option_name NOT LIKE '\_transient\_timeout\_%'
		ORDER BY t.option_name", ARRAY_A );
	$search = portal_flag( 'search' );
	$shown = array_map( fn( $row ) => array( 'name' => substr( $row['name'], 11 ),
		'value' => $row['value'], 'expiration' => $row['expiration'] ?? 'never expires' ), $rows );
	portal_list( array( 'name', 'value', 'expiration' ),
		array_filter( $shown, fn( $row ) => portal_matches( $search, $row['name'] ) ) );
}
function portal_transient_delete( array $args ): void {
	global $wpdb;
	if ( portal_has( 'expired' ) ) {
		delete_expired_transients( true );
		Portal_Tool::say( 'Success', 'Expired transients deleted from the database.' );
	} elseif ( portal_has( 'all' ) ) {
		$names = $wpdb->get_col( "SELECT option_name FROM $wpdb->options WHERE option_name
			LIKE '\_transient\_%' AND option_name NOT LIKE '\_transient\_timeout\_%'" );
		foreach ( $names as $name ) {
			delete_transient( substr( $name, 11 ) );
		}
		Portal_Tool::say( 'Success', count( $names ) . ' transients deleted from the database.' );
	} elseif ( $args === array() ) {
		portal_stop( 'Please specify transient key, or use --all or --expired.' );
	} elseif ( delete_transient( $args[0] ) ) {
		Portal_Tool::say( 'Success', 'Transient deleted.' );
	} else {
		portal_stop( 'Transient was not deleted. Does it exist?' );
	}
}
