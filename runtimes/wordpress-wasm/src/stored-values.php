<?php
/**
 * Replaces something within what a database stores, in values that PHP serialized too. Those are
 * read by their grammar and written with new lengths, so no class of a plugin is instantiated; one
 * that does not follow the grammar stays as it is. Stands before what uses it (acts.js).
 */
abstract class Portal_Values {
	/** What becomes of a text that is no serialized value. */
	abstract protected function in_text( string $text ): string;

	public function in( string $value ): string {
		if ( preg_match( '~^(?:[aOCE]:\\d+:|s:\\d+:")~', $value ) ) {
			$at = 0;
			$written = $this->serialized( $value, $at, 0 );
			if ( $written !== null ) {
				return $at === strlen( $value ) ? $written : $value;
			}
			return $value;
		}
		return $this->in_text( $value );
	}

	/** One value of PHP's serialization format from $at on; null where it does not follow it. */
	private function serialized( string $value, int &$at, int $depth ): ?string {
		if ( $depth > 200 ) {
			return null;
		}
		if ( preg_match( '~\\G(?:N;|b:[01];|[ird]:[^;"{}]{1,60};|R:\\d+;)~A', $value, $found, 0, $at ) ) {
			$at += strlen( $found[0] );
			return $found[0];
		}
		if ( preg_match( '~\\G([sE]):(\\d+):"~A', $value, $found, 0, $at ) ) {
			$text = $this->quoted( $value, $at, $found );
			if ( $text === null || substr( $value, $at, 2 ) !== '";' ) {
				return null;
			}
			$at += 2;
			if ( $found[1] === 's' ) {
				$text = $this->in( $text );
			}
			return $found[1] . ':' . strlen( $text ) . ':"' . $text . '";';
		}
		if ( preg_match( '~\\Ga:(\\d+):\\{~A', $value, $found, 0, $at ) ) {
			$at += strlen( $found[0] );
			return $this->members( $value, $at, $depth, (int) $found[1], $found[0] );
		}
		if ( preg_match( '~\\G([OC]):(\\d+):"~A', $value, $found, 0, $at ) ) {
			$class = $this->quoted( $value, $at, $found );
			if ( $class === null || ! preg_match( '~\\G":(\\d+):\\{~A', $value, $count, 0, $at ) ) {
				return null;
			}
			$at += strlen( $count[0] );
			$head = $found[1] . ':' . strlen( $class ) . ':"' . $class . $count[0];
			if ( $found[1] === 'O' ) {
				return $this->members( $value, $at, $depth, (int) $count[1], $head );
			}
			// A class's own format: its bytes stay.
			$own = substr( $value, $at, (int) $count[1] );
			$at += (int) $count[1];
			if ( substr( $value, $at, 1 ) !== '}' ) {
				return null;
			}
			$at++;
			return $head . $own . '}';
		}
		return null;
	}

	private function quoted( string $value, int &$at, array $found ): ?string {
		$begin = $at + strlen( $found[0] );
		$length = (int) $found[2];
		if ( $begin + $length > strlen( $value ) ) {
			return null;
		}
		$at = $begin + $length;
		return substr( $value, $begin, $length );
	}

	private function members(
		string $value, int &$at, int $depth, int $count, string $head
	): ?string {
		$parts = array( $head );
		for ( $index = 0; $index < 2 * $count; $index++ ) {
			// Keys of arrays and names of properties stay.
			$before = $at;
			$part = $this->serialized( $value, $at, $depth + 1 );
			if ( $part === null ) {
				return null;
			}
			$parts[] = $index % 2 === 0 ? substr( $value, $before, $at - $before ) : $part;
		}
		if ( substr( $value, $at, 1 ) !== '}' ) {
			return null;
		}
		$at++;
		$parts[] = '}';
		return implode( '', $parts );
	}
}

/** Columns that hold text, and those of the key: whether each is a whole number. */
function portal_columns( string $table ): array {
	global $wpdb;
	$text = array();
	$keys = array();
	foreach ( (array) $wpdb->get_results( "DESCRIBE `$table`" ) as $column ) {
		if ( $column->Key === 'PRI' ) {
			$keys[ $column->Field ] = preg_match( '~int~i', $column->Type ) === 1;
		}
		if ( preg_match( '~char|text|blob|json~i', $column->Type ) ) {
			$text[] = $column->Field;
		}
	}
	return array( $text, $keys );
}

/**
 * Bytes of a table: `$told` where the database tells, else what its values come to, for SQLite does
 * not say.
 */
function portal_bytes( string $table, int $told ): int {
	global $wpdb;
	if ( $told > 0 ) {
		return $told;
	}
	$lengths = array_map( fn( $column ) => "COALESCE(LENGTH(`$column->Field`), 0)",
		(array) $wpdb->get_results( "DESCRIBE `$table`" ) );
	return (int) $wpdb->get_var( 'SELECT SUM(' . implode( ' + ', $lengths ) . ") FROM `$table`" );
}

function portal_tables(): array {
	global $wpdb;
	$tables = $wpdb->get_col( $wpdb->prepare( 'SHOW TABLES LIKE %s',
		$wpdb->esc_like( $wpdb->base_prefix ) . '%' ) );
	sort( $tables );
	return $tables;
}

/**
 * Goes through rows that hold one of the needles, for some seconds.
 *
 * @param array $step `dryRun`, `after` (what the step before answered, null at first), `ms` (how
 *     long it may take), and optionally `tables` and `takes` (whether a column is looked at)
 */
function portal_replace( Portal_Values $values, array $needles, array $step ): array {
	global $wpdb;
	$until = microtime( true ) + $step['ms'] / 1000;
	$wpdb->suppress_errors( true );
	$tables = $step['tables'] ?? portal_tables();
	$takes = $step['takes'] ?? fn( $column ) => true;
	$after = $step['after'] ?? array( 'table' => '', 'key' => null );
	$found = array();
	$samples = array();
	$skipped = array();
	foreach ( $tables as $table ) {
		if ( strcmp( $table, $after['table'] ) < 0
			|| ( $table === $after['table'] && $after['key'] === null ) ) {
			continue;
		}
		list( $columns, $keys ) = portal_columns( $table );
		$columns = array_values( array_filter( $columns, $takes ) );
		if ( $columns === array() ) {
			continue;
		}
		// What is kept without a whole number as its key (few plugins do) is not changed.
		if ( count( $keys ) !== 1 || ! current( $keys ) ) {
			$skipped[] = $table;
			continue;
		}
		$key = key( $keys );
		$last = $table === $after['table'] ? $after['key'] : null;
		$mentions = array();
		foreach ( $columns as $column ) {
			foreach ( $needles as $needle ) {
				$mentions[] = $wpdb->prepare( "`$column` LIKE %s", '%' . $wpdb->esc_like( $needle ) . '%' );
			}
		}
		$where = '(' . implode( ' OR ', $mentions ) . ')';
		do {
			$rows = $wpdb->get_results( "SELECT * FROM `$table` WHERE $where"
				. ( $last === null ? '' : $wpdb->prepare( " AND `$key` > %d", $last ) )
				. " ORDER BY `$key` LIMIT 50", ARRAY_A );
			foreach ( (array) $rows as $row ) {
				$last = (int) $row[ $key ];
				$changed = array();
				foreach ( $columns as $column ) {
					if ( ! is_string( $row[ $column ] ?? null ) ) {
						continue;
					}
					$written = $values->in( $row[ $column ] );
					if ( $written !== $row[ $column ] ) {
						$changed[ $column ] = $written;
					}
				}
				if ( $changed === array() ) {
					continue;
				}
				$found[ $table ] = ( $found[ $table ] ?? 0 ) + count( $changed );
				if ( count( $samples ) < 5 ) {
					$samples[] = $table . ' ' . $key . '=' . $last . ' ' . implode( ', ', array_keys( $changed ) );
				}
				if ( ! $step['dryRun']
					&& $wpdb->update( $table, $changed, array( $key => $row[ $key ] ) ) === false ) {
					return array( 'error' => "$table $key=$last: " . $wpdb->last_error );
				}
			}
			if ( count( (array) $rows ) === 50 && microtime( true ) > $until ) {
				return array( 'after' => array( 'table' => $table, 'key' => $last ),
					'tables' => (object) $found, 'samples' => $samples, 'skipped' => $skipped );
			}
		} while ( count( (array) $rows ) === 50 );
		if ( microtime( true ) > $until ) {
			return array( 'after' => array( 'table' => $table, 'key' => null ),
				'tables' => (object) $found, 'samples' => $samples, 'skipped' => $skipped );
		}
	}
	if ( ! $step['dryRun'] ) {
		wp_cache_flush();
	}
	return array( 'after' => null, 'tables' => (object) $found,
		'samples' => $samples, 'skipped' => $skipped );
}
