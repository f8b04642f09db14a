// The PHP side of mail-spool.js. PHP's own mail() starts a program and waits for it to end. Here
// mail() is a disabled function, which a program may therefore define itself (PHP 8). This one
// returns at once whether the letter was taken. PHPMailer calls it, and so does wp_mail().

/** Part of the file that runs before every script. */
export const mailCode = `
if ( ! function_exists( 'mail' ) && function_exists( 'post_message_to_js' ) ) {
	function mail( string $to, string $subject, string $message,
		array|string $additional_headers = array(), string $additional_params = '' ): bool {
		if ( is_array( $additional_headers ) ) {
			$lines = array();
			foreach ( $additional_headers as $name => $values ) {
				foreach ( (array) $values as $value ) {
					$lines[] = $name . ': ' . $value;
				}
			}
			$additional_headers = implode( "\\r\\n", $lines );
		}
		$said = json_encode(
			array(
				'to'         => $to,
				'subject'    => $subject,
				'headers'    => $additional_headers,
				'parameters' => $additional_params,
				'body'       => base64_encode( $message ),
			),
			JSON_INVALID_UTF8_SUBSTITUTE | JSON_UNESCAPED_UNICODE | JSON_UNESCAPED_SLASHES
		);
		return 'taken' === post_message_to_js( 'portal-mail' . $said );
	}
}
`

const marker = 'portal-mail'

/** Receives the letters of this PHP process. */
export function attachMail(php, spool) {
  php.onMessage((text) => {
    if (!text.startsWith(marker)) return undefined
    try {
      return spool.take(JSON.parse(text.slice(marker.length))) ? 'taken' : 'refused'
    } catch {
      // The disk is full, or the message is no letter: mail() returns false.
      return 'refused'
    }
  })
}
