/**
 * The page cache of the edge (decision 68): which pages are cached for whom, who makes a page, and
 * who waits for it.
 */
import type http from 'node:http'
import type { IncomingHttpHeaders } from 'node:http'
import type { VisitorRequest } from '../http2.ts'
import type { Sink } from '../sink.ts'
import { SiteCounts, type CacheEvent, type CacheFigures } from './counts.ts'
import { Fill } from './fill.ts'
import { NeverKept } from './never-kept.ts'
import {
  acceptForAll,
  agentOf,
  mustBeAsked,
  pageRequestOf,
  type PageRequest,
  type RequestHead,
} from './rules.ts'
import { serve, wholeAnswer, type WholeAnswer } from './serve.ts'
import { PageStore, type Entry } from './store.ts'

export type { CacheFigures } from './counts.ts'
export type { WholeAnswer } from './serve.ts'

/** Counted since the start, over all sites. */
export interface CacheCounts {
  readonly hits: number
  readonly misses: number
  readonly bypassed: number
  readonly dropped: number
  readonly evicted: number
  readonly entries: number
  readonly bytes: number
  /** Visitors who now wait for a page that another visitor's request makes. */
  readonly waiting: number
}

export interface CacheLimits {
  readonly totalBytes: number
  readonly siteBytes: number
  /** How long a visitor waits for the page that another one's request makes, ms. */
  readonly waitMs: number
}
const waitMs = 20_000
/**
 * One site may use at most one part in this many of the cache, so that it cannot evict all other
 * sites' pages.
 */
const siteShare = 4

/** @param megabytes for all sites together */
export const pageCacheLimits = (megabytes: number): CacheLimits => ({
  totalBytes: megabytes * 2 ** 20,
  siteBytes: (megabytes * 2 ** 20) / siteShare,
  waitMs,
})

/** Identifies a page, together with the visitor's device class. */
export interface PageName {
  readonly site: string
  /** From the visitor's request. */
  readonly host: string
  readonly path: string
  readonly proto: 'http' | 'https'
  /** Part of the page's headers: Strict-Transport-Security depends on it. */
  readonly httpsForSeconds: number | undefined
}

export interface Lookup extends PageName {
  readonly request: VisitorRequest
  readonly response: http.ServerResponse
  readonly client: string
  readonly hasBody: boolean
  /** A kept page is the answer. */
  readonly onHit: () => void
}

/** A request for a page while no container can make it. */
export type LookupAlone = Omit<Lookup, 'client' | 'hasBody'>

/** The callback's parameters when an upstream must be queried. */
export interface Asking {
  /** The sink of the response. */
  readonly sink: Sink
  /** Headers for the upstream in the place of the visitor's. */
  readonly headers: readonly string[] | null
  /** No upstream answered: shows the entry cached before, if there is one. False: there is none. */
  instead(): boolean
  /** No upstream answered. */
  fail(): void
}

/** After a page was not cacheable, requests for it do not wait for each other for this long, ms. */
const neverMs = 30_000
/** A cached page is shown for this long while no container of its site answers, ms. */
const aloneMs = 3_600_000
const mostNever = 20_000
const mostSites = 20_000

export interface PageCache {
  /**
   * Answers from the cache, now or once the page is made, or calls `ask`, once, with where the
   * answer goes. `passing` makes the sink of an answer that is not kept.
   */
  answer(
    lookup: Lookup,
    passing: (word: 'MISS' | 'BYPASS') => Sink,
    ask: (how: Asking) => void,
  ): void
  /** Answers from the cache while no container of the site answers; false: nothing is kept. */
  answerAlone(lookup: LookupAlone): boolean
  /**
   * The whole answer to a GET without a body over HTTP/1.1, where the page is kept; null: `answer`
   * is to be asked.
   */
  kept(
    name: PageName,
    headers: IncomingHttpHeaders,
    idleSeconds: number,
  ): { readonly status: number; readonly answer: WholeAnswer } | null
  /** A site has written; null: the tags are unknown, so all its pages are dropped. */
  drop(site: string, tags: readonly string[] | null): void
  /**
   * PHP of the site has ended unexpectedly, and its last writes are unknown: cached pages are shown
   * only if no good response comes, and dropped at the next one.
   */
  doubt(site: string): void
  /** Drops all that is kept of it. Answers how much that was. */
  purge(site: string): number
  figures(site: string): CacheFigures
  counts(): CacheCounts
}

export function createPageCache(limits: CacheLimits): PageCache {
  const store = new PageStore(limits)
  const fills = new Map<string, Fill>()
  /** Pages that nobody waits for. */
  const never = new NeverKept(neverMs, mostNever)
  const bySite = new Map<string, SiteCounts>()
  const totals = { hits: 0, misses: 0, bypassed: 0 }
  let waiting = 0

  function countsOf(site: string): SiteCounts {
    let found = bySite.get(site)
    if (!found) {
      // Forgets the site that was counted first; only a statistic is lost.
      if (bySite.size >= mostSites) bySite.delete(bySite.keys().next().value!)
      found = new SiteCounts()
      bySite.set(site, found)
    }
    return found
  }
  function count(site: string, event: CacheEvent): void {
    totals[event]++
    countsOf(site).add(event)
  }
  const onMade = (entry: Entry): void => store.resized(entry)

  const keyOf = (lookup: PageName, page: PageRequest): string =>
    `${lookup.site}\n${lookup.proto}${lookup.httpsForSeconds ?? ''}${page.isMobile ? 'm' : ''}\n` +
    `${lookup.host}\n${lookup.path}`

  function headersFor(lookup: Lookup, page: PageRequest, old: Entry | undefined): string[] {
    const agent = lookup.request.headers['user-agent']
    return [
      'Accept',
      acceptForAll,
      'User-Agent',
      agentOf(page),
      'X-Portal-Page',
      '1',
      ...(agent === undefined ? [] : ['X-Portal-User-Agent', agent]),
      ...(old === undefined ? [] : ['If-None-Match', old.etag]),
    ]
  }

  function make(
    lookup: Lookup,
    page: PageRequest,
    key: string,
    before: Entry | undefined,
    passing: (word: 'MISS' | 'BYPASS') => Sink,
    ask: (how: Asking) => void,
  ): void {
    const old = before?.isFile ? before : undefined
    const standIn = before?.isDoubted && isShownAlone(before) ? before : undefined
    const fill: Fill = new Fill({
      store,
      making: store.begin(lookup.site),
      key,
      client: lookup.client,
      old,
      standIn,
      visitor: () => passing('MISS'),
      show: (entry) =>
        serve(lookup.request, lookup.response, entry, entry.isDoubted ? 'HIT' : 'MISS', onMade),
      onOver(isNeverKept) {
        if (fills.get(key) === fill) fills.delete(key)
        if (isNeverKept) never.add(key)
        else never.delete(key)
      },
    })
    fills.set(key, fill)
    lookup.response.once('close', () => fill.left())
    ask({
      sink: fill,
      headers: headersFor(lookup, page, old),
      instead: () => fill.instead(),
      fail: () => fill.fail(),
    })
  }

  function waitFor(fill: Fill, lookup: Lookup, pass: () => void): void {
    const takeBack = fill.wait((entry) => {
      settle()
      if (!entry) return pass()
      show(lookup, entry)
    })
    const leave = (): void => {
      settle()
      takeBack()
    }
    const timer = setTimeout(() => {
      leave()
      pass()
    }, limits.waitMs)
    waiting++
    const settle = (): void => {
      waiting--
      clearTimeout(timer)
      lookup.response.off('close', leave)
    }
    lookup.response.once('close', leave)
  }

  function show(lookup: LookupAlone, entry: Entry): void {
    count(lookup.site, 'hits')
    lookup.onHit()
    serve(lookup.request, lookup.response, entry, 'HIT', onMade)
  }

  const isShownAlone = ({ storedAt, lifeMs, raw }: Entry): boolean =>
    performance.now() - storedAt < (mustBeAsked(raw) ? lifeMs : Math.max(lifeMs, aloneMs))

  /** The cached entry, if it may still be shown. */
  function usable(name: PageName, page: PageRequest): Entry | undefined {
    const entry = store.get(keyOf(name, page))
    const isUsable = entry !== undefined && !entry.isDoubted && (page.mayAsk || entry.isFile)
    return isUsable && performance.now() - entry.storedAt < entry.lifeMs ? entry : undefined
  }

  return {
    kept(name, headers, idleSeconds) {
      const head: RequestHead = { method: 'GET', headers }
      const page = pageRequestOf(head, name.path, false)
      const entry = page && usable(name, page)
      const answer = entry && wholeAnswer(head, entry, idleSeconds)
      if (!answer) return null
      count(name.site, 'hits')
      return { status: entry.status, answer }
    },
    answerAlone(lookup) {
      const page = pageRequestOf(lookup.request, lookup.path, false)
      const entry = page ? store.get(keyOf(lookup, page)) : undefined
      if (!page || !entry || !(page.mayAsk || entry.isFile) || !isShownAlone(entry)) return false
      show(lookup, entry)
      return true
    },
    answer(lookup, passing, ask) {
      const pass = (event: CacheEvent): void => {
        count(lookup.site, event)
        const word = event === 'misses' ? 'MISS' : 'BYPASS'
        ask({ sink: passing(word), headers: null, instead: () => false, fail: () => {} })
      }
      const page = pageRequestOf(lookup.request, lookup.path, lookup.hasBody)
      if (!page) return pass('bypassed')
      const found = usable(lookup, page)
      if (found) return show(lookup, found)
      if (!page.mayAsk) return pass('bypassed')
      const key = keyOf(lookup, page)
      const entry = store.get(key)
      // A HEAD request makes no page that others could have.
      if (lookup.request.method === 'HEAD' || never.has(key)) return pass('misses')
      const fill = fills.get(key)
      if (fill) return waitFor(fill, lookup, () => pass('misses'))
      count(lookup.site, 'misses')
      if (entry && !entry.isFile && !entry.isDoubted) store.remove(entry)
      make(lookup, page, key, entry, passing, ask)
    },
    drop: (site, tags) => void store.drop(site, tags),
    doubt: (site) => store.doubt(site),
    purge: (site) => store.drop(site, null),
    figures: (site) => ({ ...countsOf(site).read(), ...store.of(site) }),
    counts: () => ({ ...totals, ...store.counts(), waiting }),
  }
}
