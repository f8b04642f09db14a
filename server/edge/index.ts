// The edge: visitors' requests to customers' sites, by Host. It knows no site itself; `resolve`
// tells it, at every request.
import http from 'node:http'
import type { Duplex } from 'node:stream'
import { carriesBody } from '../platform/upgrade.ts'
import { accessLine, visitorLeft, type Given } from './access.ts'
import { createUpstreamClient } from './ask.ts'
import type { Asking, PageCache } from './cache/index.ts'
import { isHttp2, type VisitorRequest } from './http2.ts'
import { createDoors, idleMs, type Doors } from './doors.ts'
import { challengeOf, redirectOf, type EdgeHttps } from './https.ts'
import type { Visit } from './headers.ts'
import type { EdgeSite } from './host-table.ts'
import { mayChange, type EdgeFence } from './fence.ts'
import { createKeptAnswer } from './kept-answer.ts'
import { nameOf } from './names.ts'
import { edgePage, type EdgePage } from './pages.ts'
import { clientOf } from '../platform/client-address.ts'
import { targetOf, type Visitor } from './visitor.ts'
import { sinkFor, VisitorSink, type Sink } from './sink.ts'
import { isFromPeer, protoByPeer } from './peers.ts'
import { toPrimary } from './primary.ts'
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
  /** What visitors' browsers use, when TLS ends before the edge. */
  readonly proto?: 'http' | 'https'
  /** The domain below which all sites stand: none may speak to browsers for it. */
  readonly sharedDomain?: string
  /**
   * A proxy stands in front: the last word of X-Forwarded-For is its own and believed; what stands
   * before came from the visitor.
   */
  readonly trustProxy?: boolean
  /** What edges of the same portal know each other by (peers.ts). */
  readonly peerKey?: () => string | null
  /** What HTTPS needs; without it the edge speaks HTTP alone. */
  readonly https?: EdgeHttps
  /** Keeps pages of sites that allow it; without it none is kept. */
  readonly cache?: PageCache
  /** Has writes wait while a site is switched to another node; without it none ever do. */
  readonly holds?: WriteHolds
  /** What a node without a portal answers and takes; without it everything. */
  readonly fence?: EdgeFence
  /** Told of each visit of a site that this edge answered, not another. */
  readonly traffic?: Pick<Traffic, 'note'>
  /** How long an upstream may take until its first byte, ms. */
  readonly answerMs?: number
  readonly log: { warn(detail: object, message: string): void }
  /**
   * A line for the site's own log: a visitor whom the edge answered, or who left, in the site's
   * place. What the site answers it logs itself.
   */
  readonly note: (site: string, line: string) => void
}

export interface Edge extends Doors {
  counts(): EdgeCounts
}

const connectMs = 5_000
const maxTries = 3

/** A page that was kept before is shown in the place of these. */
const standsInFor: ReadonlySet<EdgePage> = new Set<EdgePage>(['starting', 'failed', 'timeout'])

/** What to show instead of the site, or null when it can be asked. */
const pageFor = (site: EdgeSite): EdgePage | null => {
  if (site.state === 'running') return site.addresses.length > 0 ? null : 'starting'
  return site.state
}

/**
 * A site that just moved, as an edge is to take it that has not heard of it: by containers of its
 * own, where there are some.
 */
const atHome = (site: EdgeSite): EdgeSite =>
  site.isElsewhere && site.here && site.here.length > 0
    ? { ...site, isElsewhere: false, addresses: site.here }
    : site

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

  const show = (
    request: VisitorRequest,
    response: http.ServerResponse,
    visitor: Visitor,
    page: EdgePage,
    site: string | null,
  ) => {
    const { status, headers, body } = edgePage(page, request.headers['accept-language'])
    note(request, visitor, site, { status, bytes: Buffer.byteLength(body), why: page })
    // An unread body would be taken for the next request.
    if (!request.complete) headers['connection'] = 'close'
    response.writeHead(status, headers)
    response.end(request.method === 'HEAD' ? undefined : body)
  }

  const forward = (request: VisitorRequest, response: http.ServerResponse) => {
    // Its socket may be taken from a request that ends.
    const fromPeer = isFromPeer(request, peerKey())
    const visitor: Visitor = {
      client: clientOf(request, trustProxy || fromPeer),
      began: performance.now(),
    }
    response.once('close', () => {
      if (response.headersSent) count(response.statusCode)
      else counts.left++
    })
    const target = targetOf(request)
    if (!target) return show(request, response, visitor, 'unknown', null)
    const name = nameOf(target.host)
    const proto = fromPeer ? protoByPeer(request) : protoOf(request)
    const { state, primary } = parts.resolve(name)
    const sentOn = state === 'running' && !fromPeer ? primary : undefined
    const instead =
      (https && challengeOf(https, name, target.path)) ??
      (sentOn === undefined ? undefined : toPrimary(https, sentOn, target, proto, request)) ??
      (https && proto === 'http' && !fromPeer
        ? redirectOf(https, name, target, request)
        : undefined)
    if (instead) {
      response.writeHead(instead.status, instead.headers).end(instead.body)
      return
    }
    const visit: Visit = {
      host: target.host,
      client: visitor.client,
      proto,
      httpsForSeconds: proto === 'https' ? https?.secondsFor(name) : undefined,
    }
    const hasBody = isHttp2(request) ? !request.stream.endAfterHeaders : carriesBody(request)
    // Only what does nothing twice, and whose body is not half sent, may be asked again.
    const repeatable = !hasBody && (request.method === 'GET' || request.method === 'HEAD')
    const tried = new Set<string>()

    /** It waited here, where its site was: a peer that sent it here could not know. */
    let waited = false

    /** The site as this visitor gets it, whose edge may not have heard that it moved. */
    const asHere = (found: EdgeSite): EdgeSite =>
      fromPeer && !waited && !isWithheld(found) ? atHome(found) : found

    const attempt = (tries: number, asking: Asking) => {
      const site = asHere(parts.resolve(name))
      const say = (page: EdgePage) => {
        if (standsInFor.has(page) && asking.instead()) return
        asking.fail()
        show(request, response, visitor, page, site.id)
      }
      const page = pageFor(site)
      if (page) return say(page)
      // Two edges that take the site for the other's would pass the visitor to and fro.
      if (site.isElsewhere && fromPeer && !waited) return say('failed')
      // It has come here since another edge was to ask who its visitors are.
      if (site.protection && !site.isElsewhere && !isJudged) return say('failed')
      const address = upstreams.pick(site.addresses, tried)
      if (!address) return say('failed')
      const done = upstreams.take(address)
      const again = (page: EdgePage) =>
        repeatable && tries < maxTries ? attempt(tries + 1, asking) : say(page)
      upstreamClient.ask(
        request,
        asking.sink,
        {
          address,
          path: target.path,
          visit: withKey(visit, site),
          hasBody,
          headers: asking.headers,
          kept: repeatable && tries < maxTries,
        },
        () => upstreams.worked(address),
        (outcome) => {
          done()
          if (outcome.how === 'closed') again('failed')
          // A slow page is not a sick upstream.
          else if (outcome.how === 'slow') say('timeout')
          else if (outcome.how === 'client_closed' || outcome.how === 'broken') {
            asking.fail()
            note(request, visitor, site.id, {
              status: outcome.how === 'client_closed' ? visitorLeft : response.statusCode,
              bytes: null,
              why: outcome.how === 'client_closed' ? 'the visitor left' : 'the answer broke off',
            })
          } else if (outcome.how === 'invalid_request') {
            asking.fail()
            response.writeHead(400, { connection: 'close', 'content-length': 0 }).end()
          } else if (outcome.how === 'failed') {
            tried.add(upstreams.failed(address))
            parts.log.warn(
              { host: name, upstream: `${address.host}:${address.port}`, code: outcome.code },
              'an upstream of a site failed',
            )
            again('failed')
          }
        },
      )
    }

    const uncached = (sink: Sink): Asking => ({
      sink,
      headers: null,
      instead: () => false,
      fail() {},
    })
    let isCached = false
    /** No container answers, and a page that is kept is shown. */
    const isShownAlone = (site: EdgeSite): boolean => {
      if (site.id === null || pageFor(site) !== 'starting') return false
      if (hasBody || site.keepsPages === false) return false
      const { path, host } = target
      const { httpsForSeconds } = visit
      const page = { site: site.id, host, path, proto, httpsForSeconds }
      const onHit = (): void => void (isCached = true)
      return parts.cache?.answerAlone({ ...page, request, response, onHit }) ?? false
    }
    const enter = (site: EdgeSite): void => {
      if (isShownAlone(site)) return
      const goesOn = site.state === 'running' && site.id !== null && !site.isElsewhere
      // Another edge compresses, and so does the portal.
      if (!goesOn) return attempt(1, uncached(new VisitorSink(request, response)))
      if (!parts.cache || site.keepsPages === false || site.addresses.length === 0)
        return attempt(1, uncached(sinkFor(request, response, proto)))
      parts.cache.answer(
        {
          request,
          response,
          site: site.id,
          host: target.host,
          path: target.path,
          proto,
          client: visitor.client,
          httpsForSeconds: visit.httpsForSeconds,
          hasBody,
          onHit: () => (isCached = true),
        },
        (word) => sinkFor(request, response, proto, ['X-Cache', word]),
        (asking) => attempt(1, asking),
      )
    }

    const site = parts.resolve(name)
    const { id } = site
    if (parts.traffic && id !== null && !site.isElsewhere)
      response.once('close', () => {
        if (!response.headersSent) return
        const tookMs = performance.now() - visitor.began
        parts.traffic?.note(id, response.statusCode, tookMs, isCached)
      })
    const refused = (page: EdgePage) => show(request, response, visitor, page, site.id)
    const enterWhenItMay = (): void => {
      // The edge of its node has it wait.
      if (id === null || site.isElsewhere) return enter(site)
      if (isWithheld(site)) return refused('away')
      if (parts.fence?.isUp(id) && mayChange(request, target.path)) return refused('away')
      holds.pass(
        id,
        request,
        response,
        (hasWaited) => {
          waited = hasWaited
          enter(waited ? parts.resolve(name) : site)
        },
        () => refused('moving'),
      )
    }
    const judged = asHere(site)
    const isJudged = !judged.isElsewhere
    protect(judged, visitor.client, request, enterWhenItMay, refused)
  }

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
    // Whoever opens a channel may write through it.
    if (!site.isElsewhere && site.id !== null)
      if (isWithheld(site) || parts.fence?.isUp(site.id)) return refuse('away', site.id)
    const enter = (): void => {
      // Who left while a password was checked needs no upstream.
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
