<?php
/**
 * Statements of MySQL that the database drop-in refuses, written as it takes them: functions with a
 * syntax of their own become calls of `portal_…` (mysql-functions.php), CREATE TABLE … LIKE and
 * … SELECT become a table of those columns, and what is asked about a server that is not there is
 * answered. By the drop-in's own tokens, so that nothing inside a text is changed.
 */
final class Portal_Mysql_Statements {
	private const CALLS = 'GROUP_CONCAT|TIMESTAMPDIFF|TIMESTAMPADD|EXTRACT|MATCH|ADDDATE|SUBDATE'
		. '|DATE_ADD|DATE_SUB|DATE_FORMAT|CRC32|CAST|TRIM|POSITION';
	/** What SQLite counts, compares or writes otherwise under the same name. */
	private const NAMES = array( 'LENGTH' => 'OCTET_LENGTH', 'CHARACTER_LENGTH' => 'CHAR_LENGTH',
		'INSTR' => 'PORTAL_INSTR', 'RIGHT' => 'PORTAL_RIGHT', 'UPPER' => 'PORTAL_UPPER',
		'UCASE' => 'PORTAL_UPPER', 'LOWER' => 'PORTAL_LOWER', 'LCASE' => 'PORTAL_LOWER',
		'HEX' => 'PORTAL_HEX', 'TIMEDIFF' => 'PORTAL_TIMEDIFF' );
	private const UNITS = array( 'SECOND', 'MINUTE', 'HOUR', 'DAY', 'WEEK', 'MONTH', 'QUARTER',
		'YEAR' );
	private const PAIRS = array( 'YEAR_MONTH', 'DAY_HOUR', 'DAY_MINUTE', 'HOUR_MINUTE',
		'MINUTE_SECOND' );
	/**
	 * What a statement has, outside of its texts, that may need another form. Every statement is
	 * looked through, by PCRE without a compiler: names stand by their first letters, and texts are
	 * passed over in one step.
	 */
	private const WANTED = '~\'[^\'\\\\]*+(?:\\\\.[^\'\\\\]*+)*+\'(*SKIP)(*FAIL)'
		. '|"[^"\\\\]*+(?:\\\\.[^"\\\\]*+)*+"(*SKIP)(*FAIL)'
		. '|(?<=[\w)`\s])/|@@|\|\||&&|[+\-]\s*INTERVAL\b|\b(?:ADDDATE|C(?:AST|RC32|HARACTER_LENGTH)'
		. '|DATE_(?:ADD|SUB|FORMAT)|EXTRACT|GROUP_CONCAT|HEX|INSTR|L(?:ENGTH|OWER|CASE)|MATCH'
		. '|POSITION|RIGHT|SUBDATE|T(?:IME(?:STAMP(?:DIFF|ADD)|DIFF)|RIM)|U(?:PPER|CASE))\s*\(~is';
	/** What a server of MySQL says of itself; those that the drop-in knows are not here. */
	private const VARIABLES = array( 'character_set_client' => 'utf8mb4',
		'character_set_connection' => 'utf8mb4', 'character_set_database' => 'utf8mb4',
		'character_set_results' => 'utf8mb4', 'character_set_server' => 'utf8mb4',
		'collation_connection' => 'utf8mb4_unicode_520_ci',
		'collation_database' => 'utf8mb4_unicode_520_ci',
		'collation_server' => 'utf8mb4_unicode_520_ci', 'default_storage_engine' => 'InnoDB',
		'ft_min_word_len' => '3', 'group_concat_max_len' => '67108864', 'have_query_cache' => 'NO',
		'innodb_ft_min_token_size' => '3', 'log_bin' => 'OFF', 'lower_case_table_names' => '0',
		'max_allowed_packet' => '67108864', 'max_connections' => '151', 'storage_engine' => 'InnoDB',
		'system_time_zone' => 'UTC', 'time_zone' => 'SYSTEM', 'wait_timeout' => '28800' );
	/** What the database has none of, and the column that tells of it. */
	private const NOTHING = array( 'TRIGGERS' => 'Trigger', 'EVENTS' => 'Name',
		'PROCEDURE' => 'Name', 'FUNCTION' => 'Name', 'PROCESSLIST' => 'Id', 'PLUGINS' => 'Name' );

	private string $sql;
	/** Of each token: its bytes, where it begins, and where it ends. */
	private array $tokens = array();
	private bool $has_or;

	/** The filter `query`. */
	public static function rewrite( $sql ) {
		if ( ! is_string( $sql ) ) return $sql;
		$word = strtoupper( substr( ltrim( $sql ), 0, 6 ) );
		$is_about_tables = 'CREATE' === $word || str_starts_with( $word, 'SHOW' );
		if ( ! $is_about_tables && 0 === preg_match( self::WANTED, $sql ) ) return $sql;
		try {
			return ( new self( $sql ) )->whole();
		} catch ( Throwable $not_understood ) {
			// The drop-in says what is wrong with it.
			return $sql;
		}
	}

	private function __construct( string $sql ) {
		$this->sql = $sql;
		$driver = $GLOBALS['wpdb']->get_driver();
		$modes = array_filter( array( 'NO_BACKSLASH_ESCAPES', 'ANSI_QUOTES', 'PIPES_AS_CONCAT' ),
			array( $driver, 'is_sql_mode_active' ) );
		$this->has_or = ! in_array( 'PIPES_AS_CONCAT', $modes, true );
		$all = ( new WP_MySQL_Lexer( $sql, 80038, $modes ) )->remaining_tokens();
		// Without its end it was not read to its end.
		if ( array() === $all || WP_MySQL_Lexer::EOF !== array_pop( $all )->id )
			throw new UnexpectedValueException( 'not understood' );
		foreach ( $all as $token )
			$this->tokens[] = array( $token->get_bytes(), $token->start,
				$token->start + $token->length );
	}

	private function is( int $at, string ...$words ): bool {
		return in_array( strtoupper( $this->tokens[ $at ][0] ?? '' ), $words, true );
	}
	/** The place after the parenthesis that is opened at `$at`. */
	private function after( int $at ): int {
		$depth = 0;
		do {
			$depth += $this->is( $at, '(' ) ? 1 : ( $this->is( $at, ')' ) ? -1 : 0 );
			if ( ! isset( $this->tokens[ $at++ ] ) ) throw new UnexpectedValueException( 'not closed' );
		} while ( $depth > 0 );
		return $at;
	}
	/** Tokens from `$from` to before `$to`, split at the given words outside of parentheses. */
	private function split( int $from, int $to, string ...$words ): array {
		$parts = array( array( $from, $to ) );
		for ( $at = $from; $at < $to; $at++ ) {
			if ( $this->is( $at, '(' ) ) {
				$at = $this->after( $at ) - 1;
			} elseif ( $this->is( $at, ...$words ) ) {
				$parts[ array_key_last( $parts ) ][1] = $at;
				$parts[] = array( $at + 1, $to );
			}
		}
		return $parts;
	}
	/** The text of these tokens, with what stands between them, and with calls in it written anew. */
	private function text( int $from, int $to ): string {
		$text = '';
		/** Where in the text each token begins. */
		$places = array();
		for ( $at = $from; $at < $to; ) {
			list( $bytes, $begins ) = $this->tokens[ $at ];
			$ended = $at > $from ? $this->tokens[ $at - 1 ][2] : $begins;
			$text .= substr( $this->sql, $ended, $begins - $ended );
			$places[ $at ] = strlen( $text );
			$is_name = $this->is( $at - 1, '.', 'INTO', 'FROM', 'JOIN', 'UPDATE', 'AS' );
			$call = $this->is( $at + 1, '(' ) && ! $is_name ? $this->call( $at ) : null;
			if ( null === $call && '@@' === substr( $bytes, 0, 2 ) ) $call = $this->variable( $at );
			$is_sum = $this->is( $at, '+', '-' ) && $this->is( $at + 1, 'INTERVAL' );
			$left = $is_sum ? $places[ $this->operand( $at - 1 ) ] ?? null : null;
			$sum = null === $left ? null : $this->interval( $at + 1, $to, $this->is( $at, '-' ),
				trim( substr( $text, $left ) ) );
			if ( null !== $sum ) {
				$text = substr( $text, 0, $left );
				$call = $sum;
			}
			$call ??= array( $this->sign( $bytes ), $at + 1 );
			$text .= $call[0];
			$at = $call[1];
			// What follows may go on with this date.
			if ( null !== $sum ) $places[ $at - 1 ] = $left;
		}
		return $text;
	}
	/** SQLite divides integers without a rest, and joins texts by what is OR in MySQL. */
	private function sign( string $bytes ): string {
		if ( '/' === $bytes ) return '* 1.0 /';
		if ( '&&' === $bytes ) return 'AND';
		return '||' === $bytes && $this->has_or ? 'OR' : $bytes;
	}
	/** Where the name, value, call or parenthesis begins that ends at `$at`. */
	private function operand( int $at ): int {
		if ( $this->is( $at, ')' ) ) {
			for ( $depth = 1; $depth > 0; )
				$depth += $this->is( --$at, ')' ) ? 1 : ( $this->is( $at, '(' ) ? -1 : 0 );
			$is_call = $at > 0 && $this->tokens[ $at - 1 ][2] === $this->tokens[ $at ][1]
				&& preg_match( '/^\w+$/', $this->tokens[ $at - 1 ][0] );
			if ( ! $is_call ) return $at;
			$at--;
		}
		while ( $this->is( $at - 1, '.' ) ) $at -= 2;
		return $at;
	}
	/** A date and INTERVAL n unit, as a call, and the place after it; null for units of two parts. */
	private function interval( int $at, int $to, bool $is_less, string $date ): ?array {
		for ( $unit = $at + 2; $unit < $to && ! $this->is( $unit, ...self::UNITS, ...self::PAIRS ); )
			$unit = $this->is( $unit, '(' ) ? $this->after( $unit ) : $unit + 1;
		if ( $unit >= $to || ! $this->is( $unit, ...self::UNITS ) ) return null;
		$word = strtoupper( $this->tokens[ $unit ][0] );
		$count = ( $is_less ? '-' : '' ) . "({$this->text( $at + 1, $unit )})";
		return array( "PORTAL_TIMESTAMPADD('$word', $count, $date)", $unit + 1 );
	}

	/** The statement as the drop-in takes it. */
	private function whole(): string {
		if ( $this->is( 0, 'SHOW' ) ) return $this->show() ?? $this->sql;
		if ( $this->is( 0, 'CREATE' ) ) return $this->create() ?? $this->sql;
		// In any other, such as ALTER, a name before a parenthesis is a key's.
		$is_plain = $this->is( 0, '(', 'SELECT', 'WITH', 'INSERT', 'REPLACE', 'UPDATE', 'DELETE',
			'EXPLAIN', 'DESCRIBE' );
		return $is_plain ? $this->text( 0, count( $this->tokens ) ) : $this->sql;
	}

	/** A call written anew, and the place after it; null for any other call. */
	private function call( int $at ): ?array {
		$name = strtoupper( $this->tokens[ $at ][0] );
		if ( isset( self::NAMES[ $name ] ) ) return array( self::NAMES[ $name ], $at + 1 );
		if ( ! in_array( $name, explode( '|', self::CALLS ), true ) ) return null;
		$next = $this->after( $at + 1 );
		list( $from, $to ) = array( $at + 2, $next - 1 );
		switch ( $name ) {
			case 'GROUP_CONCAT':
				return array( $this->group_concat( $from, $to ), $next );
			case 'TIMESTAMPDIFF':
			case 'TIMESTAMPADD':
				list( list( $unit ), $one, $other ) = $this->split( $from, $to, ',' );
				$word = preg_replace( '/^SQL_TSI_/', '', strtoupper( $this->tokens[ $unit ][0] ) );
				if ( ! in_array( $word, self::UNITS, true ) ) return null;
				$call = "PORTAL_$name('$word', {$this->text( ...$one )}, {$this->text( ...$other )})";
				return array( 'TIMESTAMPDIFF' === $name ? "CAST($call AS SIGNED)" : $call, $next );
			case 'DATE_FORMAT':
				list( $date, $format ) = $this->split( $from, $to, ',' );
				$format = $this->text( ...$format );
				// This one the drop-in compares with numbers.
				if ( "'%H.%i'" === $format ) return null;
				return array( "PORTAL_DATE_FORMAT({$this->text( ...$date )}, $format)", $next );
			case 'CAST':
				list( $value, $type ) = $this->split( $from, $to, 'AS' );
				if ( ! $this->is( $type[0], 'DATE', 'DATETIME' ) ) return null;
				$word = strtoupper( $this->tokens[ $type[0] ][0] );
				return array( "PORTAL_CAST('$word', {$this->text( ...$value )})", $next );
			case 'TRIM':
				if ( ! $this->is( $from, 'BOTH', 'LEADING', 'TRAILING' ) ) return null;
				list( $mark, $text ) = $this->split( $from + 1, $to, 'FROM' );
				$mark = $mark[0] === $mark[1] ? "' '" : $this->text( ...$mark );
				$word = strtoupper( $this->tokens[ $from ][0] );
				return array( "PORTAL_TRIM('$word', $mark, {$this->text( ...$text )})", $next );
			case 'POSITION':
				list( $wanted, $text ) = $this->split( $from, $to, 'IN' );
				return array( "LOCATE({$this->text( ...$wanted )}, {$this->text( ...$text )})", $next );
			case 'CRC32':
				return array( "CAST(PORTAL_CRC32({$this->text( $from, $to )}) AS SIGNED)", $next );
			case 'EXTRACT':
				$word = strtoupper( $this->tokens[ $from ][0] );
				if ( ! in_array( $word, array_merge( self::UNITS, self::PAIRS ), true ) ) return null;
				return array( "PORTAL_EXTRACT('$word', {$this->text( $from + 2, $to )})", $next );
			case 'ADDDATE':
			case 'SUBDATE':
			case 'DATE_ADD':
			case 'DATE_SUB':
				list( $date, $more ) = $this->split( $from, $to, ',' );
				list( $date, $is_less ) = array( $this->text( ...$date ), str_contains( $name, 'SUB' ) );
				$days = ( $is_less ? '-' : '' ) . "({$this->text( ...$more )})";
				if ( ! $this->is( $more[0], 'INTERVAL' ) )
					return array( "PORTAL_TIMESTAMPADD('DAY', $days, $date)", $next );
				$sum = $this->interval( $more[0], $to, $is_less, $date );
				return null === $sum ? null : array( $sum[0], $next );
			default:
				return $this->full_text( $from, $to, $next );
		}
	}
	private function group_concat( int $from, int $to ): string {
		$is_distinct = (int) $this->is( $from, 'DISTINCT' );
		list( $values, $mark ) = $this->split( $from + $is_distinct, $to, 'SEPARATOR' )
			+ array( 1 => null );
		list( $values, $order ) = $this->split( $values[0], $values[1], 'ORDER' ) + array( 1 => null );
		$texts = array_map( fn( $one ) => $this->text( ...$one ),
			$this->split( $values[0], $values[1], ',' ) );
		$value = count( $texts ) > 1 ? 'CONCAT(' . implode( ', ', $texts ) . ')' : $texts[0];
		$arguments = array( null === $mark ? "','" : $this->text( ...$mark ), $is_distinct, $value );
		// After ORDER stands BY.
		foreach ( $order ? $this->split( $order[0] + 1, $order[1], ',' ) : array() as $key ) {
			$has_word = $this->is( $key[1] - 1, 'ASC', 'DESC' );
			$arguments[] = $this->is( $key[1] - 1, 'DESC' ) ? "'DESC'" : "'ASC'";
			$arguments[] = $this->text( $key[0], $key[1] - (int) $has_word );
		}
		return 'PORTAL_GROUP_CONCAT(' . implode( ', ', $arguments ) . ')';
	}
	/** MATCH ( columns ) AGAINST ( words [mode] ). */
	private function full_text( int $from, int $to, int $next ): ?array {
		if ( ! $this->is( $next, 'AGAINST' ) ) return null;
		$end = $this->after( $next + 1 );
		$words = $this->split( $next + 2, $end - 1, 'IN', 'WITH' );
		$is_boolean = (int) ( isset( $words[1] ) && $this->is( $words[1][0], 'BOOLEAN' ) );
		return array( "PORTAL_MATCH({$this->text( ...$words[0] )}, $is_boolean, "
			. "{$this->text( $from, $to )})", $end );
	}
	/** `@@name`, `@@session.name`: its value, and the place after it. */
	private function variable( int $at ): ?array {
		$said = '';
		for ( $next = $at; isset( $this->tokens[ $next ] ); $next++ ) {
			$is_next = '' === $said || $this->tokens[ $next - 1 ][2] === $this->tokens[ $next ][1];
			if ( ! $is_next || ! preg_match( '/^[@.\w]+$/', $this->tokens[ $next ][0] ) ) break;
			$said .= $this->tokens[ $next ][0];
		}
		$name = preg_replace( '/^@@(?:(?:global|session|local)\.)?/', '', strtolower( $said ) );
		$value = self::VARIABLES[ $name ] ?? null;
		if ( null === $value ) return null;
		return array( ctype_digit( $value ) ? $value : "'$value'", $next );
	}

	/** SHOW of what the drop-in does not know, as a SELECT. */
	private function show(): ?string {
		$at = $this->is( 1, 'GLOBAL', 'SESSION', 'FULL' ) ? 2 : 1;
		$word = strtoupper( $this->tokens[ $at ][0] ?? '' );
		if ( isset( self::NOTHING[ $word ] ) && ! $this->is( $at + 1, 'CODE' ) )
			return 'SELECT 1 AS `' . self::NOTHING[ $word ] . '` FROM DUAL WHERE FALSE';
		if ( $this->is( $at, 'ENGINES' ) )
			return "SELECT 'InnoDB' AS `Engine`, 'DEFAULT' AS `Support`, 'YES' AS `Transactions`";
		if ( ! $this->is( $at, 'VARIABLES' ) ) return null;
		$own = $GLOBALS['wpdb']->get_driver()
			->query( 'SELECT @@version AS version, @@version_comment AS version_comment,
				@@sql_mode AS sql_mode' )->fetch( PDO::FETCH_ASSOC );
		$rows = array();
		foreach ( self::VARIABLES + $own as $name => $value )
			$rows[] = "SELECT '$name' AS `Variable_name`, '" . addslashes( $value ) . "' AS `Value`";
		$rest = $this->text( $at + 1, count( $this->tokens ) );
		return 'SELECT * FROM (' . implode( ' UNION ALL ', $rows ) . ') AS `portal_variables` '
			. ( $this->is( $at + 1, 'LIKE' ) ? "WHERE `Variable_name` $rest" : $rest );
	}

	/** CREATE TABLE … LIKE and CREATE TABLE … SELECT. */
	private function create(): ?string {
		$at = $this->is( 1, 'TEMPORARY' ) ? 2 : 1;
		if ( ! $this->is( $at, 'TABLE' ) ) return null;
		$at += $this->is( $at + 1, 'IF' ) ? 4 : 1;
		$name = $at;
		for ( $at++; $this->is( $at, '.' ); ) $at += 2;
		$head = $this->text( 0, $at );
		$open = (int) $this->is( $at, '(' );
		if ( $this->is( $at + $open, 'LIKE' ) ) {
			$like = $this->text( $at + $open + 1, count( $this->tokens ) - $open );
			return $this->create_like( $head, rtrim( $like, ' ;' ) );
		}
		$at += (int) $this->is( $at, 'AS', 'IGNORE', 'REPLACE' );
		$open = (int) $this->is( $at, '(' );
		if ( ! $this->is( $at + $open, 'SELECT' ) ) return null;
		$select = rtrim( $this->text( $at, count( $this->tokens ) ), ' ;' );
		return $this->create_as( $head, $this->tokens[ $name ][0], $select );
	}
	private function create_like( string $head, string $other ): ?string {
		$driver = $GLOBALS['wpdb']->get_driver();
		$shown = $driver->query( "SHOW CREATE TABLE $other" )->fetch( PDO::FETCH_NUM );
		$body = is_array( $shown ) ? preg_replace( '/^CREATE (?:TEMPORARY )?TABLE `(?:[^`]|``)+`/', '',
			$shown[1], 1, $count ) : '';
		if ( 1 !== ( $count ?? 0 ) ) return null;
		return $head . preg_replace( '/ AUTO_INCREMENT=\d+/', '', $body );
	}
	/** Makes the table, and answers the statement that fills it. */
	private function create_as( string $head, string $name, string $select ): ?string {
		$driver = $GLOBALS['wpdb']->get_driver();
		$is_there = preg_match( '/IF\s+NOT\s+EXISTS/i', $head )
			&& $driver->query( "SHOW TABLES LIKE '" . trim( $name, '`' ) . "'" )->fetch();
		if ( $is_there ) return "$head (`portal` int)";
		$inner = str_starts_with( $select, '(' ) ? $select : "($select)";
		$found = $driver->query( "SELECT * FROM $inner AS `portal_new` LIMIT 0" );
		$columns = array();
		for ( $at = 0; $at < $found->columnCount(); $at++ ) {
			$column = $found->getColumnMeta( $at );
			$kind = strtoupper( (string) ( $column['native_type'] ?? '' ) );
			$name_of = str_replace( '`', '``', $column['name'] );
			$columns[] = "`$name_of` " . ( str_contains( $kind, 'LONG' ) ? 'bigint'
				: ( 'DOUBLE' === $kind ? 'double' : 'longtext' ) );
		}
		if ( array() === $columns ) return null;
		$driver->query( $head . ' (' . implode( ', ', $columns ) . ')' );
		return "INSERT INTO $name $select";
	}
}
try {
	Portal_Mysql_Functions::register( $GLOBALS['wpdb']->get_driver() );
	add_filter( 'query', array( 'Portal_Mysql_Statements', 'rewrite' ), PHP_INT_MAX );
} catch ( RuntimeException $no_connection ) {
	// WordPress says by itself that it has no database.
}
