<?php
/**
 * Runs something with WordPress loaded, for the owner of the site, and answers JSON between two
 * marks: what plugins print before, after or instead does not disturb the answer, and one that ends
 * the request is reported. Stands before what uses it (acts.js). The step in $_SERVER, where no
 * visitor can put anything, has the `mark`, `flags` with `skip-plugins` and `skip-themes`, and
 * `isShort` where neither is loaded.
 */
$portal_step = json_decode( $_SERVER['PORTAL_STEP'] ?? 'null', true );
unset( $_SERVER['PORTAL_STEP'], $_SERVER['PORTAL_ACT'] );

/** The command says no. */
final class Portal_Stop extends Exception {}

/** What is answered, as far as it has come. */
final class Portal_Tool {
	/** What an answer holds at most, bytes. */
	const MOST = 262144;
	private static $mark = '';
	private static $is_over = false;
	private static $bytes = 0;
	private static $answer = array( 'ok' => true, 'messages' => array(), 'columns' => array(),
		'rows' => array(), 'isRecord' => false, 'value' => null, 'isCut' => false );

	public static function begin( string $mark ): void {
		self::$mark = $mark;
		ob_start();
		register_shutdown_function( array( __CLASS__, 'on_shutdown' ) );
	}

	/** Whether it still fits. */
	public static function takes( int $bytes ): bool {
		if ( self::$bytes + $bytes > self::MOST ) {
			self::$answer['isCut'] = true;
			return false;
		}
		self::$bytes += $bytes;
		return true;
	}

	public static function set( string $name, $value ): void {
		self::$answer[ $name ] = $value;
	}

	public static function say( string $kind, string $text ): void {
		$text = $kind === '' ? $text : "$kind: $text";
		if ( self::takes( strlen( $text ) ) ) {
			self::$answer['messages'][] = $text;
		}
	}

	/** False: there is no room for this row, and none for more. */
	public static function row( array $values ): bool {
		$row = array_map( array( __CLASS__, 'text' ), array_values( $values ) );
		$bytes = array_sum( array_map( 'strlen', $row ) ) + 3 * count( $row );
		if ( self::$answer['isCut'] || ! self::takes( $bytes ) ) {
			self::$answer['isCut'] = true;
			return false;
		}
		self::$answer['rows'][] = $row;
		return true;
	}

	public static function value( string $text ): void {
		self::$answer['isCut'] = strlen( $text ) > self::MOST - self::$bytes;
		self::$answer['value'] = mb_strcut( $text, 0, max( 0, self::MOST - self::$bytes ), 'UTF-8' );
	}

	public static function text( $value ): string {
		if ( is_bool( $value ) ) {
			return $value ? 'true' : 'false';
		}
		return is_scalar( $value ) || null === $value ? (string) $value
			: (string) json_encode( $value, JSON_UNESCAPED_SLASHES | JSON_UNESCAPED_UNICODE
				| JSON_PARTIAL_OUTPUT_ON_ERROR | JSON_INVALID_UTF8_SUBSTITUTE );
	}

	/** @param bool $is_ok false: the command says no */
	public static function answer( bool $is_ok ): void {
		self::$answer['ok'] = $is_ok;
		$printed = '';
		while ( ob_get_level() > 0 ) {
			$printed = ob_get_contents() . $printed;
			if ( ! @ob_end_clean() ) {
				break;
			}
		}
		$plain = strip_tags( mb_scrub( mb_strcut( $printed, 0, 20000 ) ) );
		$printed = trim( preg_replace( '~\s+~u', ' ', $plain ) ?? '' );
		if ( $printed !== '' ) {
			self::$answer['messages'][] = 'Warning: The site printed: ' . mb_substr( $printed, 0, 300 );
		}
		self::send( self::$answer );
	}

	private static function send( array $answer ): void {
		self::$is_over = true;
		if ( ! headers_sent() ) {
			http_response_code( 200 );
			header( 'Content-Type: application/json' );
			header( 'Cache-Control: no-store' );
		}
		$json = json_encode( $answer, JSON_UNESCAPED_SLASHES | JSON_UNESCAPED_UNICODE
			| JSON_PARTIAL_OUTPUT_ON_ERROR | JSON_INVALID_UTF8_SUBSTITUTE );
		echo "\n", self::$mark, "\n", $json, "\n", self::$mark, "\n";
		flush();
	}

	/** Something of the site ended the request. */
	public static function on_shutdown(): void {
		if ( self::$is_over ) {
			return;
		}
		$error = error_get_last();
		$why = $error === null ? '' : strtok( (string) $error['message'], "\n" ) . ' in '
			. str_replace( '/wordpress/', '', (string) $error['file'] ) . ':' . $error['line'];
		while ( ob_get_level() > 0 && @ob_end_clean() ) {
			continue;
		}
		self::send( array( 'ended' => mb_scrub( mb_strcut( $why, 0, 500 ) ) ) );
	}
}

function portal_stop( string $text ): never {
	throw new Portal_Stop( $text );
}

Portal_Tool::begin( (string) ( $portal_step['mark'] ?? '' ) );

/** WordPress takes filters over that are set before it is loaded (WP_Hook). */
function portal_filter( string $hook, callable $function, int $priority = 10 ): void {
	$GLOBALS['wp_filter'][ $hook ][ $priority ][] =
		array( 'function' => $function, 'accepted_args' => 1 );
}
portal_filter( 'enable_maintenance_mode', fn() => false );
portal_filter( 'wp_redirect', fn() => false, PHP_INT_MAX );
portal_filter( 'wp_die_handler', fn() => function ( $message ) {
	portal_stop( is_wp_error( $message ) ? $message->get_error_message()
		: wp_strip_all_tags( (string) $message ) );
}, PHP_INT_MAX );
if ( isset( $portal_step['flags']['skip-plugins'] ) ) {
	$portal_none = function ( $plugins ) {
		return did_action( 'plugins_loaded' ) ? $plugins : array();
	};
	portal_filter( 'option_active_plugins', $portal_none );
	portal_filter( 'site_option_active_sitewide_plugins', $portal_none );
}
if ( isset( $portal_step['flags']['skip-themes'] ) ) {
	$portal_nowhere = function ( $dir ) {
		return did_action( 'after_setup_theme' ) ? $dir : '/wordpress/wp-content/themes/.none';
	};
	portal_filter( 'stylesheet_directory', $portal_nowhere );
	portal_filter( 'template_directory', $portal_nowhere );
}
if ( ! empty( $portal_step['isShort'] ) ) {
	define( 'SHORTINIT', true );
}
try {
	require '/wordpress/wp-load.php';
} catch ( Portal_Stop $portal_stop ) {
	Portal_Tool::say( 'Error', $portal_stop->getMessage() );
	Portal_Tool::answer( false );
	exit;
}
// The owner's word counts as it is, as an administrator's does.
if ( function_exists( 'kses_remove_filters' ) ) {
	kses_remove_filters();
}
