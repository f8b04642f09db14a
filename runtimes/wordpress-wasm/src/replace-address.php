<?php
/**
 * Replaces a site's former addresses in what its database stores, in steps of a few seconds each.
 * Handed to PHP as it is, with the step in $_SERVER, where no visitor can put anything.
 *
 * The step is JSON: `from` (host names, each with the folder behind it where the site lay in one;
 * those first), `to` (an address without a trailing slash), `dryRun`,
 * `after` (what the step before answered, null at first), `ms` (how long it may take).
 *
 * An address is `scheme://host` or `//host`, also with JSON's escaped slashes or percent-encoded,
 * with any port. Other mentions of a host, in e-mail addresses and in longer names, stay. The
 * `guid` of a post is no address: it identifies the post in feeds. stored-values.php stands before.
 */
$portal_step = json_decode( $_SERVER['PORTAL_STEP'] ?? 'null', true );
unset( $_SERVER['PORTAL_STEP'] );
define( 'SHORTINIT', true );
require '/wordpress/wp-load.php';

final class Portal_Addresses extends Portal_Values {
	private string $pattern;
	private string $encoded;
	private string $scheme;
	private string $place;

	public function __construct( array $from, string $to ) {
		// A host, or a host and the folder that the site lay in.
		$place = function ( $one, $port, $slash ) {
			$parts = array_map( fn( $part ) => preg_quote( $part, '~' ), explode( '/', $one ) );
			$parts[0] .= "(?:$port\\d+)?";
			return implode( $slash, $parts );
		};
		$places = fn( $port, $slash ) => implode( '|',
			array_map( fn( $one ) => $place( $one, $port, $slash ), $from ) );
		$end = '(?![a-z0-9-]|\\.[a-z0-9])';
		$this->pattern = "~(https?:)?(\\\\?/\\\\?/)(?:{$places( ':', '\\\\?/' )})$end~i";
		$this->encoded = "~(https?%3A)?(%2F%2F)(?:{$places( '%3A', '%2F' )})$end~i";
		list( $this->scheme, $this->place ) = explode( '://', $to, 2 );
	}

	protected function in_text( string $text ): string {
		$text = preg_replace_callback( $this->pattern, fn( $found ) =>
			( $found[1] === '' ? '' : $this->scheme . ':' ) . $found[2] . $this->place, $text ) ?? $text;
		return preg_replace_callback( $this->encoded, fn( $found ) =>
			( $found[1] === '' ? '' : $this->scheme . '%3A' ) . $found[2]
			. rawurlencode( $this->place ), $text ) ?? $text;
	}
}

header( 'Content-Type: application/json' );
header( 'Cache-Control: no-store' );
echo json_encode( portal_replace(
	new Portal_Addresses( $portal_step['from'], $portal_step['to'] ),
	array_map( fn( $one ) => explode( '/', $one )[0], $portal_step['from'] ),
	array( 'takes' => fn( $column ) => $column !== 'guid' ) + $portal_step ),
	JSON_UNESCAPED_SLASHES | JSON_INVALID_UTF8_SUBSTITUTE );
