// The edge: visitors' requests to customers' sites, by Host. It has no list of sites; it calls
// `resolve` for every request.
import http from 'node:http'
import type { Duplex } from 'node:stream'
import { accessLine, type Given } from './access.ts'
import { createUpstreamClient } from './ask.ts'
import type { PageCache } from './cache/index.ts'
import type { VisitorRequest } from './http2.ts'
import { createDoors, idleMs, type Doors } from './doors.ts'
import type { EdgeHttps } from './https.ts'
import type { Visit } from './headers.ts'
import type { EdgeSite } from './host-table.ts'
import type { EdgeFence } from './fence.ts'
import { createForward } from './forward.ts'
import { createKeptAnswer } from './kept-answer.ts'
import { nameOf } from './names.ts'
import { edgePage, pageFor, type EdgePage } from './pages.ts'
import { clientOf } from '../platform/client-address.ts'
import { targetOf, type Visitor } from './visitor.ts'
import { isFromPeer, protoByPeer } from './peers.ts'
import { createProtections, withoutAuthorization, type ProtectionPage } from './protection.ts'
import type { Traffic } from './traffic.ts'
import { createTunnels } from './tunnel.ts'
import { Upstreams } from './upstreams.ts'
import { createWriteHolds, type WriteHolds } from './write-hold.ts'

export { createHttps, type CertificateFeed, type EdgeHttps } from './https.ts'
export type { EdgeCertificate } from './certificates.ts'
export type { TlsCounts } from './tls-listener.ts'
export { createTraffic, noVisits, type Traffic, type Visits } from './traffic.ts'
export {
  createPageCache,
  pageCacheLimits,
  type CacheCounts,
  type CacheFigures,
  type PageCache,
} from './cache/index.ts'
export type { EdgeFence } from './fence.ts'
export { createWriteHolds, type WriteHolds } from './write-hold.ts'
export { createHostTable, type EdgeSite, type HostChange, type HostEntry } from './host-table.ts'

/** Requests since the start by class of status; `left`: the visitor left before an answer began. */
export type EdgeCounts = Readonly<Record<'1xx' | '2xx' | '3xx' | '4xx' | '5xx' | 'left', number>>

export interface EdgeParts {
  /**
   * The site behind a host name: lower case, no port, no trailing dot. Asked at every request, so
   * it must answer from memory.
   */
  readonly resolve: (host: string) => EdgeSite
  /** 0: the system chooses. */
  readonly port: number
  readonly host: string
  /** The scheme of visitors' browsers, if TLS ends before the edge. */
  readonly proto?: 'http' | 'https'
  /** The domain below which all sites are: none may set headers for it as a whole. */
  readonly sharedDomain?: string
  /**
   * A proxy is in front. Its entry in X-Forwarded-For is the last one and is trusted; earlier
   * entries come from the visitor.
   */
  readonly trustProxy?: boolean
  /** The key by which edges of the same portal identify each other (peers.ts). */
  readonly peerKey?: () => string | null
  /** Absent: the edge speaks HTTP only. */
  readonly https?: EdgeHttps
  /** Caches pages of sites that allow it. Absent: none is cached. */
  readonly cache?: PageCache
  /** Delays writes while a site is switched to another node. Absent: none are delayed. */
  readonly holds?: WriteHolds
  /** Restricts a node without a portal. Absent: no restriction. */
  readonly fence?: EdgeFence
  /** Receives each visit that this edge answered itself, rather than passed to another edge. */
  readonly traffic?: Pick<Traffic, 'note'>
  /** How long an upstream may take until its first byte, ms. */
  readonly answerMs?: number
  readonly log: { warn(detail: object, message: string): void }
  /**
   * Writes a line to the site's own log: a visitor whom the edge answered in the site's place, or
   * who left. The site itself logs its own responses.
   */
  readonly note: (site: string, line: string) => void
}

export interface Edge extends Doors {
  counts(): EdgeCounts
}

const connectMs = 5_000
export function createEdge(parts: EdgeParts): Edge {
  const upstreams = new Upstreams()
  const counts = { '1xx': 0, '2xx': 0, '3xx': 0, '4xx': 0, '5xx': 0, left: 0 }
  const count = (status: number): void => {
    const name = `${Math.floor(status / 100)}xx`
    if (name in counts) counts[name as keyof EdgeCounts]++
  }
  const { https } = parts
  const peerKey = (): string | null => parts.peerKey?.() ?? null
  const protoOf = ({ socket }: { readonly socket: object }): 'http' | 'https' => {
    if ('encrypted' in socket && socket.encrypted === true) return 'https'
    return https ? 'http' : (parts.proto ?? 'http')
  }
  const trustProxy = parts.trustProxy ?? false
  const sharedDomain = parts.sharedDomain?.toLowerCase() ?? null
  const answerMs = parts.answerMs ?? 120_000
  const upstreamClient = createUpstreamClient({ connectMs, answerMs, sharedDomain })
  const tunnels = createTunnels({ connectMs, answerMs, sharedDomain })
  const protections = createProtections(parts.log)
  const holds = parts.holds ?? createWriteHolds()
  const isWithheld = (site: EdgeSite): boolean =>
    site.id !== null && (parts.fence?.withholds(site.id) ?? false)

  /** Calls `enter` once the visitor may see the site, or `refuse` with the page in its place. */
  const protect = (
    site: EdgeSite,
    client: string,
    request: VisitorRequest,
    enter: () => void,
    refuse: (page: NonNullable<ProtectionPage>) => void,
  ): void => {
    const { id, protection, isElsewhere } = site
    // The edge of its node asks.
    if (id === null || !protection || isElsewhere) return enter()
    const go = (page: ProtectionPage): void => {
      if (page !== null) return refuse(page)
      if (protection.password) withoutAuthorization(request)
      enter()
    }
    const page = protections.judge(id, protection, client, request)
    if (page instanceof Promise) void page.then(go)
    else go(page)
  }

  const withKey = (visit: Visit, site: EdgeSite): Visit =>
    site.isElsewhere ? { ...visit, peerKey: peerKey() ?? undefined } : visit

  const note = (
    request: VisitorRequest,
    visitor: Visitor,
    site: string | null,
    answer: Omit<Given, 'tookMs'>,
  ) => {
    if (site === null) return
    parts.note(
      site,
      accessLine(request, visitor.client, { ...answer, tookMs: performance.now() - visitor.began }),
    )
  }

  const forward = createForward({
    resolve: parts.resolve,
    https,
    cache: parts.cache,
    holds,
    fence: parts.fence,
    traffic: parts.traffic,
    upstreams,
    upstreamClient,
    trustProxy,
    peerKey,
    protoOf,
    isWithheld,
    protect,
    withKey,
    note,
    count,
    countLeft: () => void counts.left++,
    log: parts.log,
  })

  const upgrade = (request: http.IncomingMessage, socket: Duplex, head: Buffer) => {
    const fromPeer = isFromPeer(request, peerKey())
    const visitor: Visitor = {
      client: clientOf(request, trustProxy || fromPeer),
      began: performance.now(),
    }
    tunnels.hold(socket)
    const refuse = (page: EdgePage, site: string | null = null) => {
      const { status, headers, body } = edgePage(page, request.headers['accept-language'])
      count(status)
      note(request, visitor, site, { status, bytes: Buffer.byteLength(body), why: page })
      const lines = Object.entries(headers).map(([key, value]) => `${key}: ${value}\r\n`)
      socket.end(
        `HTTP/1.1 ${status} ${http.STATUS_CODES[status]}\r\n${lines.join('')}connection: ` +
          `close\r\n\r\n${body}`,
      )
    }
    const target = targetOf(request)
    if (!target) return refuse('unknown')
    const site = parts.resolve(nameOf(target.host))
    const page = pageFor(site)
    if (page) return refuse(page, site.id)
    if (site.isElsewhere && fromPeer) return refuse('failed', site.id)
    // A WebSocket may write at any time, so it is refused while the site must not be written to.
    if (!site.isElsewhere && site.id !== null)
      if (isWithheld(site) || parts.fence?.isUp(site.id)) return refuse('away', site.id)
    const enter = (): void => {
      // The visitor left while the password was checked: no upstream is needed.
      if (socket.destroyed) return
      const address = upstreams.pick(site.addresses, new Set())
      if (!address) return refuse('failed', site.id)
      const done = upstreams.take(address)
      socket.once('close', done)
      const proto = fromPeer ? protoByPeer(request) : protoOf(request)
      const visit = withKey({ host: target.host, client: visitor.client, proto }, site)
      tunnels.open({ request, socket, head, address, path: target.path, visit }, count, () => {
        upstreams.failed(address)
        if (socket.writable) refuse('failed', site.id)
      })
    }
    protect(site, visitor.client, request, enter, (denied) => refuse(denied, site.id))
  }

  const { resolve, cache, traffic } = parts
  const keptAnswer =
    cache &&
    createKeptAnswer({
      resolve,
      cache,
      https,
      withholds: (site) => parts.fence?.withholds(site) ?? false,
      protoOf,
      count,
      traffic,
      idleSeconds: idleMs / 1e3,
    })
  const doors = createDoors({
    port: parts.port,
    host: parts.host,
    ...(https && { https }),
    forward,
    upgrade,
    keptAnswer: keptAnswer ?? (() => null),
  })

  return {
    ...doors,
    counts: () => ({ ...counts }),
    close: async () => {
      tunnels.destroy()
      await doors.close()
      await upstreamClient.close()
    },
  }
}
