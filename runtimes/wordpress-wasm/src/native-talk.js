// What PHP in a container reports beside its answer, on a socket of its own: what it reads and
// writes (page-tags.js), and letters (mail-spool.js). PHP is the customer's code: it may report
// anything, but only about its own request.
import net from 'node:net'

/** Longest message, bytes: a letter of 10 MB in Base64, and its envelope. */
const longestMessage = 16 * 1_048_576
/** Longest first line, which names the request, bytes. */
const longestName = 64
/** How long the end of a request waits for its PHP's connection to close, ms. */
const closingMs = 2_000

const later = () => new Promise((resolve) => setImmediate(resolve))

export class NativeTalk {
  #server
  /** Callbacks by the name of the request. */
  #hearers = new Map()
  /** Open connections by request. */
  #open = new Map()
  #unnamed = new Set()

  /** Resolves when PHP may connect. */
  listen(socketPath) {
    this.#server = net.createServer((socket) => this.#take(socket))
    return new Promise((resolve, reject) => {
      this.#server.once('error', reject)
      this.#server.listen({ path: socketPath, backlog: 511 }, () => resolve())
    })
  }

  /**
   * @param {string} request its name, which only its own PHP is given
   * @param {(text: string) => string | undefined | Promise<string | undefined>} hear its result is
   * sent back to PHP, which waits for it where it asked
   */
  begin(request, hear) {
    this.#hearers.set(request, hear)
  }

  /** Resolves when everything that the request's PHP has sent was handled. */
  async settled(request) {
    await later()
    const until = performance.now() + closingMs
    while (this.#unnamed.size > 0 && performance.now() < until) await later()
    const socket = this.#open.get(request)
    if (socket && !socket.closedForGood)
      await new Promise((resolve) => {
        const timer = setTimeout(resolve, closingMs)
        socket.onGone = () => {
          clearTimeout(timer)
          resolve()
        }
      })
  }

  end(request) {
    this.#hearers.delete(request)
    this.#open.get(request)?.destroy()
    this.#open.delete(request)
  }

  #take(socket) {
    this.#unnamed.add(socket)
    let held = Buffer.alloc(0)
    let request
    let queue = Promise.resolve()
    const gone = () => {
      this.#unnamed.delete(socket)
      void queue.then(() => {
        socket.closedForGood = true
        socket.onGone?.()
      })
    }
    socket.on('error', gone)
    socket.on('end', gone)
    socket.on('close', gone)
    const hear = (text) => {
      queue = queue.then(async () => {
        const answer = await this.#hearers.get(request)?.(text)
        if (answer !== undefined && !socket.destroyed) socket.write(`${answer}\n`)
      })
    }
    socket.on('data', (chunk) => {
      held = held.length > 0 ? Buffer.concat([held, chunk]) : chunk
      if (request === undefined) {
        const end = held.indexOf('\n')
        if (end < 0 && held.length <= longestName) return
        request = held.toString('utf8', 0, Math.max(0, end))
        this.#unnamed.delete(socket)
        // The name of no request, or a second connection of the same one: not the portal's PHP
        // code.
        if (!this.#hearers.has(request) || this.#open.has(request)) return socket.destroy()
        this.#open.set(request, socket)
        held = held.subarray(end + 1)
      }
      for (;;) {
        const end = held.indexOf('\n')
        if (end < 0) {
          if (held.length > longestName) socket.destroy()
          return
        }
        const length = Number(held.toString('utf8', 0, end))
        if (!Number.isInteger(length) || length < 0 || length > longestMessage)
          return socket.destroy()
        if (held.length < end + 1 + length) return
        hear(held.toString('utf8', end + 1, end + 1 + length))
        held = held.subarray(end + 1 + length)
      }
    })
  }
}

/** The PHP side; part of the file that runs before every script. */
export const talkCode = `
final class Portal_Talk {
	private static $socket  = null;
	private static $name    = '';
	private static $is_held = false;
	public static function begin( $name ) {
		self::$name = $name;
		header_register_callback( static function () {
			if ( self::$is_held ) {
				self::$is_held = false;
				self::say( 'portal-head', true );
			}
		} );
	}
	public static function say( string $text, bool $waits ) {
		if ( '' === self::$name ) {
			return null;
		}
		if ( null === self::$socket ) {
			self::$socket = @stream_socket_client( 'unix:///run/portal/talk.sock', $code, $why, 5 );
			if ( ! self::$socket ) {
				self::$name = '';
				return null;
			}
			stream_set_timeout( self::$socket, 30 );
			fwrite( self::$socket, self::$name . "\\n" );
		}
		self::$is_held = self::$is_held || ! $waits;
		$text          = strlen( $text ) . "\\n" . $text;
		for ( $at = 0; $at < strlen( $text ); $at += $written ) {
			$written = @fwrite( self::$socket, substr( $text, $at ) );
			if ( ! $written ) {
				return null;
			}
		}
		return $waits ? trim( (string) fgets( self::$socket ) ) : null;
	}
}
Portal_Talk::begin( $_SERVER['PORTAL_TALK'] ?? '' );
unset( $_SERVER['PORTAL_TALK'] );
function post_message_to_js( string $text ) {
	return Portal_Talk::say( $text, str_starts_with( $text, 'portal-mail' ) );
}
`
