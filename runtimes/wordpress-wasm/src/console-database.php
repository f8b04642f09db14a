<?php
/** Commands of the console: planned work, addresses, search and replace, tables. */
function portal_cron_events(): array {
	$events = array();
	foreach ( (array) _get_cron_array() as $time => $hooks ) {
		foreach ( $hooks as $hook => $all ) {
			foreach ( $all as $sig => $event ) {
				$wait = $time - time();
				$events[] = array( 'hook' => $hook, 'next_run_gmt' => gmdate( 'Y-m-d H:i:s', $time ),
					'next_run_relative' => $wait <= 0 ? 'now' : human_time_diff( time(), $time ),
					'recurrence' => $event['schedule'] ? ( wp_get_schedules()[ $event['schedule'] ]['display']
						?? $event['schedule'] ) : 'Non-repeating',
					'time' => $time, 'schedule' => (string) $event['schedule'], 'sig' => $sig,
					'args' => $event['args'], 'interval' => $event['interval'] ?? 0 );
			}
		}
	}
	return $events;
}
function portal_cron_event_list(): void {
	portal_list( array( 'hook', 'next_run_gmt', 'next_run_relative', 'recurrence' ),
		portal_cron_events() );
}
function portal_cron_event_run( array $args ): void {
	if ( $args === array() && ! portal_has( 'due-now' ) && ! portal_has( 'all' ) ) {
		portal_stop( 'Please specify one or more cron events, or use --due-now/--all.' );
	}
	$events = array_filter( portal_cron_events(), fn( $event ) => portal_has( 'all' )
		|| in_array( $event['hook'], $args, true )
		|| ( portal_has( 'due-now' ) && $event['time'] <= time() ) );
	$missing = array_diff( $args, array_column( $events, 'hook' ) );
	if ( $missing !== array() ) {
		portal_stop( "Invalid cron event '" . current( $missing ) . "'" );
	}
	defined( 'DOING_CRON' ) || define( 'DOING_CRON', true );
	foreach ( $events as $event ) {
		// As wp-cron.php: planned anew first, so that one which fails does not come again at once.
		if ( $event['schedule'] !== '' ) {
			wp_reschedule_event( $event['time'], $event['schedule'], $event['hook'], $event['args'] );
		}
		wp_unschedule_event( $event['time'], $event['hook'], $event['args'] );
		$began = microtime( true );
		do_action_ref_array( $event['hook'], $event['args'] );
		Portal_Tool::say( '', sprintf( "Executed the cron event '%s' in %.3fs.", $event['hook'],
			microtime( true ) - $began ) );
	}
	$count = count( $events );
	Portal_Tool::say( 'Success', "Executed a total of $count cron events." );
}

function portal_rewrite_flush(): void {
	require_once ABSPATH . 'wp-admin/includes/file.php';
	require_once ABSPATH . 'wp-admin/includes/misc.php';
	flush_rewrite_rules( portal_has( 'hard' ) );
	Portal_Tool::say( 'Success', 'Rewrite rules flushed.' );
}
function portal_rewrite_list(): void {
	$path = ltrim( (string) wp_parse_url( portal_flag( 'match' ), PHP_URL_PATH ), '/' );
	$rows = array();
	foreach ( (array) get_option( 'rewrite_rules' ) as $match => $query ) {
		if ( ! portal_has( 'match' ) || preg_match( "#^$match#", $path ) ) {
			$rows[] = array( 'match' => $match, 'query' => $query );
		}
	}
	portal_list( array( 'match', 'query' ), $rows );
}

/** One text for another, each letter as it is. */
final class Portal_Texts extends Portal_Values {
	public function __construct( private string $old, private string $new ) {}
	protected function in_text( string $text ): string {
		return str_replace( $this->old, $this->new, $text );
	}
}
function portal_search_replace( array $args ): void {
	list( $old, $new ) = $args;
	if ( $old === '' ) {
		portal_stop( 'The text to search for is empty.' );
	}
	if ( $old === $new ) {
		portal_stop( 'Replacement value is the same as the search value.' );
	}
	$all = portal_tables();
	$tables = array_slice( $args, 2 );
	$unknown = array_diff( $tables, $all );
	if ( $unknown !== array() ) {
		portal_stop( "Couldn't find the table " . current( $unknown ) . '.' );
	}
	$names = fn( $flag ) => array_filter(
		array_map( 'trim', explode( ',', portal_flag( $flag ) ) ), 'strlen' );
	$only = $names( 'include-columns' );
	$not = $names( 'skip-columns' );
	$tables = array_values(
		array_diff( $tables === array() ? $all : $tables, $names( 'skip-tables' ) ) );
	sort( $tables );
	$step = $GLOBALS['portal_step'];
	$done = portal_replace( new Portal_Texts( $old, $new ), array( $old ), array(
		'dryRun' => portal_has( 'dry-run' ), 'after' => $step['after'] ?? null, 'ms' => $step['ms'],
		'tables' => $tables, 'takes' => fn( $column ) => ! in_array( $column, $not, true )
			&& ( $only === array() || in_array( $column, $only, true ) ) ) );
	if ( isset( $done['error'] ) ) {
		portal_stop( $done['error'] );
	}
	foreach ( $done['skipped'] as $table ) {
		Portal_Tool::say( 'Warning', "Skipped $table: its key is no whole number." );
	}
	Portal_Tool::set( 'columns', array( 'Table', 'Replacements' ) );
	foreach ( (array) $done['tables'] as $table => $count ) {
		Portal_Tool::row( array( $table, $count ) );
	}
	Portal_Tool::set( 'after', $done['after'] );
}

function portal_table_sizes(): array {
	global $wpdb;
	$sizes = array();
	foreach ( (array) $wpdb->get_results( 'SHOW TABLE STATUS', ARRAY_A ) as $row ) {
		$sizes[ $row['Name'] ] = (int) ( $row['Data_length'] ?? 0 ) + (int) ( $row['Index_length'] ?? 0 );
	}
	return $sizes;
}
function portal_db_size(): void {
	$file = defined( 'FQDB' ) && is_file( FQDB ) ? filesize( FQDB ) : 0;
	$sizes = portal_table_sizes();
	$rows = array();
	if ( portal_has( 'tables' ) ) {
		foreach ( portal_tables() as $table ) {
			$bytes = portal_bytes( $table, $sizes[ $table ] ?? 0 );
			$rows[] = array( 'Name' => $table, 'Size' => "$bytes B" );
		}
	} else {
		$bytes = $file > 0 ? $file : array_sum( $sizes );
		$rows[] = array( 'Name' => DB_NAME, 'Size' => "$bytes B" );
	}
	portal_list( array( 'Name', 'Size' ), $rows );
}
function portal_db_tables(): void {
	Portal_Tool::value( implode( portal_flag( 'format' ) === 'csv' ? ',' : "\n", portal_tables() ) );
}

try {
	$portal_name = 'portal_' . preg_replace( '~\W~', '_', (string) $portal_step['verb'] );
	// The portal knows of a command that this runtime, of another release, does not have.
	function_exists( $portal_name ) ? $portal_name( $portal_step['args'] )
		: portal_stop( "This server does not know the command '{$portal_step['verb']}' yet." );
	Portal_Tool::answer( true );
} catch ( Portal_Stop $portal_stop ) {
	Portal_Tool::say( 'Error', $portal_stop->getMessage() );
	Portal_Tool::answer( false );
} catch ( Throwable $portal_error ) {
	Portal_Tool::say( 'Error', $portal_error->getMessage() );
	Portal_Tool::answer( false );
}
