<?php
/**
 * Loads a site that is moved in, in steps of a few seconds each. Handed to PHP as it is, with the
 * step in $_SERVER, where no visitor can put anything.
 *
 * The step is JSON: `act` (`load`, `finish`), `after` (where the step before ended in the file of
 * statements, 0 at first), `ms` (how long it may take), `own` (the site's address).
 *
 * The file has a line of JSON for each table (`create`: a statement for WordPress's SQLite driver),
 * then lines of `rows`, whose values are bound, so that none of them is ever SQL. What a step wrote
 * and how far it came is one transaction: a step that ran twice acts once.
 */
$portal_step = json_decode( $_SERVER['PORTAL_STEP'] ?? 'null', true );
unset( $_SERVER['PORTAL_STEP'] );
if ( 'load' === $portal_step['act'] ) {
	define( 'SHORTINIT', true );
} else {
	// Neither plugins nor the theme: what they do waits until the site is in its place.
	define( 'WP_INSTALLING', true );
}
require '/wordpress/wp-load.php';

const PORTAL_STAGE = '/wordpress/wp-content/database/.import.jsonl';

final class Portal_Load {
	private PDO $pdo;
	private array $types = array();
	private array $required = array();
	private array $inserts = array();
	public array $rows = array();
	public int $changed = 0;
	public array $refused = array();

	public function __construct( PDO $pdo ) {
		$this->pdo = $pdo;
		$pdo->exec( 'CREATE TABLE IF NOT EXISTS portal_import (reached INTEGER NOT NULL)' );
	}

	public function reached(): int {
		return (int) $this->pdo->query( 'SELECT max(reached) FROM portal_import' )->fetchColumn();
	}

	private static function quoted( string $name ): string {
		return '"' . str_replace( '"', '""', $name ) . '"';
	}

	public function create( string $table, string $sql ): ?string {
		global $wpdb;
		$there = $this->pdo->prepare( "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?" );
		$there->execute( array( $table ) );
		if ( $there->fetchColumn() ) {
			return null;
		}
		$wpdb->suppress_errors( true );
		return $wpdb->query( $sql ) === false ? $wpdb->last_error : null;
	}

	private function types( string $table ): array {
		if ( ! isset( $this->types[ $table ] ) ) {
			$this->types[ $table ] = array();
			$name = self::quoted( $table );
			foreach ( $this->pdo->query( "PRAGMA table_info($name)" )->fetchAll( PDO::FETCH_ASSOC )
				as $column ) {
				$this->types[ $table ][ $column['name'] ] = strtoupper( $column['type'] );
				$this->required[ $table ][ $column['name'] ] = (bool) $column['notnull'];
			}
		}
		return $this->types[ $table ];
	}

	/** A value as the column takes it; MySQL without strict mode would do the same. */
	private function bind( PDOStatement $to, int $at, $value, string $type, bool $required ): void {
		if ( is_array( $value ) ) {
			$bytes = base64_decode( $value['b'] ?? '', false );
			if ( 'BLOB' === $type ) {
				$to->bindValue( $at, $bytes, PDO::PARAM_LOB );
				return;
			}
			$this->changed++;
			$value = mb_convert_encoding( $bytes, 'UTF-8', 'Windows-1252' );
		}
		if ( null === $value ) {
			if ( ! $required ) {
				$to->bindValue( $at, null, PDO::PARAM_NULL );
				return;
			}
			$value = 'INTEGER' === $type || 'REAL' === $type ? '0' : '';
		}
		if ( 'INTEGER' === $type ) {
			if ( ! preg_match( '~^[-+]?\d+$~', $value ) ) {
				$this->changed += '' === $value ? 0 : 1;
				$value = (string) (int) $value;
			}
			$to->bindValue( $at, (int) $value, PDO::PARAM_INT );
		} elseif ( 'REAL' === $type ) {
			$to->bindValue( $at, is_numeric( $value ) ? $value : '0', PDO::PARAM_STR );
		} else {
			$to->bindValue( $at, $value, 'BLOB' === $type ? PDO::PARAM_LOB : PDO::PARAM_STR );
		}
	}

	public function rows( array $line ): void {
		$table = $line['table'];
		$types = $this->types( $table );
		$known = array();
		foreach ( $line['columns'] as $index => $column ) {
			if ( isset( $types[ $column ] ) ) {
				$known[ $index ] = $column;
			}
		}
		if ( array() === $known ) {
			$this->refused[ $table ] = ( $this->refused[ $table ] ?? 0 ) + count( $line['rows'] );
			return;
		}
		$word = empty( $line['replaces'] ) ? 'INSERT' : 'INSERT OR REPLACE';
		$key = $word . $table . implode( ',', array_keys( $known ) ) . implode( ',', $known );
		if ( ! isset( $this->inserts[ $key ] ) ) {
			$names = implode( ', ', array_map( array( self::class, 'quoted' ), $known ) );
			$this->inserts[ $key ] = $this->pdo->prepare( "$word INTO " . self::quoted( $table )
				. " ($names) VALUES (" . implode( ', ', array_fill( 0, count( $known ), '?' ) ) . ')' );
		}
		$insert = $this->inserts[ $key ];
		foreach ( $line['rows'] as $row ) {
			$at = 0;
			foreach ( $known as $index => $column ) {
				$this->bind( $insert, ++$at, $row[ $index ] ?? null, $types[ $column ],
					$this->required[ $table ][ $column ] );
			}
			try {
				$insert->execute();
				$this->rows[ $table ] = ( $this->rows[ $table ] ?? 0 ) + 1;
			} catch ( PDOException $error ) {
				// The disk is full: nothing more will go in. Another fault is this row's own.
				if ( in_array( (int) ( $error->errorInfo[1] ?? 0 ), array( 10, 13 ), true ) ) {
					throw $error;
				}
				$this->refused[ $table ] = ( $this->refused[ $table ] ?? 0 ) + 1;
			}
		}
	}

	public function run( int $after, float $until ): array {
		$file = fopen( PORTAL_STAGE, 'rb' );
		if ( false === $file ) {
			return array( 'error' => 'there is nothing to load' );
		}
		$size = fstat( $file )['size'];
		$at = max( $after, $this->reached() );
		fseek( $file, $at );
		while ( $at < $size && microtime( true ) < $until ) {
			$this->pdo->beginTransaction();
			$creates = array();
			// Some lines a transaction: each costs a write to the disk.
			for ( $count = 0; $count < 50 && $at < $size && microtime( true ) < $until; $count++ ) {
				$text = fgets( $file );
				if ( false === $text ) {
					$at = $size;
					break;
				}
				$line = json_decode( $text, true );
				if ( isset( $line['create'] ) ) {
					// The driver has transactions of its own round a statement.
					$creates[] = array( $line['table'], $line['create'] );
				} elseif ( isset( $line['rows'] ) ) {
					if ( array() !== $creates ) {
						break;
					}
					$this->rows( $line );
				}
				$at += strlen( $text );
			}
			if ( array() !== $creates ) {
				$this->pdo->rollBack();
				foreach ( $creates as list( $table, $sql ) ) {
					$refused = $this->create( $table, $sql );
					if ( null !== $refused ) {
						return array( 'error' => "$table: $refused" );
					}
				}
				$this->pdo->beginTransaction();
				fseek( $file, $at );
			}
			$this->pdo->exec( 'DELETE FROM portal_import' );
			$this->pdo->exec( "INSERT INTO portal_import VALUES ($at)" );
			$this->pdo->commit();
		}
		if ( $at >= $size ) {
			$this->pdo->exec( 'DROP TABLE IF EXISTS portal_import' );
			unlink( PORTAL_STAGE );
		}
		return array( 'after' => $at >= $size ? null : $at, 'size' => $size,
			'changed' => $this->changed, 'refused' => (object) $this->refused );
	}
}

function portal_home_of( string $name ): string {
	global $wpdb;
	return rtrim( (string) $wpdb->get_var( $wpdb->prepare(
		"SELECT option_value FROM $wpdb->options WHERE option_name = %s", $name ) ), '/' );
}

/** The front page, then pages, then the newest posts. */
function portal_paths(): array {
	$paths = array( '/' );
	foreach ( array( 'page' => 8, 'post' => 11 ) as $type => $count ) {
		$found = get_posts( array( 'post_type' => $type, 'post_status' => 'publish',
			'numberposts' => $count, 'has_password' => false, 'suppress_filters' => true ) );
		foreach ( $found as $post ) {
			$parts = wp_parse_url( get_permalink( $post ) );
			$paths[] = ( $parts['path'] ?? '/' )
				. ( empty( $parts['query'] ) ? '' : '?' . $parts['query'] );
		}
	}
	// A visitor's program could not ask for any other.
	$sound = array_filter( array_unique( $paths ),
		fn( $path ) => preg_match( '~^/(?!/)[\x21-\x7e]{0,900}$~D', $path ) );
	return array_slice( array_values( $sound ), 0, 20 );
}

function portal_finish(): array {
	global $wpdb, $wp_db_version;
	$wpdb->suppress_errors( true );
	$home = portal_home_of( 'home' );
	if ( 'http://template.invalid' === $home ) {
		// Of a server of this platform before it stored its address: that of its first post.
		$guid = (string) $wpdb->get_var( "SELECT guid FROM $wpdb->posts
			WHERE guid LIKE 'http%' ORDER BY ID LIMIT 1" );
		if ( preg_match( '~^https?://[^/?#]+~i', $guid, $found ) ) {
			$home = $found[0];
		}
	}
	$from = array_values( array_unique( array( $home, portal_home_of( 'home' ),
		portal_home_of( 'siteurl' ) ) ) );
	require_once ABSPATH . 'wp-admin/includes/upgrade.php';
	require_once ABSPATH . 'wp-admin/includes/plugin.php';
	if ( (int) get_option( 'db_version' ) < $wp_db_version ) {
		wp_upgrade();
	}
	$missing = array();
	foreach ( (array) get_option( 'active_plugins' ) as $plugin ) {
		if ( ! is_string( $plugin ) || ! is_file( WP_PLUGIN_DIR . '/' . $plugin ) ) {
			$missing[] = is_string( $plugin ) ? $plugin : '?';
		}
	}
	$theme = (string) get_option( 'stylesheet' );
	$admins = array_map( fn( $user ) => $user->user_login, get_users( array(
		'role' => 'administrator', 'number' => 20, 'orderby' => 'ID' ) ) );
	$short = fn( $text ) => mb_substr( (string) $text, 0, 200 );
	return array(
		'home' => $short( $home ),
		'from' => array_map( $short, $from ),
		'admins' => array_map( $short, $admins ),
		'paths' => portal_paths(),
		'missing' => array_map( $short, array_slice( $missing, 0, 20 ) ),
		'theme' => is_dir( get_theme_root() . '/' . $theme ) ? '' : $short( $theme ),
	);
}

function portal_import( array $step ): array {
	global $wpdb;
	try {
		if ( 'finish' === $step['act'] ) {
			return portal_finish();
		}
		$load = new Portal_Load( $wpdb->get_driver()->get_sqlite_pdo() );
		return $load->run( (int) $step['after'], microtime( true ) + $step['ms'] / 1000 );
	} catch ( Throwable $error ) {
		return array( 'error' => $error->getMessage() );
	}
}

$portal_answer = portal_import( $portal_step );
header( 'Content-Type: application/json' );
header( 'Cache-Control: no-store' );
echo json_encode( $portal_answer,
	JSON_UNESCAPED_SLASHES | JSON_UNESCAPED_UNICODE | JSON_INVALID_UTF8_SUBSTITUTE );
