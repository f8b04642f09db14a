<?php
/**
 * Functions that MySQL has and SQLite has not, or has otherwise, for plugins that ask for them:
 * registered on the connection of the database drop-in. Those of `portal_…` are what
 * mysql-statements.php writes in the place of others. NULL in is NULL out, but where MySQL says
 * otherwise.
 */
final class Portal_Mysql_Functions {
	/** SQLite takes the function whose count of arguments is the nearest: what replaces another. */
	private const COUNTS = array( 'datediff' => 2 );
	/** Words that a full-text index of InnoDB does not hold. */
	private const STOP_WORDS = ' a about an are as at be by com de en for from how i in is it la of '
		. 'on or that the this to was what when where who will with und www ';

	public static function register( $driver ): void {
		$pdo = $driver->get_sqlite_pdo();
		foreach ( array( self::class, Portal_Mysql_Dates::class ) as $class ) {
			foreach ( get_class_methods( $class ) as $method ) {
				if ( ! str_starts_with( $method, 'sql_' ) ) continue;
				$name = substr( $method, 4 );
				$pdo->sqliteCreateFunction( $name, array( $class, $method ), self::COUNTS[ $name ] ?? -1 );
			}
		}
		$pdo->sqliteCreateFunction( 'sha', array( self::class, 'sql_sha1' ), 1 );
		$pdo->sqliteCreateFunction( 'weekofyear', fn( $date = null ) =>
			Portal_Mysql_Dates::sql_week( $date, 3 ), 1 );
		$pdo->sqliteCreateFunction( 'uuid', 'wp_generate_uuid4', 0 );
		$pdo->sqliteCreateFunction( 'connection_id', 'getmypid', 0 );
		$pdo->sqliteCreateFunction( 'last_insert_id', fn() => (int) $driver->lastInsertId(), 0 );
		$pdo->sqliteCreateAggregate( 'portal_group_concat', self::gather( ... ), self::join( ... ) );
	}

	private static function any_null( array $values ): bool {
		return in_array( null, $values, true );
	}
	private static function fold( $text ): string {
		return Portal_Database_Functions::fold( (string) $text );
	}

	public static function sql_find_in_set( $wanted = null, $list = null ) {
		if ( null === $wanted || null === $list ) return null;
		if ( '' === (string) $list ) return 0;
		$at = array_search( self::fold( $wanted ), explode( ',', self::fold( $list ) ), true );
		return false === $at ? 0 : $at + 1;
	}
	public static function sql_substring_index( $text = null, $mark = null, $count = null ) {
		if ( self::any_null( array( $text, $mark, $count ) ) ) return null;
		if ( '' === (string) $mark || 0 === (int) $count ) return '';
		$parts = explode( (string) $mark, (string) $text );
		$some = $count > 0 ? array_slice( $parts, 0, (int) $count ) : array_slice( $parts, (int) $count );
		return implode( (string) $mark, $some );
	}
	public static function sql_elt( $at = null, ...$texts ) {
		return null === $at ? null : $texts[ (int) $at - 1 ] ?? null;
	}
	public static function sql_lpad( $text = null, $length = null, $with = null ) {
		return self::pad( $text, $length, $with, true );
	}
	public static function sql_rpad( $text = null, $length = null, $with = null ) {
		return self::pad( $text, $length, $with, false );
	}
	private static function pad( $text, $length, $with, bool $is_left ) {
		if ( self::any_null( array( $text, $length, $with ) ) || $length < 0 ) return null;
		$more = (int) $length - mb_strlen( (string) $text );
		if ( $more <= 0 ) return mb_substr( (string) $text, 0, (int) $length );
		// As MySQL does above max_allowed_packet.
		if ( '' === (string) $with || $more > 1048576 ) return null;
		$fill = mb_substr( str_repeat( (string) $with, $more ), 0, $more );
		return $is_left ? $fill . $text : $text . $fill;
	}
	public static function sql_repeat( $text = null, $count = null ) {
		if ( null === $text || null === $count ) return null;
		if ( strlen( (string) $text ) * max( 0, (int) $count ) > 67108864 ) return null;
		return str_repeat( (string) $text, max( 0, (int) $count ) );
	}
	public static function sql_space( $count = null ) {
		return self::sql_repeat( ' ', $count );
	}
	public static function sql_strcmp( $one = null, $other = null ) {
		return null === $one || null === $other ? null : self::fold( $one ) <=> self::fold( $other );
	}
	public static function sql_sha1( $text = null ) {
		return null === $text ? null : sha1( (string) $text );
	}
	public static function sql_sha2( $text = null, $bits = null ) {
		$bits = 0 === (int) $bits ? 256 : (int) $bits;
		if ( null === $text || ! in_array( $bits, array( 224, 256, 384, 512 ), true ) ) return null;
		return hash( 'sha' . $bits, (string) $text );
	}
	public static function sql_portal_crc32( $text = null ) {
		return null === $text ? null : (float) sprintf( '%u', crc32( (string) $text ) );
	}
	public static function sql_inet6_aton( $address = null ) {
		$bytes = null === $address ? false : @inet_pton( (string) $address );
		return false === $bytes ? null : $bytes;
	}
	public static function sql_inet6_ntoa( $bytes = null ) {
		$address = null === $bytes ? false : @inet_ntop( (string) $bytes );
		return false === $address ? null : $address;
	}
	public static function sql_format( $number = null, $digits = null ) {
		if ( null === $number || null === $digits ) return null;
		return number_format( (float) $number, max( 0, (int) $digits ) );
	}
	public static function sql_truncate( $number = null, $digits = null ) {
		if ( null === $number || null === $digits ) return null;
		$by = 10 ** (int) $digits;
		// What binary fractions lack of a decimal one is no digit: 1.15 * 100 is 114.99999999999999.
		$whole = round( (float) $number * $by, 6 );
		return ( $whole < 0 ? ceil( $whole ) : floor( $whole ) ) / $by;
	}
	/** 0: not there. By base letters, as MySQL's collation has it. */
	public static function sql_locate( $wanted = null, $text = null, $from = 1 ) {
		if ( self::any_null( array( $wanted, $text, $from ) ) ) return null;
		$text = self::fold( $text );
		if ( $from < 1 || $from > mb_strlen( $text ) + 1 ) return 0;
		$at = mb_strpos( $text, self::fold( $wanted ), (int) $from - 1 );
		return false === $at ? 0 : $at + 1;
	}
	public static function sql_portal_instr( $text = null, $wanted = null ) {
		return self::sql_locate( $wanted, $text );
	}
	public static function sql_portal_right( $text = null, $count = null ) {
		if ( null === $text || null === $count ) return null;
		return $count < 1 ? '' : mb_substr( (string) $text, -(int) $count );
	}
	public static function sql_portal_upper( $text = null ) {
		return null === $text ? null : mb_strtoupper( (string) $text );
	}
	public static function sql_portal_lower( $text = null ) {
		return null === $text ? null : mb_strtolower( (string) $text );
	}
	/** TRIM( kind mark FROM text ). */
	public static function sql_portal_trim( $kind, $mark = null, $text = null ) {
		if ( null === $mark || null === $text ) return null;
		$mark = preg_quote( (string) $mark, '/' );
		if ( '' === $mark ) return $text;
		if ( 'TRAILING' !== $kind ) $text = preg_replace( "/^(?:$mark)+/", '', (string) $text );
		return 'LEADING' === $kind ? $text : preg_replace( "/(?:$mark)+$/D", '', (string) $text );
	}
	public static function sql_portal_hex( $value = null ) {
		if ( null === $value ) return null;
		return strtoupper( is_int( $value ) ? dechex( $value ) : bin2hex( (string) $value ) );
	}
	public static function sql_bin( $number = null ) {
		return null === $number ? null : decbin( (int) $number );
	}
	public static function sql_bit_count( $number = null ) {
		return null === $number ? null : substr_count( decbin( (int) $number ), '1' );
	}
	public static function sql_conv( $number = null, $from = null, $to = null ) {
		if ( self::any_null( array( $number, $from, $to ) ) ) return null;
		return strtoupper( base_convert( (string) $number, abs( (int) $from ), abs( (int) $to ) ) );
	}
	public static function sql_ascii( $text = null ) {
		return null === $text ? null : ( '' === (string) $text ? 0 : ord( (string) $text ) );
	}
	public static function sql_soundex( $text = null ) {
		return null === $text ? null : soundex( (string) $text );
	}
	/** Whether the JSON has all that the other has. */
	public static function sql_json_contains( $target = null, $wanted = null ) {
		if ( null === $target || null === $wanted ) return null;
		return (int) self::has( json_decode( (string) $target ), json_decode( (string) $wanted ) );
	}
	private static function has( $target, $wanted ): bool {
		if ( is_array( $target ) ) {
			$is_in = fn( $one ) => array_reduce( $target,
				fn( $found, $item ) => $found || self::has( $item, $one ), false );
			return array() === array_filter( is_array( $wanted ) ? $wanted : array( $wanted ),
				fn( $one ) => ! $is_in( $one ) );
		}
		if ( ! is_object( $target ) || ! is_object( $wanted ) ) return $target === $wanted;
		foreach ( get_object_vars( $wanted ) as $name => $value )
			if ( ! isset( $target->$name ) || ! self::has( $target->$name, $value ) ) return false;
		return true;
	}
	public static function sql_json_length( $text = null ) {
		$value = null === $text ? null : json_decode( (string) $text );
		if ( null === $value ) return null;
		return is_object( $value ) ? count( get_object_vars( $value ) )
			: ( is_array( $value ) ? count( $value ) : 1 );
	}
	/** Of a row of a group: SQLite gives one where MySQL would ask which. */
	public static function sql_any_value( $value = null ) {
		return $value;
	}
	/** SQLite's JSON functions answer texts without their quotes. */
	public static function sql_json_unquote( $value = null ) {
		return $value;
	}

	private static function words( string $text ): array {
		$between = '/[^\p{L}\p{N}_\']+/u';
		return preg_split( $between, self::fold( $text ), -1, PREG_SPLIT_NO_EMPTY ) ?: array();
	}
	/**
	 * MATCH ( columns ) AGAINST ( words mode ): how well a row fits, 0 where it does not. Rows are
	 * read one by one, as LIKE reads them; the order among hits is by how often words occur, without
	 * MySQL's weight for words that are rare.
	 */
	public static function sql_portal_match( $wanted = null, $is_boolean = 0, ...$columns ) {
		if ( null === $wanted ) return 0.0;
		$text = implode( ' ', array_map( 'strval', $columns ) );
		$counts = array_count_values( array_map( 'strval', self::words( $text ) ) );
		return $is_boolean ? self::boolean_score( (string) $wanted, $text, $counts )
			: array_sum( array_map( fn( $word ) => self::weight( $counts[ $word ] ?? 0 ),
				array_filter( self::words( (string) $wanted ), self::is_indexed( ... ) ) ) );
	}
	private static function is_indexed( string $word ): bool {
		return mb_strlen( $word ) >= 3 && ! str_contains( self::STOP_WORDS, " $word " );
	}
	private static function weight( int $count ): float {
		return $count / ( 1 + $count );
	}
	private static function boolean_score( string $wanted, string $text, array $counts ): float {
		$term = '/([+\-~<>]*)(?:"([^"]*)"|([^\s"()+\-~<>*@,.]+)(\*?))/u';
		preg_match_all( $term, $wanted, $all, PREG_SET_ORDER );
		$score = 0.0;
		$has_required = false;
		foreach ( $all as $term ) {
			$word = self::fold( $term[3] ?? '' );
			if ( '' === $word ) {
				$phrase = ' ' . implode( ' ', self::words( $term[2] ) ) . ' ';
				$count = substr_count( ' ' . implode( ' ', self::words( $text ) ) . ' ', $phrase );
			} elseif ( '*' === ( $term[4] ?? '' ) ) {
				$begins = fn( $one ) => str_starts_with( (string) $one, $word );
				$count = array_sum( array_filter( $counts, $begins, ARRAY_FILTER_USE_KEY ) );
			} elseif ( self::is_indexed( $word ) ) {
				$count = $counts[ $word ] ?? 0;
			} else {
				continue;
			}
			if ( str_contains( $term[1], '-' ) && $count > 0 ) return 0.0;
			if ( str_contains( $term[1], '+' ) && 0 === $count ) return 0.0;
			$has_required = $has_required || str_contains( $term[1], '+' );
			if ( ! str_contains( $term[1], '-' ) )
				$score += self::weight( $count ) * ( str_contains( $term[1], '~' ) ? -0.5 : 1 );
		}
		return $has_required && $score <= 0 ? 0.001 : max( 0.0, $score );
	}

	/**
	 * GROUP_CONCAT: a row of the group. Its arguments: separator, whether each value is taken once,
	 * the value, and for each key of its order the direction and the key.
	 */
	private static function gather( $rows, $number, $separator, $is_distinct, $value, ...$order ) {
		$rows ??= array( (string) $separator, (bool) $is_distinct, array() );
		if ( null !== $value ) $rows[2][] = array( (string) $value, $order );
		return $rows;
	}
	private static function join( $rows, $number ) {
		if ( null === $rows || array() === $rows[2] ) return null;
		list( $separator, $is_distinct, $all ) = $rows;
		if ( $is_distinct ) {
			$once = array();
			foreach ( $all as $row ) $once[ self::fold( $row[0] ) ] ??= $row;
			$all = array_values( $once );
		}
		usort( $all, function ( $one, $other ) {
			for ( $at = 0; $at < count( $one[1] ); $at += 2 ) {
				list( $left, $right ) = array( $one[1][ $at + 1 ], $other[1][ $at + 1 ] );
				if ( is_string( $left ) && is_string( $right ) )
					list( $left, $right ) = array( self::fold( $left ), self::fold( $right ) );
				$is_less = $left <=> $right;
				if ( 0 !== $is_less ) return 'DESC' === $one[1][ $at ] ? -$is_less : $is_less;
			}
			return 0;
		} );
		return implode( $separator, array_column( $all, 0 ) );
	}
}
