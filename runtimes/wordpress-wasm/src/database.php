<?php
/**
 * The database of a site, as its owner looks at it and changes it: tables, rows, one statement. By
 * WordPress's own wpdb, without plugins and themes, so that a site which one of them breaks can be
 * looked at as well. `op` of the step says what; a cell is null, or `kind` (text, hex or masked),
 * `value` and `bytes`; a value that is longer than is shown is cut, and its bytes say so.
 */
function portal_q( string $name ): string {
	return '`' . str_replace( '`', '``', $name ) . '`';
}
function portal_quoted( string $value ): string {
	global $wpdb;
	return $wpdb->prepare( '%s', $value );
}
function portal_failed(): never {
	global $wpdb;
	portal_stop( mb_substr( trim( strip_tags( (string) $wpdb->last_error ) ), 0, 500 ) );
}
function portal_all( string $sql ): array {
	global $wpdb;
	$rows = $wpdb->get_results( $sql, ARRAY_A );
	if ( (string) $wpdb->last_error !== '' ) {
		portal_failed();
	}
	return (array) $rows;
}
function portal_names(): array {
	global $wpdb;
	return array_map( 'strval', $wpdb->get_col( 'SHOW TABLES' ) );
}
function portal_table(): string {
	$table = (string) ( $GLOBALS['portal_step']['table'] ?? '' );
	return in_array( $table, portal_names(), true ) ? $table
		: portal_stop( 'There is no such table.' );
}
function portal_described( string $table ): array {
	return portal_all( 'DESCRIBE ' . portal_q( $table ) );
}
function portal_fields( string $table ): array {
	return array_column( portal_described( $table ), 'Field' );
}
function portal_key_of( string $table ): array {
	return array_column( array_filter( portal_described( $table ),
		fn( $column ) => $column['Key'] === 'PRI' ), 'Field' );
}

/** Passwords, and what signs somebody in, are shown only when they are asked for. */
function portal_is_secret( array $row, string $column ): bool {
	$words = '~pass|secret|token|(?:^|_)(?:key|auth|salt|nonce)s?(?:_|$)|api_?key~i';
	if ( in_array( $column, array( 'meta_value', 'option_value' ), true ) ) {
		$name = (string) ( $row['meta_key'] ?? $row['option_name'] ?? '' );
		return preg_match( $words, $name ) === 1;
	}
	return in_array( $column, array( 'user_pass', 'user_activation_key' ), true );
}
function portal_cell( $value, int $most ): ?array {
	if ( $value === null ) {
		return null;
	}
	$value = (string) $value;
	$bytes = strlen( $value );
	if ( ! mb_check_encoding( $value, 'UTF-8' ) || str_contains( $value, "\0" ) ) {
		return array( 'kind' => 'hex', 'value' => bin2hex( substr( $value, 0, intdiv( $most, 2 ) ) ),
			'bytes' => $bytes );
	}
	return array( 'kind' => 'text', 'value' => mb_strcut( $value, 0, $most, 'UTF-8' ),
		'bytes' => $bytes );
}
function portal_cells( array $row, int $most ): array {
	$is_shown = ! empty( $GLOBALS['portal_step']['reveals'] );
	$cells = array();
	foreach ( $row as $column => $value ) {
		$cells[] = ! $is_shown && $value !== null && portal_is_secret( $row, (string) $column )
			? array( 'kind' => 'masked', 'value' => '', 'bytes' => 0 ) : portal_cell( $value, $most );
	}
	return $cells;
}
/** As many rows as an answer holds. */
function portal_answer_rows( array $columns, array $rows, int $most ): array {
	$shown = array();
	$is_cut = false;
	foreach ( $rows as $row ) {
		$cells = portal_cells( $row, $most );
		if ( ! Portal_Tool::takes( strlen( (string) json_encode( $cells ) ) ) ) {
			$is_cut = true;
			break;
		}
		$shown[] = $cells;
	}
	return array( 'columns' => $columns, 'rows' => $shown, 'isCut' => $is_cut );
}

function portal_op_tables(): array {
	global $wpdb;
	$sizes = array();
	foreach ( portal_all( 'SHOW TABLE STATUS' ) as $row ) {
		$sizes[ $row['Name'] ] = (int) $row['Data_length'] + (int) $row['Index_length'];
	}
	$until = microtime( true ) + 4;
	$tables = array();
	foreach ( array_slice( portal_names(), 0, 500 ) as $name ) {
		// In a database as large as that, the rest is not counted.
		$is_late = microtime( true ) > $until;
		$tables[] = array( 'name' => $name,
			'rows' => $is_late ? null : (int) $wpdb->get_var( 'SELECT COUNT(*) FROM ' . portal_q( $name ) ),
			'bytes' => $is_late ? null : portal_bytes( $name, $sizes[ $name ] ?? 0 ) );
	}
	return array( 'tables' => $tables );
}
function portal_op_columns(): array {
	$table = portal_table();
	$keys = array();
	foreach ( portal_all( 'SHOW INDEX FROM ' . portal_q( $table ) ) as $row ) {
		$keys[ $row['Key_name'] ]['isUnique'] = (string) $row['Non_unique'] === '0';
		$keys[ $row['Key_name'] ]['columns'][] = (string) $row['Column_name'];
	}
	return array( 'columns' => array_map( fn( $column ) => array( 'name' => $column['Field'],
			'type' => $column['Type'], 'mayBeNull' => $column['Null'] === 'YES',
			'isKey' => $column['Key'] === 'PRI', 'default' => $column['Default'],
			'isAutomatic' => str_contains( strtolower( (string) $column['Extra'] ), 'auto_increment' ) ),
		portal_described( $table ) ),
		'keys' => array_map( fn( $name ) => array( 'name' => (string) $name ) + $keys[ $name ],
			array_keys( $keys ) ) );
}
/** The condition of the step's filter, or of a row's key. */
function portal_where( array $fields, array $pairs ): string {
	$parts = array();
	foreach ( $pairs as $column => $value ) {
		if ( ! in_array( $column, $fields, true ) ) {
			portal_stop( "There is no column '$column'." );
		}
		$parts[] = portal_q( $column )
			. ( $value === null ? ' IS NULL' : ' = ' . portal_quoted( (string) $value ) );
	}
	return implode( ' AND ', $parts );
}
function portal_op_rows(): array {
	global $wpdb, $portal_step;
	$table = portal_table();
	$fields = portal_fields( $table );
	$where = '';
	if ( isset( $portal_step['filter'] ) ) {
		list( 'column' => $column, 'how' => $how, 'value' => $value ) = $portal_step['filter'];
		if ( ! in_array( $column, $fields, true ) ) {
			portal_stop( "There is no column '$column'." );
		}
		$where = ' WHERE ' . ( $how === 'is' ? portal_where( $fields, array( $column => $value ) )
			: portal_q( $column ) . ' LIKE ' . portal_quoted( '%' . $wpdb->esc_like( $value ) . '%' ) );
	}
	$sort = $portal_step['sort'] ?? '';
	if ( $sort !== '' && ! in_array( $sort, $fields, true ) ) {
		portal_stop( "There is no column '$sort'." );
	}
	// In one order, or rows would stand on two pages.
	$order = array_map( 'portal_q', portal_key_of( $table ) );
	if ( $sort !== '' ) {
		$direction = empty( $portal_step['descends'] ) ? '' : ' DESC';
		array_unshift( $order, portal_q( $sort ) . $direction );
	}
	$limit = (int) $portal_step['limit'];
	$rows = portal_all( 'SELECT * FROM ' . portal_q( $table ) . $where
		. ( $order === array() ? '' : ' ORDER BY ' . implode( ', ', $order ) )
		. " LIMIT $limit OFFSET " . (int) $portal_step['offset'] );
	$total = (int) $wpdb->get_var( 'SELECT COUNT(*) FROM ' . portal_q( $table ) . $where );
	return portal_answer_rows( $fields, $rows, (int) $portal_step['cellBytes'] )
		+ array( 'total' => $total );
}
function portal_one( string $table ): array {
	global $portal_step;
	$key = (array) ( $portal_step['key'] ?? array() );
	$own = portal_key_of( $table );
	$names = array_map( 'strval', array_keys( $key ) );
	sort( $own );
	sort( $names );
	if ( $own === array() || $own !== $names ) {
		portal_stop( 'A row is named by its whole primary key.' );
	}
	$rows = portal_all( 'SELECT * FROM ' . portal_q( $table ) . ' WHERE '
		. portal_where( portal_fields( $table ), $key ) );
	return $rows[0] ?? portal_stop( 'This row is not there any more.' );
}
function portal_op_row(): array {
	$table = portal_table();
	$row = portal_one( $table );
	return portal_answer_rows( array_keys( $row ), array( $row ), 200000 );
}

/** What is written: text, bytes in hexadecimal, or null. */
function portal_written( array $values ): array {
	$written = array();
	foreach ( $values as $column => $cell ) {
		$written[ $column ] = $cell === null ? null
			: ( $cell['kind'] === 'hex' ? (string) hex2bin( $cell['value'] ) : $cell['value'] );
	}
	return $written;
}
function portal_op_change(): array {
	global $wpdb, $portal_step;
	$table = portal_table();
	$fields = portal_fields( $table );
	$values = portal_written( $portal_step['values'] ?? array() );
	$unknown = array_diff( array_keys( $values ), $fields );
	if ( $unknown !== array() ) {
		portal_stop( "There is no column '" . current( $unknown ) . "'." );
	}
	if ( $portal_step['change'] === 'insert' ) {
		if ( $wpdb->insert( $table, $values ) === false ) {
			portal_failed();
		}
		wp_cache_flush();
		return array( 'former' => null, 'inserted' => (int) $wpdb->insert_id );
	}
	$former = portal_one( $table );
	foreach ( portal_written( $portal_step['expected'] ?? array() ) as $column => $value ) {
		if ( ( $former[ $column ] ?? null ) !== $value ) {
			portal_stop( 'This row has been changed meanwhile.' );
		}
	}
	$key = (array) $portal_step['key'];
	$done = $portal_step['change'] === 'delete' ? $wpdb->delete( $table, $key )
		: $wpdb->update( $table, $values, $key );
	if ( $done === false ) {
		portal_failed();
	}
	wp_cache_flush();
	$kept = $portal_step['change'] === 'delete' ? $former : array_intersect_key( $former, $values );
	$cells = array_map( fn( $value ) => portal_cell( $value, 200000 ), $kept );
	// One that does not fit cannot be put back.
	$fits = Portal_Tool::takes( strlen( (string) json_encode( $cells ) ) );
	return array( 'former' => $fits ? (object) $cells : null, 'inserted' => 0 );
}
/** One statement; the portal has judged it. */
function portal_op_sql(): array {
	global $wpdb, $portal_step;
	if ( $portal_step['reads'] ) {
		$rows = array_slice( portal_all( $portal_step['sql'] ), 0, (int) $portal_step['limit'] + 1 );
		$answer = portal_answer_rows( array_map( 'strval', array_keys( $rows[0] ?? array() ) ),
			array_slice( $rows, 0, (int) $portal_step['limit'] ), 2000 );
		return array( 'isCut' => $answer['isCut'] || count( $rows ) > (int) $portal_step['limit'],
			'changed' => null ) + $answer;
	}
	$changed = $wpdb->query( $portal_step['sql'] );
	if ( $changed === false ) {
		portal_failed();
	}
	wp_cache_flush();
	return array( 'columns' => array(), 'rows' => array(), 'isCut' => false,
		'changed' => (int) $changed );
}

$wpdb->suppress_errors( true );
try {
	$portal_name = 'portal_op_' . $portal_step['op'];
	Portal_Tool::set( 'data', $portal_name() );
	Portal_Tool::answer( true );
} catch ( Portal_Stop $portal_stop ) {
	Portal_Tool::say( '', $portal_stop->getMessage() );
	Portal_Tool::answer( false );
} catch ( Throwable $portal_error ) {
	Portal_Tool::say( '', $portal_error->getMessage() );
	Portal_Tool::answer( false );
}
