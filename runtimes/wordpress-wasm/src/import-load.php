<?php
/**
 * Loads a dump that waits in a file: a line of JSON for each table (`create`: a statement of
 * MySQL's), then lines of `rows`, whose values are bound, so that none of them is ever SQL. What a
 * step wrote and how far it came is one transaction: a step that ran twice acts once. Stands before
 * what knows the database.
 */
abstract class Portal_Load {
	protected PDO $pdo;
	protected array $types = array();
	protected array $required = array();
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

	/** Where the file is. */
	abstract protected function stage(): string;
	abstract protected function quoted( string $name ): string;
	/** Makes a table that is not there; null, or why it cannot be made. */
	abstract protected function create( string $table, string $sql ): ?string;
	/** By column: INTEGER, REAL, TEXT or BLOB; tells $required which take no null. */
	abstract protected function types( string $table ): array;
	/** The word that replaces a row of the same key. */
	abstract protected function replaces(): string;
	/** Nothing more will go in. */
	abstract protected function is_full( PDOException $error ): bool;
	/** All is loaded. */
	abstract protected function done( int $size ): void;

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
		$word = empty( $line['replaces'] ) ? 'INSERT' : $this->replaces();
		$key = $word . $table . implode( ',', array_keys( $known ) ) . implode( ',', $known );
		if ( ! isset( $this->inserts[ $key ] ) ) {
			$names = implode( ', ', array_map( array( $this, 'quoted' ), $known ) );
			$this->inserts[ $key ] = $this->pdo->prepare( "$word INTO " . $this->quoted( $table )
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
				if ( $this->is_full( $error ) ) {
					throw $error;
				}
				$this->refused[ $table ] = ( $this->refused[ $table ] ?? 0 ) + 1;
			}
		}
	}

	public function run( int $after, float $until ): array {
		$file = fopen( $this->stage(), 'rb' );
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
			$this->done( $size );
		}
		return array( 'after' => $at >= $size ? null : $at, 'size' => $size,
			'changed' => $this->changed, 'refused' => (object) $this->refused );
	}
}

