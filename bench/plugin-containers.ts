/** A site in containers for judging plugins: PHP-FPM and MariaDB of an engine. */
import type { Row, Runtime } from '../test/page-cache-world.ts'
import { dockerFixture } from '../test/docker-wordpress.ts'

/** Queried without WordPress: no plugin is loaded, and nothing is written. */
const asking = 'portal-bench-rows.php'
const script = `<?php
define( 'SHORTINIT', true );
require __DIR__ . '/wp-load.php';
$rows = $wpdb->get_results( base64_decode( $_GET['sql'] ), ARRAY_A );
echo '<rows>', json_encode( $rows ), '</rows>';
`

export const containers: Runtime = {
  async open() {
    const parts = await dockerFixture()
    const install: typeof parts.driver.install = async (spec, admin) => {
      await parts.driver.install(spec, admin)
      await parts.put(spec.id, asking, script)
    }
    return { ...parts, driver: { ...parts.driver, install } }
  },
  files: 'wordpress/files',
  async rows({ uncached }, sql) {
    const [text = ''] = await uncached(
      `/${asking}?sql=${encodeURIComponent(Buffer.from(sql).toString('base64'))}`,
    )
    const [, rows] = /<rows>(.*)<\/rows>/s.exec(text) ?? []
    if (rows === undefined) throw new Error(`no rows of: ${sql}`)
    return JSON.parse(rows) as Row[]
  },
}
