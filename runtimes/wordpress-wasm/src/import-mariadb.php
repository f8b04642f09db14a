<?php
/** The site's MariaDB. The file is not PHP's to remove, so how far it came stays until the end. */
final class Portal_Mariadb extends Portal_Load {
	protected function stage(): string {
		return '/internal/import.jsonl';
	}

	protected function quoted( string $name ): string {
		return '`' . str_replace( '`', '``', $name ) . '`';
	}

	protected function create( string $table, string $sql ): ?string {
		$there = $this->pdo->prepare( 'SELECT 1 FROM information_schema.tables
			WHERE table_schema = DATABASE() AND table_name = ?' );
		$there->execute( array( $table ) );
		if ( $there->fetchColumn() ) {
			return null;
		}
		try {
			$this->pdo->exec( $sql );
			return null;
		} catch ( PDOException $error ) {
			return $error->getMessage();
		}
	}

	protected function types( string $table ): array {
		if ( ! isset( $this->types[ $table ] ) ) {
			$this->types[ $table ] = array();
			$columns = $this->pdo->prepare( 'SELECT column_name, data_type, is_nullable
				FROM information_schema.columns WHERE table_schema = DATABASE() AND table_name = ?
				ORDER BY ordinal_position' );
			$columns->execute( array( $table ) );
			foreach ( $columns->fetchAll( PDO::FETCH_NUM ) as list( $name, $type, $nullable ) ) {
				$kinds = array( '~int|^year~' => 'INTEGER', '~float|double|decimal~' => 'REAL',
					'~blob|binary|^bit~' => 'BLOB' );
				$this->types[ $table ][ $name ] = 'TEXT';
				foreach ( $kinds as $shape => $kind ) {
					if ( preg_match( $shape, $type ) ) {
						$this->types[ $table ][ $name ] = $kind;
					}
				}
				$this->required[ $table ][ $name ] = 'NO' === $nullable;
			}
		}
		return $this->types[ $table ];
	}

	protected function replaces(): string {
		return 'REPLACE';
	}

	protected function is_full( PDOException $error ): bool {
		// ER_RECORD_FILE_FULL, ER_DISK_FULL, and what the disk itself says.
		return in_array( (int) ( $error->errorInfo[1] ?? 0 ), array( 1114, 1021, 3 ), true );
	}

	protected function done( int $size ): void {
		$this->pdo->exec( "UPDATE portal_import SET reached = $size" );
	}
}

function portal_load(): Portal_Load {
	$source = 'mysql:unix_socket=/run/mysqld/mysqld.sock;charset=utf8mb4;dbname=' . DB_NAME;
	$pdo = new PDO( $source, DB_USER, DB_PASSWORD,
		array( PDO::ATTR_ERRMODE => PDO::ERRMODE_EXCEPTION ) );
	// As MySQL was when most of what is moved in was written.
	$pdo->exec( "SET SESSION sql_mode = 'NO_AUTO_VALUE_ON_ZERO', foreign_key_checks = 0" );
	return new Portal_Mariadb( $pdo );
}
