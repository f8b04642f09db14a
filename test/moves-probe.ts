/**
 * A plugin for sites whose moves are tested. With `?probe=…` it stores values that are hard to
 * carry from one database to another, reports every stored value, adds a row, or runs SQL.
 */
export const movesProbe = String.raw`<?php
add_action( 'init', function () {
	if ( ! isset( $_GET['probe'] ) ) return;
	global $wpdb;
	$books = $wpdb->prefix . 'so_cai';
	$lines = $wpdb->prefix . 'but_toan';
	$said = array();
	if ( 'plant' === $_GET['probe'] ) {
		$wpdb->query( "CREATE TABLE $books (
			id bigint(20) unsigned NOT NULL AUTO_INCREMENT, name varchar(190) NOT NULL DEFAULT 'Đã',
			kind enum('Có','Không') NOT NULL DEFAULT 'Có', amount decimal(19,4) DEFAULT NULL,
			share double NOT NULL DEFAULT 0, seen datetime NOT NULL DEFAULT '0000-00-00 00:00:00',
			touched timestamp NULL DEFAULT current_timestamp() ON UPDATE current_timestamp(),
			seal varbinary(255) DEFAULT NULL, picture longblob, big bigint(20) NOT NULL DEFAULT 0,
			PRIMARY KEY (id), UNIQUE KEY name (name(50)), KEY kind_seen (kind,seen)
		) COMMENT='có # ; dấu'" );
		$wpdb->query( "CREATE TABLE $lines (
			entry bigint(20) unsigned NOT NULL, line int NOT NULL, memo longtext,
			PRIMARY KEY (entry,line), CONSTRAINT fk_so FOREIGN KEY (entry)
			REFERENCES $books (id) ON DELETE CASCADE )" );
		$all = implode( '', array_map( 'chr', range( 0, 255 ) ) );
		$bytes = bin2hex( $all );
		$picture = str_repeat( $bytes, 500 );
		$names = array( 'Sổ \'kho\' \\ "1" ; -- # /* 🌧' . "\n\t\r", 'x', '' );
		foreach ( $names as $n => $name )
			$wpdb->query( $wpdb->prepare( "INSERT INTO $books
				(name, kind, amount, share, seal, picture, big)
				VALUES (%s, %s, %s, %s, x'" . substr( $bytes, 0, 510 ) . "', x'$picture', %d)",
				$name, $n ? 'Không' : 'Có', '123456789.1250', 1 / ( $n + 3 ), PHP_INT_MAX - $n ) );
		$wpdb->query( "INSERT INTO $lines VALUES (1, -1, NULL), (1, 2, 'đường')" );
		// The row with the highest number goes, and its number is nobody's afterwards.
		$wpdb->query( "INSERT INTO $books (name) VALUES ('goes')" );
		$wpdb->query( "DELETE FROM $books WHERE name = 'goes'" );
		$deep = array( 'đ' => array( "a\0b", 1.5, true, null ), '🍜' => '\'"\\' );
		$value = array( 'deep' => new ArrayObject( $deep ), 'n' => range( 1, 50 ) );
		update_option( 'probe_option', $value );
		$content = 'C:\temp\new %_ \\ \' \'\' "" <!-- wp:x {"a":"\u0026"} --> \0 \n \\\\'
			. "\r\n\t\x01\x1a ký tự 𠜎";
		$said['post'] = wp_insert_post( wp_slash( array( 'post_status' => 'private',
			'post_title' => 'Phở \\ \'ngon\' "lắm" 🍜', 'post_content' => $content ) ) );
		$said['error'] = $wpdb->last_error;
	}
	if ( 'add' === $_GET['probe'] ) {
		$wpdb->insert( $books, array( 'name' => 'added ' . $_GET['n'] ) );
		$said['id'] = $wpdb->insert_id;
	}
	if ( 'run' === $_GET['probe'] ) {
		// Past wpdb, which knows neither such names nor such types.
		mysqli_query( $wpdb->dbh, base64_decode( $_GET['sql'] ) );
		$said['error'] = mysqli_error( $wpdb->dbh );
	}
	if ( 'read' === $_GET['probe'] ) {
		$keys = array( $wpdb->posts => 'ID', $wpdb->users => 'ID', $wpdb->terms => 'term_id',
			$wpdb->term_relationships => 'object_id', $books => 'id', $lines => 'line' );
		foreach ( $keys as $table => $key )
			foreach ( $wpdb->get_results( "SELECT * FROM $table ORDER BY $key", ARRAY_A ) as $row )
				foreach ( $row as $column => $value ) {
					// A DECIMAL is a number to SQLite, without the zeros that end it.
					if ( null !== $value && in_array( $column, array( 'amount', 'share' ), true ) )
						$value = (string) (float) $value;
					$said["$table {$row[ $key ]} $column"] = null === $value ? null
						: strlen( $value ) . ' ' . md5( $value ) . ' ' . substr( bin2hex( $value ), 0, 60 );
				}
		$said['option'] = bin2hex( serialize( get_option( 'probe_option' ) ) );
	}
	wp_send_json( $said );
} );
`
