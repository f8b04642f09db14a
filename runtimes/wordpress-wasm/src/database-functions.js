// MySQL functions that SQLite lacks, as PHP for the database drop-in: LIKE that handles letters
// beyond ASCII, and locks between the containers of a site. They are registered on the drop-in's
// own connection and replace the SQLite plugin's functions of the same names.

const combining = /\p{M}/u
/**
 * Letters that Unicode does not decompose, but that MariaDB's collation utf8mb4_unicode_520_ci
 * treats as their base letter.
 */
const alike = {
  ...{ đ: 'd', Đ: 'd', ø: 'o', Ø: 'o', ł: 'l', Ł: 'l', ħ: 'h', Ħ: 'h', ı: 'i' },
  // The collation treats й as a letter of its own.
  ...{ й: 'й', Й: 'й' },
}
/** Blocks of Latin, Greek and Cyrillic letters, and the combining marks. */
const blocks = [
  [0x00c0, 0x024f],
  [0x0300, 0x036f],
  [0x0370, 0x052f],
  [0x1e00, 0x1fff],
]

/**
 * Maps each letter to its base letter in lower case, where they differ, by Unicode's decomposition
 * (NFD). A mark alone maps to nothing, so that decomposed text is found as well.
 * @returns {Record<string, string>}
 */
export function baseLetters() {
  const found = {}
  for (const [first, last] of blocks) {
    for (let point = first; point <= last; point++) {
      const letter = String.fromCodePoint(point)
      if (!/[\p{L}\p{M}]/u.test(letter)) continue
      const base =
        alike[letter] ??
        [...letter.normalize('NFD')]
          .filter((one) => !combining.test(one))
          .join('')
          .toLowerCase()
          .normalize('NFD')
          .replace(/\p{M}/gu, '')
      if (base !== letter) found[letter] = base
    }
  }
  return found
}

const phpString = (text) => `'${text.replace(/[\\']/g, '\\$&')}'`
const phpMap = (map) =>
  `array(${Object.entries(map)
    .map(([from, to]) => `${phpString(from)}=>${phpString(to)}`)
    .join(',')})`

/**
 * The PHP file; `lockDir`: the path, as PHP sees it, of a folder that all containers of the site
 * share.
 */
export const databaseFunctions = (lockDir) => `<?php
// Written by the hosting platform at every start.
final class Portal_Database_Functions {
	private const LOCK_DIR = ${phpString(lockDir)};
	/** The longest that PHP may take for a request is three minutes. */
	private const LONGEST_WAIT = 120.0;
	private const BASE_LETTERS = ${phpMap(baseLetters())};
	private static array $patterns = array();
	/** Texts that were folded last: a search asks for the same row once for each of its words. */
	private static array $folded = array();
	/**
	 * Locks of this request: file => [handle, count]. They go with the request, as MySQL's do with the
	 * connection.
	 */
	private static array $locks = array();

	public static function register( $pdo ): void {
		$functions = array(
			'like'         => 'like',
			'get_lock'     => 'get_lock',
			'release_lock' => 'release_lock',
			'is_free_lock' => 'is_free_lock',
		);
		foreach ( $functions as $name => $method ) {
			// SQLite has its own like() with two arguments and with three, and takes the nearest.
			foreach ( 'like' === $name ? array( 2, 3 ) : array( -1 ) as $count )
				$pdo->sqliteCreateFunction( $name, array( self::class, $method ), $count );
		}
	}

	/** Base letters in lower case: texts that MySQL's collation takes for one are one. */
	public static function fold( string $text ): string {
		if ( ! preg_match( '/[\\x80-\\xff]/', $text ) ) return strtolower( $text );
		foreach ( self::$folded as $pair ) if ( $pair[0] === $text ) return $pair[1];
		$folded = strtr( strtolower( $text ), self::BASE_LETTERS );
		if ( array_unshift( self::$folded, array( $text, $folded ) ) > 4 ) array_pop( self::$folded );
		return $folded;
	}

	/**
	 * A pattern once and for all its rows: [kind, folded text] where it has no wildcard in its middle,
	 * else [regular expression].
	 */
	private static function compile( string $pattern, string $escape ): array {
		$parts = array( '' );
		$length = strlen( $pattern );
		for ( $i = 0; $i < $length; $i++ ) {
			$letter = $pattern[ $i ];
			if ( '' !== $escape && $letter === $escape && $i + 1 < $length )
				$parts[ array_key_last( $parts ) ] .= $pattern[ ++$i ];
			elseif ( '%' === $letter || '_' === $letter ) array_push( $parts, '%' === $letter ? 0 : 1, '' );
			else $parts[ array_key_last( $parts ) ] .= $letter;
		}
		$parts = array_map( fn( $part ) => is_string( $part ) ? self::fold( $part ) : $part, $parts );
		if ( array( 0, 0 ) === array( $parts[1] ?? null, $parts[3] ?? null )
			&& 5 === count( $parts ) && '' === $parts[0] && '' === $parts[4] )
			return array( 'contains', $parts[2] );
		if ( 3 === count( $parts ) && 0 === $parts[1] && '' === $parts[2] )
			return array( 'begins', $parts[0] );
		if ( 1 === count( $parts ) ) return array( 'equals', $parts[0] );
		$expression = '';
		foreach ( $parts as $part )
			$expression .= is_string( $part ) ? preg_quote( $part, '/' ) : ( 0 === $part ? '.*' : '.' );
		return array( 'matches', '/^' . $expression . '$/us' );
	}

	/** X LIKE Y [ESCAPE Z] is like( Y, X [, Z] ) to SQLite. */
	public static function like( $pattern = null, $text = null, $escape = '' ) {
		if ( null === $pattern || null === $text ) return null;
		$key = $escape . "\\0" . $pattern;
		if ( ! isset( self::$patterns[ $key ] ) ) {
			if ( count( self::$patterns ) > 100 ) self::$patterns = array();
			self::$patterns[ $key ] = self::compile( (string) $pattern, (string) $escape );
		}
		list( $kind, $wanted ) = self::$patterns[ $key ];
		$found = self::fold( (string) $text );
		switch ( $kind ) {
			case 'contains': return (int) str_contains( $found, $wanted );
			case 'begins': return (int) str_starts_with( $found, $wanted );
			case 'equals': return (int) ( $found === $wanted );
			// Bytes that are no UTF-8 match nothing, as in MySQL.
			default: return (int) ( 1 === preg_match( $wanted, $found ) );
		}
	}

	private static function file_of( $name ): string {
		return self::LOCK_DIR . '/' . substr( sha1( strtolower( (string) $name ) ), 0, 3 );
	}

	/** 1: held, 0: somebody else held it for all of the time, NULL: it cannot be had. */
	public static function get_lock( $name = null, $timeout = 0 ) {
		if ( null === $name || '' === (string) $name ) return null;
		$file = self::file_of( $name );
		if ( isset( self::$locks[ $file ] ) ) {
			self::$locks[ $file ][1]++;
			return 1;
		}
		if ( ! is_dir( self::LOCK_DIR ) ) @mkdir( self::LOCK_DIR );
		$handle = @fopen( $file, 'c' );
		if ( ! $handle ) return null;
		$wait = (float) $timeout < 0 ? self::LONGEST_WAIT : min( (float) $timeout, self::LONGEST_WAIT );
		$until = microtime( true ) + $wait;
		while ( ! flock( $handle, LOCK_EX | LOCK_NB ) ) {
			if ( microtime( true ) >= $until ) {
				fclose( $handle );
				return 0;
			}
			usleep( 20000 );
		}
		self::$locks[ $file ] = array( $handle, 1 );
		return 1;
	}

	/** 1: released, 0: somebody else's, NULL: nobody's. */
	public static function release_lock( $name = null ) {
		if ( null === $name ) return null;
		$file = self::file_of( $name );
		if ( isset( self::$locks[ $file ] ) ) {
			if ( 0 === --self::$locks[ $file ][1] ) {
				flock( self::$locks[ $file ][0], LOCK_UN );
				fclose( self::$locks[ $file ][0] );
				unset( self::$locks[ $file ] );
			}
			return 1;
		}
		return self::is_free_lock( $name ) ? null : 0;
	}

	public static function is_free_lock( $name = null ) {
		if ( null === $name ) return null;
		$file = self::file_of( $name );
		if ( isset( self::$locks[ $file ] ) ) return 0;
		$handle = @fopen( $file, 'c' );
		if ( ! $handle ) return 1;
		$free = flock( $handle, LOCK_EX | LOCK_NB );
		if ( $free ) flock( $handle, LOCK_UN );
		fclose( $handle );
		return (int) $free;
	}
}
try {
	Portal_Database_Functions::register( $GLOBALS['wpdb']->get_driver()->get_sqlite_pdo() );
} catch ( RuntimeException $no_connection ) {
	// WordPress says by itself that it has no database.
}
`
