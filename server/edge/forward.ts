/**
 * A visitor's request on its way through the edge, step by step: what the edge answers itself, who
 * may visit, what waits, what is kept, and whom of the site's containers it asks.
 */
import type http from 'node:http'
import { clientOf } from '../platform/client-address.ts'
import { carriesBody } from '../platform/upgrade.ts'
import { visitorLeft, type Given } from './access.ts'
import type { Outcome, UpstreamClient } from './ask.ts'
import type { Asking, PageCache } from './cache/index.ts'
import { mayChange, type EdgeFence } from './fence.ts'
import type { Visit } from './headers.ts'
import type { EdgeSite } from './host-table.ts'
import { isHttp2, type VisitorRequest } from './http2.ts'
import { challengeOf, redirectOf, type EdgeHttps } from './https.ts'
import { nameOf } from './names.ts'
import { edgePage, pageFor, type EdgePage } from './pages.ts'
import { isFromPeer, protoByPeer } from './peers.ts'
import { toPrimary } from './primary.ts'
import type { ProtectionPage } from './protection.ts'
import { sinkFor, VisitorSink, type Sink } from './sink.ts'
import type { Traffic } from './traffic.ts'
import type { EdgeAddress, Upstreams } from './upstreams.ts'
import { targetOf, type Visitor } from './visitor.ts'
import type { WriteHolds } from './write-hold.ts'

export interface ForwardParts {
  readonly resolve: (host: string) => EdgeSite
  readonly https: EdgeHttps | undefined
  readonly cache: PageCache | undefined
  readonly holds: WriteHolds
  readonly fence: EdgeFence | undefined
  readonly traffic: Pick<Traffic, 'note'> | undefined
  readonly upstreams: Upstreams
  readonly upstreamClient: Pick<UpstreamClient, 'ask'>
  readonly trustProxy: boolean
  readonly peerKey: () => string | null
  readonly protoOf: (request: VisitorRequest) => 'http' | 'https'
  readonly isWithheld: (site: EdgeSite) => boolean
  readonly protect: (
    site: EdgeSite,
    client: string,
    request: VisitorRequest,
    enter: () => void,
    refuse: (page: NonNullable<ProtectionPage>) => void,
  ) => void
  /** With what edges know each other by, where another one is asked. */
  readonly withKey: (visit: Visit, site: EdgeSite) => Visit
  /** A line for the site's own log. */
  readonly note: (
    request: VisitorRequest,
    visitor: Visitor,
    site: string | null,
    answer: Omit<Given, 'tookMs'>,
  ) => void
  readonly count: (status: number) => void
  /** The visitor left before an answer began. */
  readonly countLeft: () => void
  readonly log: { warn(detail: object, message: string): void }
}

type Target = NonNullable<ReturnType<typeof targetOf>>

/** Who comes. */
interface Arrival {
  readonly request: VisitorRequest
  readonly response: http.ServerResponse
  readonly visitor: Visitor
  /** Another edge has passed the visitor on. */
  readonly fromPeer: boolean
}

/** A request for a site, from when the edge does not answer it itself. */
interface Passage extends Arrival {
  readonly target: Target
  /** Of the host, as the table of sites has it. */
  readonly name: string
  readonly proto: 'http' | 'https'
  /** What the upstream is told. */
  readonly visit: Visit
  readonly hasBody: boolean
  /** Only what does nothing twice, and whose body is not half sent, may be asked again. */
  readonly repeatable: boolean
  /** Upstreams that failed. */
  readonly tried: Set<string>
  /** It waited here, where its site was: a peer that sent it here could not know. */
  waited: boolean
  /** Who visits was asked here, or nobody has to ask: not so where another edge is to. */
  isJudged: boolean
  /** A kept page is the answer. */
  isCached: boolean
}

const maxTries = 3

/** A page that was kept before is shown in the place of these. */
const standsInFor: ReadonlySet<EdgePage> = new Set<EdgePage>(['starting', 'failed', 'timeout'])

/**
 * A site that just moved, as an edge is to take it that has not heard of it: by containers of its
 * own, where there are some.
 */
const atHome = (site: EdgeSite): EdgeSite =>
  site.isElsewhere && site.here && site.here.length > 0
    ? { ...site, isElsewhere: false, addresses: site.here }
    : site

const uncached = (sink: Sink): Asking => ({
  sink,
  headers: null,
  instead: () => false,
  fail() {},
})

/** What every request is given to; it answers each. */
export function createForward(
  parts: ForwardParts,
): (request: VisitorRequest, response: http.ServerResponse) => void {
  const { https, cache, upstreams, note } = parts

  function arrive(request: VisitorRequest, response: http.ServerResponse): Arrival {
    // Its socket may be taken from a request that ends.
    const fromPeer = isFromPeer(request, parts.peerKey())
    const visitor: Visitor = {
      client: clientOf(request, parts.trustProxy || fromPeer),
      began: performance.now(),
    }
    response.once('close', () => {
      if (response.headersSent) parts.count(response.statusCode)
      else parts.countLeft()
    })
    return { request, response, visitor, fromPeer }
  }

  function show({ request, response, visitor }: Arrival, page: EdgePage, site: string | null) {
    const { status, headers, body } = edgePage(page, request.headers['accept-language'])
    note(request, visitor, site, { status, bytes: Buffer.byteLength(body), why: page })
    // An unread body would be taken for the next request.
    if (!request.complete) headers['connection'] = 'close'
    response.writeHead(status, headers)
    response.end(request.method === 'HEAD' ? undefined : body)
  }

  /** What the edge answers whatever the site is like: a challenge, or where else to come. */
  function insteadOf(
    { request, fromPeer }: Arrival,
    target: Target,
    name: string,
    proto: 'http' | 'https',
  ) {
    const { state, primary } = parts.resolve(name)
    const sentOn = state === 'running' && !fromPeer ? primary : undefined
    return (
      (https && challengeOf(https, name, target.path)) ??
      (sentOn === undefined ? undefined : toPrimary(https, sentOn, target, proto, request)) ??
      (https && proto === 'http' && !fromPeer
        ? redirectOf(https, name, target, request)
        : undefined)
    )
  }

  function begin(arrival: Arrival, target: Target, name: string, proto: 'http' | 'https'): Passage {
    const { request, response, visitor, fromPeer } = arrival
    const hasBody = isHttp2(request) ? !request.stream.endAfterHeaders : carriesBody(request)
    return {
      request,
      response,
      visitor,
      fromPeer,
      target,
      name,
      proto,
      visit: {
        host: target.host,
        client: visitor.client,
        proto,
        httpsForSeconds: proto === 'https' ? https?.secondsFor(name) : undefined,
      },
      hasBody,
      repeatable: !hasBody && (request.method === 'GET' || request.method === 'HEAD'),
      tried: new Set(),
      waited: false,
      isJudged: false,
      isCached: false,
    }
  }

  /** The site as this visitor gets it, whose edge may not have heard that it moved. */
  const asHere = ({ fromPeer, waited }: Passage, found: EdgeSite): EdgeSite =>
    fromPeer && !waited && !parts.isWithheld(found) ? atHome(found) : found

  /** The answer is counted as the site's, where this edge is its own. */
  function countVisit(passage: Passage, { id, isElsewhere }: EdgeSite): void {
    const { traffic } = parts
    if (!traffic || id === null || isElsewhere) return
    const { response, visitor } = passage
    response.once('close', () => {
      if (!response.headersSent) return
      const tookMs = performance.now() - visitor.began
      traffic.note(id, response.statusCode, tookMs, passage.isCached)
    })
  }

  /** Lets in whom the site's owner does. */
  function admit(passage: Passage, site: EdgeSite): void {
    const judged = asHere(passage, site)
    passage.isJudged = !judged.isElsewhere
    parts.protect(
      judged,
      passage.visitor.client,
      passage.request,
      () => enterWhenItMay(passage, site),
      (page) => show(passage, page, site.id),
    )
  }

  /** Refuses what a node that is cut off may not answer; a write waits while the site moves. */
  function enterWhenItMay(passage: Passage, site: EdgeSite): void {
    const { id } = site
    // The edge of its node has it wait.
    if (id === null || site.isElsewhere) return enter(passage, site)
    if (parts.isWithheld(site)) return show(passage, 'away', id)
    const { request, response, target, name } = passage
    if (parts.fence?.isUp(id) && mayChange(request, target.path)) return show(passage, 'away', id)
    parts.holds.pass(
      id,
      request,
      response,
      (hasWaited) => {
        passage.waited = hasWaited
        enter(passage, hasWaited ? parts.resolve(name) : site)
      },
      () => show(passage, 'moving', id),
    )
  }

  /** No container answers, and a page that is kept is shown. */
  function isShownAlone(passage: Passage, site: EdgeSite): boolean {
    if (site.id === null || pageFor(site) !== 'starting') return false
    if (passage.hasBody || site.keepsPages === false) return false
    const { request, response, target, proto, visit } = passage
    const { path, host } = target
    const { httpsForSeconds } = visit
    const page = { site: site.id, host, path, proto, httpsForSeconds }
    const onHit = (): void => void (passage.isCached = true)
    return cache?.answerAlone({ ...page, request, response, onHit }) ?? false
  }

  /** From the cache, where one may be asked. */
  function enter(passage: Passage, site: EdgeSite): void {
    if (isShownAlone(passage, site)) return
    const { request, response, target, proto, visit, visitor, hasBody } = passage
    const goesOn = site.state === 'running' && site.id !== null && !site.isElsewhere
    // Another edge compresses, and so does the portal.
    if (!goesOn) return attempt(passage, 1, uncached(new VisitorSink(request, response)))
    if (!cache || site.keepsPages === false || site.addresses.length === 0)
      return attempt(passage, 1, uncached(sinkFor(request, response, proto)))
    cache.answer(
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
        onHit: () => (passage.isCached = true),
      },
      (word) => sinkFor(request, response, proto, ['X-Cache', word]),
      (asking) => attempt(passage, 1, asking),
    )
  }

  /** An edge's page in the site's place, or what was kept before. */
  function say(passage: Passage, asking: Asking, page: EdgePage, site: EdgeSite): void {
    if (standsInFor.has(page) && asking.instead()) return
    asking.fail()
    show(passage, page, site.id)
  }

  /** Asks one upstream, by how the site stands now; another where that one fails. */
  function attempt(passage: Passage, tries: number, asking: Asking): void {
    const { request, fromPeer, waited, tried, repeatable } = passage
    const site = asHere(passage, parts.resolve(passage.name))
    const page = pageFor(site)
    if (page) return say(passage, asking, page, site)
    // Two edges that take the site for the other's would pass the visitor to and fro.
    if (site.isElsewhere && fromPeer && !waited) return say(passage, asking, 'failed', site)
    // It has come here since another edge was to ask who its visitors are.
    if (site.protection && !site.isElsewhere && !passage.isJudged)
      return say(passage, asking, 'failed', site)
    const address = upstreams.pick(site.addresses, tried)
    if (!address) return say(passage, asking, 'failed', site)
    const done = upstreams.take(address)
    const mayRepeat = repeatable && tries < maxTries
    parts.upstreamClient.ask(
      request,
      asking.sink,
      {
        address,
        path: passage.target.path,
        visit: parts.withKey(passage.visit, site),
        hasBody: passage.hasBody,
        headers: asking.headers,
        kept: mayRepeat,
      },
      () => upstreams.worked(address),
      (outcome) => {
        done()
        end(passage, asking, { site, address, outcome }, () =>
          mayRepeat ? attempt(passage, tries + 1, asking) : say(passage, asking, 'failed', site),
        )
      },
    )
  }

  /** What becomes of a request whose upstream was asked. */
  function end(
    passage: Passage,
    asking: Asking,
    asked: { readonly site: EdgeSite; readonly address: EdgeAddress; readonly outcome: Outcome },
    again: () => void,
  ): void {
    const { request, response, visitor, name } = passage
    const { site, address, outcome } = asked
    if (outcome.how === 'closed') again()
    // A slow page is not a sick upstream.
    else if (outcome.how === 'slow') say(passage, asking, 'timeout', site)
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
      passage.tried.add(upstreams.failed(address))
      parts.log.warn(
        { host: name, upstream: `${address.host}:${address.port}`, code: outcome.code },
        'an upstream of a site failed',
      )
      again()
    }
  }

  return (request, response) => {
    const arrival = arrive(request, response)
    const target = targetOf(request)
    if (!target) return show(arrival, 'unknown', null)
    const name = nameOf(target.host)
    const proto = arrival.fromPeer ? protoByPeer(request) : parts.protoOf(request)
    const instead = insteadOf(arrival, target, name, proto)
    if (instead) {
      response.writeHead(instead.status, instead.headers).end(instead.body)
      return
    }
    const passage = begin(arrival, target, name, proto)
    const site = parts.resolve(name)
    countVisit(passage, site)
    admit(passage, site)
  }
}
