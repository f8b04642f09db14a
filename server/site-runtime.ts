/** The runtime of the sites, for an operator's command without a running portal. */
import { MessageChannel } from 'node:worker_threads'
import type { Config } from './config.ts'
import { connectRuntime } from './drivers.ts'
import type { Log } from './platform/log.ts'
import { lineThrough } from './sites-line.ts'
import { openSites } from './sites.ts'
import type { WordpressDriver } from './wordpress/index.ts'

/**
 * Opens the runtime of `config.DATA_DIR`; starts no site and opens no port. No portal may run on
 * that folder, because unfinished files there are removed.
 */
export async function openSiteRuntime(
  config: Config,
  log: Log,
): Promise<{ readonly driver: WordpressDriver; close(): Promise<void> }> {
  const sites = openSites(config, log)
  const { port1, port2 } = new MessageChannel()
  const ofSites = lineThrough(port1)
  sites.serve(ofSites)
  ofSites.listen()
  const line = lineThrough(port2)
  line.listen()
  return {
    driver: await connectRuntime(line),
    async close() {
      port2.close()
      await sites.close()
    },
  }
}
