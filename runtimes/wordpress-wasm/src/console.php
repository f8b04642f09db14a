<?php
/**
 * The commands of the console (contract/wordpress-verbs.ts), in the place of WP-CLI. The portal has
 * judged the command line: `verb`, `args`, `flags`. Of a list `format` ids or count wants the ids
 * alone.
 */
function portal_flag( string $name, string $otherwise = '' ): string {
	return (string) ( $GLOBALS['portal_step']['flags'][ $name ] ?? $otherwise );
}
function portal_has( string $name ): bool {
	return isset( $GLOBALS['portal_step']['flags'][ $name ] );
}

/** Those of the flags that the command has, by their names. */
function portal_flags( array $names ): array {
	return array_intersect_key( $GLOBALS['portal_step']['flags'], array_flip( $names ) );
}

/**
 * Answers a list in the columns that were asked for.
 *
 * @param string[] $columns those of a list without --fields; the first is the id
 * @param iterable $rows arrays by the names of the columns
 */
function portal_list( array $columns, iterable $rows ): void {
	$asked = array_values( array_filter( array_map( 'trim',
		explode( ',', portal_flag( 'field', portal_flag( 'fields' ) ) ) ), 'strlen' ) );
	if ( in_array( portal_flag( 'format' ), array( 'ids', 'count' ), true ) ) {
		$asked = array( $columns[0] );
	}
	$shown = $asked === array() ? $columns : $asked;
	Portal_Tool::set( 'columns', $shown );
	foreach ( $rows as $row ) {
		foreach ( $asked as $name ) {
			if ( ! array_key_exists( $name, $row ) ) {
				portal_stop( "Invalid field: $name." );
			}
		}
		if ( ! Portal_Tool::row( array_map( fn( $name ) => $row[ $name ] ?? '', $shown ) ) ) {
			break;
		}
	}
}

/** Answers one record: a row for each field. */
function portal_record( array $record ): void {
	$field = portal_flag( 'field' );
	$asked = $field !== '' ? array( $field )
		: array_filter( array_map( 'trim', explode( ',', portal_flag( 'fields' ) ) ), 'strlen' );
	foreach ( $asked as $name ) {
		if ( ! array_key_exists( $name, $record ) ) {
			portal_stop( "Invalid field: $name." );
		}
	}
	if ( $field !== '' ) {
		Portal_Tool::value( Portal_Tool::text( $record[ $field ] ) );
		return;
	}
	Portal_Tool::set( 'isRecord', true );
	Portal_Tool::set( 'columns', array( 'Field', 'Value' ) );
	foreach ( $asked === array() ? array_keys( $record ) : $asked as $name ) {
		if ( ! Portal_Tool::row( array( $name, $record[ $name ] ) ) ) {
			break;
		}
	}
}

/**
 * Does something with each of what was named: `$act` answers a message, or throws.
 *
 * @param array $names as the messages call them
 */
function portal_each( array $names, callable $act, string $done ): void {
	$count = 0;
	foreach ( $names as $name ) {
		try {
			Portal_Tool::say( '', $act( $name ) );
			++$count;
		} catch ( Portal_Stop $stop ) {
			Portal_Tool::say( 'Warning', $stop->getMessage() );
		}
	}
	$all = count( $names );
	if ( $count === $all ) {
		Portal_Tool::say( 'Success', "$done $count of $all." );
	} else {
		portal_stop( "Only $done $count of $all." );
	}
}

/** Throws what WordPress complains of. */
function portal_right( $result ) {
	if ( is_wp_error( $result ) ) {
		portal_stop( wp_strip_all_tags( $result->get_error_message() ) );
	}
	return $result;
}

function portal_matches( string $pattern, string $text ): bool {
	$expression = str_replace( array( '\\*', '\\?' ), array( '.*', '.' ),
		preg_quote( $pattern, '~' ) );
	return $pattern === '' || preg_match( "~^$expression\$~isu", $text ) === 1;
}

function portal_number( string $text ): int {
	if ( ! preg_match( '~^\\d{1,18}$~', $text ) ) {
		portal_stop( "'$text' is no number." );
	}
	return (int) $text;
}
