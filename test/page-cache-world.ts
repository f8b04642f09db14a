/**
 * A real WordPress site behind an edge that keeps its pages, with a theme that shows a bit of
 * everything, and an editor who uses REST, wp-admin, and ways that no plugin should use.
 */
import { once } from 'node:events'
import http from 'node:http'
import path from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { createEdge, createPageCache, type Edge, type PageCache } from '../server/edge/index.ts'
import { specOf, type Fixture } from '../server/wordpress/drivers/conformance.ts'
import type { SiteRuntime, SiteSpec } from '../server/wordpress/driver.ts'
import { fixture } from './embedded-wordpress.ts'
import { eventually, freePort } from './portal.ts'

const theme = `<?php
echo '<h1>', get_bloginfo( 'name' ), ' / ', get_bloginfo( 'description' ), "</h1>\\n";
wp_nav_menu( array( 'theme_location' => 'main', 'fallback_cb' => false ) );
dynamic_sidebar( 'side' );
echo 'plain: ', get_option( 'odd_plain', 'none' ), ' quiet: ', get_option( 'odd_quiet', 'none' ),
	' kept: ', get_transient( 'odd_kept' ), "\\n";
echo 'note: ', file_get_contents( get_template_directory() . '/note.txt' ), "\\n";
echo 'file: ', is_readable( WP_CONTENT_DIR . '/uploads/odd.txt' )
	? file_get_contents( WP_CONTENT_DIR . '/uploads/odd.txt' ) : 'none', "\\n";
global $wpdb;
echo 'sum: ', $wpdb->get_var( "SELECT COUNT(*) FROM {$wpdb->posts} p JOIN {$wpdb->postmeta} m
	ON m.post_id = p.ID WHERE m.meta_key = 'colour'" ), "\\n";
while ( have_posts() ) {
	the_post();
	echo '<article>', get_the_ID(), ' ', get_the_title(), ' by ', get_the_author(), ' ',
		get_the_author_meta( 'description' ), ' in ', strip_tags( get_the_category_list( ', ' ) ), ' ',
		strip_tags( get_the_tag_list( '', ',' ) ?: '' ), ' ',
		get_post_meta( get_the_ID(), 'colour', true ), "\\n";
	the_content();
	foreach ( get_comments( array( 'post_id' => get_the_ID(), 'status' => 'approve' ) ) as $one ) {
		echo $one->comment_author, ': ', $one->comment_content, "\\n";
	}
	echo "</article>\\n";
}
`
const functions = `<?php
register_nav_menu( 'main', 'Main' );
register_sidebar( array( 'id' => 'side', 'name' => 'Side' ) );
`
/** Acts that no plugin should do, but some do. An administrator requests each by REST. */
const odd = `<?php
add_action( 'init', function () {
	register_post_meta( 'post', 'colour',
		array( 'show_in_rest' => true, 'single' => true, 'type' => 'string' ) );
} );
add_action( 'rest_api_init', function () {
	register_rest_route( 'odd/v1', '/(?P<act>[a-z-]+)', array(
		'methods' => 'POST',
		'permission_callback' => fn() => current_user_can( 'manage_options' ),
		'callback' => function ( $request ) {
			global $wpdb;
			$value = (string) $request['value'];
			$id = (int) $request['id'];
			switch ( $request['act'] ) {
				case 'option': update_option( 'odd_plain', $value ); break;
				case 'quiet-option': update_option( 'odd_quiet', $value, false ); break;
				case 'no-option': delete_option( 'odd_plain' ); break;
				case 'autoload': wp_set_option_autoload( 'odd_quiet', (bool) ( $id % 2 ) ); break;
				case 'transient': set_transient( 'odd_kept', $value, 3600 ); break;
				case 'no-transient': delete_transient( 'odd_kept' ); break;
				case 'sql': $wpdb->query( $wpdb->prepare(
					"update  \`{$wpdb->posts}\` set post_title=%s /* by hand */ where ID = %d",
					$value, $id ) ); break;
				case 'sql-meta': $wpdb->query( $wpdb->prepare( "INSERT INTO {$wpdb->postmeta}
					(post_id, meta_key, meta_value) SELECT ID, 'colour', %s FROM {$wpdb->posts}
					WHERE ID = %d", $value, $id ) ); break;
				case 'past-wordpress': $wpdb->dbh->query( "UPDATE {$wpdb->posts} SET post_title = "
					. "'" . esc_sql( $value ) . "' WHERE ID = $id" ); break;
				case 'theme-file': file_put_contents( get_template_directory() . '/note.txt', $value ); break;
				case 'upload': wp_mkdir_p( WP_CONTENT_DIR . '/uploads' );
					file_put_contents( WP_CONTENT_DIR . '/uploads/odd.txt', $value ); break;
				case 'no-upload': @unlink( WP_CONTENT_DIR . '/uploads/odd.txt' ); break;
				case 'last-moment': register_shutdown_function( function () use ( $value ) {
					update_option( 'odd_plain', $value ); } ); break;
				case 'early': update_option( 'odd_plain', $value );
					header( 'X-Early: 1' ); echo str_repeat( ' ', 9000 ); flush(); break;
				case 'fatal': update_option( 'odd_plain', $value ); undefined_function(); break;
				case 'transaction': $wpdb->query( 'START TRANSACTION' );
					update_option( 'odd_plain', $value ); $wpdb->query( 'COMMIT' ); break;
				case 'rollback': $wpdb->query( 'START TRANSACTION' );
					update_option( 'odd_plain', $value ); $wpdb->query( 'ROLLBACK' ); wp_cache_flush(); break;
			}
			return array( 'done' => true );
		},
	) );
} );
`

export interface Answer {
  readonly status: number
  readonly headers: http.IncomingHttpHeaders
  readonly text: string
}

/** A browser that keeps cookies. */
export interface Browser {
  readonly cookies: Map<string, string>
  ask(
    target: string,
    options?: { method?: string; headers?: http.OutgoingHttpHeaders; body?: string | Buffer },
  ): Promise<Answer>
}

export type Row = Record<string, unknown>

/** The runtime of the site, and access to its files and database. */
export interface Runtime {
  open(): Promise<Fixture & { readonly driver: SiteRuntime; readonly dataDir: string }>
  /** The path of WordPress's files below the site's own folder. */
  readonly files: string
  rows(world: Pick<World, 'folder' | 'uncached'>, sql: string): Promise<Row[]>
}
const embedded: Runtime = {
  open: () => fixture(),
  files: 'wordpress',
  async rows({ folder }, sql) {
    const file = path.join(folder, 'wp-content/database/.ht.sqlite')
    const database = new DatabaseSync(file, { readOnly: true })
    try {
      return database.prepare(sql).all()
    } finally {
      database.close()
    }
  },
}

export interface World {
  readonly driver: SiteRuntime
  readonly spec: SiteSpec
  readonly cache: PageCache
  readonly edge: Edge
  /** The folder of WordPress's own files. */
  readonly folder: string
  /** Rows of the database, read without WordPress's hooks. */
  rows(sql: string): Promise<Row[]>
  /** Kills every container. */
  kill(): Promise<void>
  readonly anonymous: Browser
  readonly admin: Browser
  /** A browser without cookies; `from`: its address, one of 127.0.0.0/8. */
  visitor(from?: string): Browser
  /** The administrator, in another browser. */
  signIn(): Promise<Browser>
  /** A REST call of the administrator; returns the answer. */
  rest(method: string, path: string, body?: object): Promise<{ status: number; data: unknown }>
  /**
   * The page as each container makes it now for an anonymous visitor; rejects from status 500 on.
   */
  uncached(target: string): Promise<string[]>
  close(): Promise<void>
}

function browser(port: number, host: string, from = '127.0.0.1'): Browser {
  const cookies = new Map<string, string>()
  return {
    cookies,
    async ask(target, { method = 'GET', headers = {}, body } = {}) {
      const request = http.request({
        host: '127.0.0.1',
        localAddress: from,
        port,
        path: target,
        method,
        agent: false,
        headers: {
          host,
          // Keep-alive, as browsers use it, so that the edge serves kept pages on its fast path.
          connection: 'keep-alive',
          ...(cookies.size > 0 && {
            cookie: [...cookies].map((pair) => pair.join('=')).join('; '),
          }),
          ...(body !== undefined && { 'content-type': 'application/x-www-form-urlencoded' }),
          ...headers,
        },
      })
      request.end(body)
      const [response] = (await once(request, 'response')) as [http.IncomingMessage]
      const chunks: Buffer[] = []
      for await (const chunk of response) chunks.push(chunk as Buffer)
      for (const line of response.headers['set-cookie'] ?? []) {
        const [name = '', value = ''] = (line.split(';', 1)[0] ?? '').split(/=(.*)/s)
        cookies.set(name, value)
      }
      return {
        status: response.statusCode ?? 0,
        headers: response.headers,
        text: Buffer.concat(chunks).toString(),
      }
    },
  }
}

/** Files added to WordPress: a theme and a plugin that do unusual things. */
const oddFiles: Readonly<Record<string, string>> = {
  'themes/odd/style.css': '/*\nTheme Name: Odd\n*/\n',
  'themes/odd/index.php': theme,
  'themes/odd/functions.php': functions,
  'themes/odd/note.txt': 'first note',
  'mu-plugins/odd.php': odd,
}

/**
 * @param containers number of the site's containers
 * @param files files in wp-content before the start
 * @param runtime the embedded one if absent
 */
export async function openPageCacheWorld(
  containers = 1,
  files: Readonly<Record<string, string>> = oddFiles,
  runtime = embedded,
): Promise<World> {
  const parts = await runtime.open()
  const { driver } = parts
  // The edge's port, so that the site reaches itself by its own address.
  const port = await freePort()
  const spec = specOf({
    url: `http://pages.localhost:${port}`,
    language: 'en',
    containers,
    cpu: 2,
    ramMb: 2_000,
    mail: true,
  })
  const host = new URL(spec.url).host
  const account = { user: 'boss', password: 'Another#1pass', email: 'boss@example.com' }
  const cache = createPageCache({ totalBytes: 64e6, siteBytes: 32e6, waitMs: 20_000 })
  driver.onWrite(cache.drop)
  driver.onCrash(cache.doubt)
  await driver.install(spec, account)
  for (const [file, content] of Object.entries(files))
    await parts.put(spec.id, `wp-content/${file}`, content)
  await driver.start(spec)
  const isWhole = async () => driver.upstreams(spec.id).length >= containers
  await eventually('every container', isWhole, 120)
  const edge = createEdge({
    resolve: (name) =>
      name === new URL(spec.url).hostname
        ? { id: spec.id, state: 'running', addresses: driver.upstreams(spec.id) }
        : { id: null, state: 'unknown', addresses: [] },
    cache,
    port,
    host: '127.0.0.1',
    log: { warn: () => undefined },
    note: () => undefined,
  })
  await edge.listen()
  const signIn = async (): Promise<Browser> => {
    const signedIn = browser(port, host)
    await signedIn.ask('/wp-login.php')
    await signedIn.ask('/wp-login.php', {
      method: 'POST',
      body: new URLSearchParams({ log: account.user, pwd: account.password }).toString(),
    })
    return signedIn
  }
  const admin = await signIn()
  const { text: nonce } = await admin.ask('/wp-admin/admin-ajax.php?action=rest-nonce')
  const rest: World['rest'] = async (method, path, body) => {
    const { status, text } = await admin.ask(`/wp-json${path}`, {
      method,
      headers: { 'x-wp-nonce': nonce, 'content-type': 'application/json' },
      ...(body && { body: JSON.stringify(body) }),
    })
    let data: unknown
    try {
      data = JSON.parse(text)
    } catch {
      data = text
    }
    return { status, data }
  }
  const folder = path.join(parts.dataDir, 'sites', spec.id, runtime.files)
  const world: World = {
    driver,
    spec,
    cache,
    edge,
    admin,
    signIn,
    rest,
    folder,
    rows: (sql) => runtime.rows(world, sql),
    async kill() {
      for (let number = 1; number <= containers; number++)
        await parts.kill(spec.id, `web-${number}`)
    },
    anonymous: browser(port, host),
    visitor: (from) => browser(port, host, from),
    async uncached(target) {
      const headers = {
        accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8',
        'user-agent': 'Mozilla/5.0 (portal cache)',
        'x-forwarded-for': '127.0.0.1',
        'x-forwarded-proto': 'http',
        'x-forwarded-host': host,
      }
      const made = driver
        .upstreams(spec.id)
        .map((address) => browser(address.port, host).ask(target, { headers }))
      const pages = await Promise.all(made)
      const broken = pages.find(({ status }) => status >= 500)
      if (!broken) return pages.map(({ text }) => text)
      const log = await driver.log(spec.id).tail(20)
      const lines = log.map(({ text }) => text).join('\n')
      throw new Error(`${target} is answered ${broken.status}; the log ends with\n${lines}`)
    },
    async close() {
      await edge.close()
      await parts.dispose()
    },
  }
  return world
}
