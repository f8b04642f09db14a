/**
 * The services for visitors of customers' sites: the runtime that runs the sites, and the edge in
 * front of it. They know neither database nor portal. So they continue in the last known state
 * while the portal is away, and take its calls over a line (sites-line.ts).
 */
import { isIP } from 'node:net'
import path from 'node:path'
import type { Duplex } from 'node:stream'
import type { MessageConnection } from 'vscode-jsonrpc/node'
import { dockerToolsDir, imageNames } from '../scripts/docker-images.mjs'
import { defaultFilesDir, defaultRuntimeDir } from '../scripts/wordpress-files.mjs'
import type { Config } from './config.ts'
import { serveCertificates } from './certificates-line.ts'
import {
  createEdge,
  createHostTable,
  createHttps,
  createPageCache,
  createTraffic,
  createWriteHolds,
  pageCacheLimits,
  type CertificateFeed,
  type EdgeSite,
  type HostEntry,
} from './edge/index.ts'
import { createNodeLease } from './node-lease.ts'
import type { Log } from './platform/log.ts'
import { measureProcess, serveParentFigures } from './process-figures.ts'
import { serveOver } from './platform/rpc.ts'
import { createSiteUsage } from './site-usage.ts'
import { edgePrefix, publishHosts, type EdgeCalls } from './sites-line.ts'
import {
  serveFiles,
  serveRuntime,
  serveStream,
  wordpressDrivers,
  type WordpressFiles,
} from './wordpress/drivers/index.ts'

export type { WordpressFiles }

export interface Sites {
  /** Resolves with the port. Rejects when it cannot be had. */
  listen(): Promise<number>
  /** Serves the calls of the line; the caller then sets the line to listening. */
  serve(line: MessageConnection): void
  /** Sends or receives the file that the stream requests. */
  serveStream(stream: Duplex): void
  /** Lets requests in progress finish and ends every container. */
  close(): Promise<void>
}

type SitesConfig = Pick<
  Config,
  | 'DATA_DIR'
  | 'ROLES'
  | 'HOST'
  | 'SITES_CACHE_MB'
  | 'SITES_DOMAIN'
  | 'SITES_PORT'
  | 'SITES_TLS_PORT'
  | 'TRUST_PROXY'
  | 'WORDPRESS_RUNTIME'
  | 'DOCKER_SOCKET'
  | 'DOCKER_WORDPRESS_IMAGE'
  | 'DOCKER_MARIADB_IMAGE'
  | 'WORDPRESS_INTERNET'
  | 'WORDPRESS_MAX_CONTAINERS'
  | 'WORDPRESS_MAX_CPU'
  | 'WORDPRESS_MAX_RAM_MB'
  | 'WORDPRESS_PAGE_SECONDS'
> & {
  readonly sitesScheme: 'http' | 'https'
  readonly portalBehindEdge: string | undefined
}

/** The portal's own host, which the edge passes on to the portal as it does sites. */
function portalRoute({
  HOST,
  portalBehindEdge,
}: SitesConfig): { readonly host: string; readonly site: EdgeSite } | undefined {
  const [host, port] = portalBehindEdge?.split(' ') ?? []
  if (host === undefined) return undefined
  // A name, or every address of the machine, has this one among its own.
  const address = isIP(HOST) === 0 || ['0.0.0.0', '::'].includes(HOST) ? '127.0.0.1' : HOST
  return {
    host,
    site: { id: null, state: 'running', addresses: [{ host: address, port: Number(port) }] },
  }
}

/**
 * A node without HTTPS beside others with it: it needs no certificates, and answers no authority.
 */
const withoutHttps: CertificateFeed = {
  compare: () => [],
  put: () => undefined,
  challenge: () => {
    throw new Error('this node has no SITES_TLS_PORT')
  },
  dropChallenge: () => undefined,
}

/**
 * @param wordpress what a site is made from and runs; WordPress on PHP when not given
 */
export function openSites(
  config: SitesConfig,
  log: Log,
  wordpress: WordpressFiles = { runtimeDir: defaultRuntimeDir, filesDir: defaultFilesDir },
): Sites {
  const common = {
    ...wordpress,
    dataDir: config.DATA_DIR,
    nodePath: process.execPath,
    settings: {
      internet: config.WORDPRESS_INTERNET === 'on',
      maxContainers: config.WORDPRESS_MAX_CONTAINERS,
      maxCpu: config.WORDPRESS_MAX_CPU,
      maxRamMb: config.WORDPRESS_MAX_RAM_MB,
      pageSeconds: config.WORDPRESS_PAGE_SECONDS,
    },
    log,
  }
  const runtime =
    config.WORDPRESS_RUNTIME === 'docker'
      ? wordpressDrivers.docker.create({
          ...common,
          socketPath: config.DOCKER_SOCKET,
          toolsDir: dockerToolsDir,
          images: {
            wordpress: config.DOCKER_WORDPRESS_IMAGE ?? imageNames.wordpress,
            mariadb: config.DOCKER_MARIADB_IMAGE ?? imageNames.mariadb,
          },
        })
      : wordpressDrivers.embedded.create(common)
  const cache = createPageCache(pageCacheLimits(config.SITES_CACHE_MB))
  runtime.onWrite(cache.drop)
  runtime.onCrash(cache.doubt)
  const holds = createWriteHolds()
  const hasPortal = config.ROLES.has('api') || config.ROLES.has('worker')
  const lease = createNodeLease(runtime, (site) => cache.drop(site, null), log, !hasPortal)
  const hosts = createHostTable(runtime.upstreams, (site) => {
    cache.drop(site, null)
    holds.release(site)
  })
  const https =
    config.SITES_TLS_PORT === undefined ? undefined : createHttps(config.SITES_TLS_PORT, log)
  const portal = portalRoute(config)
  const traffic = createTraffic()
  const edge = createEdge({
    traffic,
    holds,
    fence: lease.fence,
    resolve: (host) => (host === portal?.host ? portal.site : hosts.resolve(host)),
    ...(https && { https }),
    ...(config.SITES_CACHE_MB > 0 && { cache }),
    peerKey: hosts.peerKey,
    port: config.SITES_PORT,
    host: config.HOST,
    proto: config.sitesScheme,
    sharedDomain: config.SITES_DOMAIN ?? 'localhost',
    trustProxy: config.TRUST_PROXY === 'on',
    log,
    note: (site, line) => runtime.note(site, 'edge', line),
  })
  const usage = createSiteUsage(traffic, runtime.figures)
  const measured = measureProcess()
  const transfer = path.join(config.DATA_DIR, 'transfer')
  return {
    listen: () => edge.listen(),
    serveStream: (stream) =>
      void serveStream(stream, transfer).catch((error: unknown) =>
        log.warn({ err: error }, 'a file did not go over to the portal, or come from it'),
      ),
    serve(line) {
      serveRuntime(line, runtime)
      serveFiles(line, transfer)
      serveCertificates(line, https?.feed ?? withoutHttps)
      serveParentFigures(line, () => ({
        ...measured(),
        edge: edge.counts(),
        cache: cache.counts(),
        tls: { ...edge.tlsCounts(), ...(https?.certificates.counts() ?? { held: 0, open: 0 }) },
        runtime: runtime.counts(),
      }))
      serveOver<EdgeCalls>(line, edgePrefix, {
        version: () => hosts.version(),
        apply: (change) => hosts.apply(change),
        cacheFigures: (site) => cache.figures(site),
        purgeCache: (site) => cache.purge(site),
        holdWrites: (site, ms, patienceMs) => holds.hold(site, ms, patienceMs),
        markLease: () => lease.mark(),
        renewLease: (mark, ms, withheld, details) => lease.renew(mark, ms, withheld, details),
        usage: (last, limit) => usage.after(last, limit),
      })
      line.onRequest(publishHosts, ({ entries }: { entries: readonly HostEntry[] }) => {
        hosts.replace(entries)
        return null
      })
    },
    async close() {
      usage.close()
      lease.close()
      await edge.close()
      await runtime.close()
    },
  }
}
