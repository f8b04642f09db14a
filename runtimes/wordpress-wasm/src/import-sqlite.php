<?php
/** The site's SQLite, by WordPress's driver where a statement is MySQL's. */
final class Portal_Sqlite extends Portal_Load {
	private const STAGE = '/wordpress/wp-content/database/.import.jsonl';

	protected function stage(): string {
		return self::STAGE;
	}

	protected function quoted( string $name ): string {
		return '"' . str_replace( '"', '""', $name ) . '"';
	}

	protected function create( string $table, string $sql ): ?string {
		global $wpdb;
		$there = $this->pdo->prepare( "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?" );
		$there->execute( array( $table ) );
		if ( $there->fetchColumn() ) {
			return null;
		}
		$wpdb->suppress_errors( true );
		return $wpdb->query( $sql ) === false ? $this->plain( $wpdb->last_error ) : null;
	}

	/** The driver says what is wrong in the middle of a page of HTML. */
	private function plain( string $said ): string {
		preg_match( '~class="error_message"[^>]*>(.*?)</div>~s', $said, $found );
		return trim( html_entity_decode( strip_tags( $found[1] ?? $said ), ENT_QUOTES ) );
	}

	protected function types( string $table ): array {
		if ( ! isset( $this->types[ $table ] ) ) {
			$this->types[ $table ] = array();
			$name = $this->quoted( $table );
			foreach ( $this->pdo->query( "PRAGMA table_info($name)" )->fetchAll( PDO::FETCH_ASSOC )
				as $column ) {
				$this->types[ $table ][ $column['name'] ] = strtoupper( $column['type'] );
				$this->required[ $table ][ $column['name'] ] = (bool) $column['notnull'];
			}
		}
		return $this->types[ $table ];
	}

	protected function replaces(): string {
		return 'INSERT OR REPLACE';
	}

	protected function is_full( PDOException $error ): bool {
		return in_array( (int) ( $error->errorInfo[1] ?? 0 ), array( 10, 13 ), true );
	}

	protected function done( int $size ): void {
		$this->pdo->exec( 'DROP TABLE IF EXISTS portal_import' );
		unlink( self::STAGE );
	}
}

function portal_load(): Portal_Load {
	return new Portal_Sqlite( $GLOBALS['wpdb']->get_driver()->get_sqlite_pdo() );
}
