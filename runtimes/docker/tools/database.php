<?php
/**
 * Writes a site's database into /copy/database.sql (`dump`) or fills it from there (`load`), and
 * counts it: /copy/figures.json. Run by PHP's command line in a container of its own, as the site's
 * user, with the site's own account of its database.
 */
mysqli_report( MYSQLI_REPORT_ERROR | MYSQLI_REPORT_STRICT );
set_time_limit( 0 );
ini_set( 'memory_limit', '512M' );

function portal_connect(): mysqli {
	$password = trim( (string) file_get_contents( '/run/secrets/database-password' ) );
	$db = new mysqli( 'localhost', 'wordpress', $password, 'wordpress', 0,
		'/run/mysqld/mysqld.sock' );
	$db->set_charset( 'utf8mb4' );
	$db->query( "SET SESSION sql_mode = 'NO_AUTO_VALUE_ON_ZERO', time_zone = '+00:00',
		foreign_key_checks = 0, unique_checks = 0, net_write_timeout = 600" );
	return $db;
}
function portal_name( string $name ): string {
	return '`' . str_replace( '`', '``', $name ) . '`';
}
/** Names of base tables: a copy holds nothing else (`portal_refuse_others`). */
function portal_tables( mysqli $db ): array {
	$names = array();
	foreach ( $db->query( "SHOW FULL TABLES WHERE Table_type = 'BASE TABLE'" ) as $row ) {
		$names[] = (string) current( $row );
	}
	sort( $names, SORT_STRING );
	return $names;
}
/** Columns that are stored, and the order in which rows are counted: that of the primary key. */
function portal_shape( mysqli $db, string $table ): array {
	$columns = array();
	$binary = array();
	foreach ( $db->query( 'SHOW FULL COLUMNS FROM ' . portal_name( $table ) ) as $row ) {
		if ( preg_match( '~(?:VIRTUAL|STORED|PERSISTENT) GENERATED~i', $row['Extra'] ) ) {
			continue;
		}
		$columns[] = $row['Field'];
		$binary[] = preg_match( '~binary|blob|^bit|geometry|point~i', $row['Type'] ) === 1;
	}
	$key = array();
	foreach ( $db->query( 'SHOW INDEX FROM ' . portal_name( $table ) ) as $row ) {
		if ( 'PRIMARY' === $row['Key_name'] ) {
			$key[] = portal_name( $row['Column_name'] );
		}
	}
	// Without one, by everything: rows that are alike in everything may change places.
	$order = array() === $key ? array_map( 'portal_name', $columns ) : $key;
	return array( $columns, $binary, $order );
}
function portal_written( mysqli $db, ?string $value, bool $binary ): string {
	if ( null === $value ) {
		return 'NULL';
	}
	if ( $binary ) {
		return '' === $value ? "''" : '0x' . bin2hex( $value );
	}
	// No line of the file ends within a value.
	return "'" . $db->real_escape_string( $value ) . "'";
}
/** Counts a table, and hands its rows to `$take` where that is given. */
function portal_count( mysqli $db, string $table, ?callable $take ): array {
	list( $columns, $binary, $order ) = portal_shape( $db, $table );
	$names = implode( ', ', array_map( 'portal_name', $columns ) );
	$rows = $db->query( "SELECT $names FROM " . portal_name( $table )
		. ' ORDER BY ' . implode( ', ', $order ), MYSQLI_USE_RESULT );
	$sum = hash_init( 'sha256' );
	$count = 0;
	while ( $row = $rows->fetch_row() ) {
		++$count;
		foreach ( $row as $value ) {
			hash_update( $sum, null === $value ? 'n' : 's' . strlen( $value ) . ' ' . $value );
		}
		if ( null !== $take ) {
			$take( $row, $names, $binary );
		}
	}
	$rows->free();
	return array( 'name' => $table, 'rows' => $count, 'sha256' => hash_final( $sum ) );
}
/** More than that is no statement that a server takes by default. */
const PORTAL_STATEMENT = 1000000;

/** A copy would lose these without a word, so it is not made. */
function portal_refuse_others( mysqli $db ): void {
	$found = $db->query( "SELECT CONCAT( LOWER( table_type ), ' ', table_name )
		FROM information_schema.tables
		WHERE table_schema = DATABASE() AND table_type <> 'BASE TABLE'
		UNION SELECT CONCAT( 'trigger ', trigger_name ) FROM information_schema.triggers
		WHERE trigger_schema = DATABASE()
		UNION SELECT CONCAT( LOWER( routine_type ), ' ', routine_name )
		FROM information_schema.routines WHERE routine_schema = DATABASE()
		UNION SELECT CONCAT( 'event ', event_name ) FROM information_schema.events
		WHERE event_schema = DATABASE() LIMIT 1" )->fetch_row();
	if ( $found ) {
		throw new Exception( "a copy holds tables only, and the database has the $found[0]" );
	}
}
function portal_dump( mysqli $db ): array {
	portal_refuse_others( $db );
	$file = fopen( '/copy/database.sql', 'wb' );
	$line = function ( string $sql ) use ( $file ) {
		// A comment of the owner's in a definition may have lines.
		if ( fwrite( $file, preg_replace( '~\r?\n~', ' ', $sql ) . ";\n" ) === false ) {
			throw new Exception( 'the disk is full' );
		}
	};
	$line( "SET NAMES utf8mb4" );
	$line( "SET SESSION sql_mode = 'NO_AUTO_VALUE_ON_ZERO', foreign_key_checks = 0" );
	$db->query( 'SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ' );
	$db->query( 'START TRANSACTION WITH CONSISTENT SNAPSHOT' );
	$figures = array();
	// Before rows are read unbuffered, another question has no place on this connection.
	$other = portal_connect();
	foreach ( portal_tables( $db ) as $table ) {
		$create = $db->query( 'SHOW CREATE TABLE ' . portal_name( $table ) )->fetch_row()[1];
		$line( 'DROP TABLE IF EXISTS ' . portal_name( $table ) );
		$line( $create );
		$held = '';
		$take = function ( array $row, string $names, array $binary )
			use ( $other, $table, $line, &$held ) {
			$values = array();
			foreach ( $row as $at => $value ) {
				$values[] = portal_written( $other, $value, $binary[ $at ] );
			}
			$values = '(' . implode( ',', $values ) . ')';
			if ( '' !== $held && strlen( $held ) + strlen( $values ) > PORTAL_STATEMENT ) {
				$line( $held );
				$held = '';
			}
			$held .= '' === $held ? 'INSERT INTO ' . portal_name( $table )
				. " ($names) VALUES $values" : ",$values";
		};
		$figures[] = portal_count( $db, $table, $take );
		if ( '' !== $held ) {
			$line( $held );
		}
	}
	$db->query( 'COMMIT' );
	if ( ! fclose( $file ) ) {
		throw new Exception( 'the disk is full' );
	}
	return $figures;
}
/** Values that were cut to fit would be lost without a word: data are not loaded then. */
function portal_run( mysqli $db, string $sql ): void {
	$db->query( $sql );
	if ( 0 === $db->warning_count ) {
		return;
	}
	foreach ( $db->query( 'SHOW WARNINGS' ) as $row ) {
		$is_cut = in_array( (int) $row['Code'], array( 1264, 1265, 1406 ), true );
		if ( 'Warning' === $row['Level'] && $is_cut ) {
			throw new Exception( 'a value does not fit its column: ' . $row['Message'] );
		}
	}
}
/** Blocks of the file: where each table begins (`DROP TABLE IF EXISTS`), and what it hashes to. */
function portal_blocks( $file ): array {
	$blocks = array();
	$table = '';
	$sum = hash_init( 'sha256' );
	for ( $at = 0; ( $line = fgets( $file ) ) !== false; $at += strlen( $line ) ) {
		if ( preg_match( '~^DROP TABLE IF EXISTS `((?:[^`]|``)+)`;\R?$~D', $line, $found ) ) {
			if ( '' !== $table ) {
				$blocks[ $table ]['sql'] = hash_final( $sum );
				$sum = hash_init( 'sha256' );
			}
			$table = str_replace( '``', '`', $found[1] );
			$blocks[ $table ] = array( 'from' => $at );
		}
		if ( '' !== $table ) {
			hash_update( $sum, $line );
		}
	}
	if ( '' !== $table ) {
		$blocks[ $table ]['sql'] = hash_final( $sum );
	}
	rewind( $file );
	return $blocks;
}
function portal_create( mysqli $db, string $table ): string {
	return $db->query( 'SHOW CREATE TABLE ' . portal_name( $table ) )->fetch_row()[1];
}
/**
 * Tables that the load before this one has filled from the very same SQL, and in which stands what
 * it left there, by name: they are counted already. A visitor of a copy may have changed some.
 */
function portal_kept( mysqli $db, array $blocks ): array {
	$known = json_decode( (string) @file_get_contents( '/copy/loaded.json' ), true );
	$kept = array();
	foreach ( portal_tables( $db ) as $table ) {
		$was = $known[ $table ] ?? null;
		if ( null === $was || ( $blocks[ $table ]['sql'] ?? '' ) !== $was['sql']
			|| portal_create( $db, $table ) !== $was['create'] ) {
			continue;
		}
		$stands = portal_count( $db, $table, null );
		if ( $stands === $was['figures'] ) {
			$kept[ $table ] = $stands;
		}
	}
	return $kept;
}
/**
 * Makes the database what the file says, and tells the next load of it in /copy/loaded.json. A
 * statement ends where a line ends with `;`.
 */
function portal_load( mysqli $db ): array {
	$file = fopen( '/copy/database.sql', 'rb' );
	$blocks = portal_blocks( $file );
	$kept = portal_kept( $db, $blocks );
	foreach ( portal_tables( $db ) as $table ) {
		if ( ! isset( $kept[ $table ] ) ) {
			$db->query( 'DROP TABLE ' . portal_name( $table ) );
		}
	}
	$begins = array();
	foreach ( $blocks as $table => $block ) {
		$begins[ $block['from'] ] = (string) $table;
	}
	$sql = '';
	$skips = false;
	for ( $at = 0; ( $line = fgets( $file ) ) !== false; $at += strlen( $line ) ) {
		if ( isset( $begins[ $at ] ) ) {
			$skips = isset( $kept[ $begins[ $at ] ] );
		}
		$is_blank = '' === $sql && ( '' === trim( $line ) || str_starts_with( $line, '--' ) );
		if ( $skips || $is_blank ) {
			continue;
		}
		$sql .= $line;
		if ( str_ends_with( rtrim( $line, "\r\n" ), ';' ) ) {
			portal_run( $db, rtrim( $sql, ";\r\n" ) );
			$sql = '';
		}
	}
	if ( '' !== trim( $sql ) ) {
		portal_run( $db, $sql );
	}
	$figures = array();
	$loaded = array();
	foreach ( portal_tables( $db ) as $table ) {
		$figures[] = $kept[ $table ] ?? portal_count( $db, $table, null );
		$loaded[ $table ] = array( 'sql' => $blocks[ $table ]['sql'] ?? '',
			'create' => portal_create( $db, $table ), 'figures' => end( $figures ) );
	}
	file_put_contents( '/copy/loaded.json', json_encode( $loaded ) );
	return $figures;
}

try {
	$portal_db = portal_connect();
	$portal_answer = 'dump' === $argv[1] ? portal_dump( $portal_db ) : portal_load( $portal_db );
	$portal_answer = array( 'tables' => $portal_answer );
} catch ( Throwable $portal_error ) {
	$portal_answer = array( 'fault' => mb_substr( $portal_error->getMessage(), 0, 500 ) );
}
file_put_contents( '/copy/figures.json', json_encode( $portal_answer,
	JSON_UNESCAPED_SLASHES | JSON_UNESCAPED_UNICODE | JSON_INVALID_UTF8_SUBSTITUTE ) );
