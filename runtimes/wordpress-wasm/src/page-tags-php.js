// The PHP side of page-tags.js: it sees every statement on its way to the database.

/** Loaded by wp-content/db.php, after the database is chosen. */
export const pageTagsCode = `<?php
/**
 * Tells the container what this request reads and writes (page-tags.js). Statements that may write
 * are told before they run; what is read is told once, at the end, and only where an answer is made
 * that may be kept.
 */
final class Portal_Page_Tags {
	private static $is_page = false;
	private static $is_told = false;
	/** Statements that read, and how often each was sent. */
	private static $reads   = array();
	private static $last    = '';
	private static $options = array();
	private static $quiet   = array();
	private static $why_not = '';
	private static $seconds = 0;

	public static function begin( $is_page ) {
		self::$is_page = $is_page;
		add_filter( 'query', array( __CLASS__, 'query' ), PHP_INT_MAX );
		if ( ! $is_page ) {
			return;
		}
		add_filter( 'pre_cache_alloptions', array( __CLASS__, 'options' ), PHP_INT_MAX );
		add_filter( 'get_post_metadata', array( __CLASS__, 'post_meta' ), PHP_INT_MAX, 3 );
		add_filter( 'get_user_metadata', array( __CLASS__, 'user_meta' ), PHP_INT_MAX, 3 );
		add_filter( 'nonce_life', array( __CLASS__, 'nonce_life' ), PHP_INT_MAX );
		add_filter( 'nonce_user_logged_out', array( __CLASS__, 'nonce_user' ), PHP_INT_MAX );
		// The last of all: what others register meanwhile comes before it.
		register_shutdown_function(
			static function () {
				register_shutdown_function( array( __CLASS__, 'tell' ) );
			}
		);
	}

	private static function say( $message ) {
		$message['prefix'] = $GLOBALS['wpdb']->base_prefix ?? '';
		post_message_to_js( 'portal-page-tags' . json_encode( $message,
			JSON_INVALID_UTF8_SUBSTITUTE | JSON_UNESCAPED_UNICODE | JSON_UNESCAPED_SLASHES ) );
	}

	public static function query( $sql ) {
		if ( ! is_string( $sql ) || '' === $sql ) {
			return $sql;
		}
		if ( ! preg_match( '/^\\\\s*(?:select|show|desc|describe|explain)\\\\b/i', $sql ) ) {
			self::say( array( 'write' => $sql ) );
		} elseif ( self::$is_told ) {
			self::say( array( 'late' => $sql ) );
		} elseif ( self::$is_page ) {
			self::$reads[ $sql ] = ( self::$reads[ $sql ] ?? 0 ) + 1;
			self::$last          = $sql;
		}
		return $sql;
	}

	/** What WordPress loads at every page is told by the options' names, not as the whole table. */
	public static function options( $options ) {
		$sql = self::$last;
		if ( false !== stripos( $sql, 'autoload' ) && isset( self::$reads[ $sql ] ) ) {
			if ( 0 === --self::$reads[ $sql ] ) {
				unset( self::$reads[ $sql ] );
			}
			self::$options += array_fill_keys( array_map( 'strval', array_keys( (array) $options ) ), true );
		}
		return $options;
	}

	private static function quiet( $key, $table, $name ) {
		if ( '' === $key || null === $key || 0 === strcasecmp( (string) $key, $name ) ) {
			self::$quiet[ $table . '!' . $name ] = true;
		}
	}

	public static function post_meta( $value, $id, $key ) {
		self::quiet( $key, $GLOBALS['wpdb']->postmeta, '_edit_lock' );
		return $value;
	}

	public static function user_meta( $value, $id, $key ) {
		self::quiet( $key, $GLOBALS['wpdb']->usermeta, 'session_tokens' );
		return $value;
	}

	public static function nonce_life( $seconds ) {
		// One lives for a half of its life at least; its page may be read for a while.
		$kept          = max( 1, intdiv( (int) $seconds, 8 ) );
		self::$seconds = 0 === self::$seconds ? $kept : min( self::$seconds, $kept );
		return $seconds;
	}

	public static function nonce_user( $id ) {
		if ( $id ) {
			self::$why_not = 'a nonce of one visitor';
		}
		return $id;
	}

	public static function tell() {
		self::$is_told = true;
		$user          = $GLOBALS['current_user']->ID ?? 0;
		if ( $user ) {
			self::$why_not = 'a signed-in visitor';
		} elseif ( defined( 'DONOTCACHEPAGE' ) && DONOTCACHEPAGE ) {
			self::$why_not = 'DONOTCACHEPAGE';
		} elseif ( PHP_SESSION_ACTIVE === session_status() ) {
			self::$why_not = 'a session of PHP';
		} elseif ( function_exists( 'wp_using_ext_object_cache' ) && wp_using_ext_object_cache() ) {
			self::$why_not = 'an object cache whose contents nobody sees';
		} elseif ( has_filter( 'pre_wp_load_alloptions' ) ) {
			self::$why_not = 'options from elsewhere';
		}
		self::say(
			array(
				'page' => array(
					'reads'   => array_map( 'strval', array_keys( self::$reads ) ),
					'options' => array_map( 'strval', array_keys( self::$options ) ),
					'table'   => $GLOBALS['wpdb']->options ?? '',
					'quiet'   => array_keys( self::$quiet ),
					'whyNot'  => self::$why_not,
					'seconds' => self::$seconds,
				),
			)
		);
	}
}
if ( function_exists( 'post_message_to_js' ) ) {
	Portal_Page_Tags::begin( isset( $_SERVER['PORTAL_PAGE'] ) );
	unset( $_SERVER['PORTAL_PAGE'] );
}
`
