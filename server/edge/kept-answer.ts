/** The answer to a plain GET whose page is kept, and may be seen by whoever asks for it. */
import type { Socket } from 'node:net'
import type { PageCache, WholeAnswer } from './cache/index.ts'
import { isChallenge } from './challenges.ts'
import type { EdgeSite } from './host-table.ts'
import type { EdgeHttps } from './https.ts'
import { nameOf } from './names.ts'
import { peerHeader } from './peers.ts'
import { readPlainGet } from './plain-get.ts'
import type { Traffic } from './traffic.ts'

export interface KeptAnswerParts {
  readonly resolve: (host: string) => EdgeSite
  readonly cache: Pick<PageCache, 'kept'>
  readonly https: EdgeHttps | undefined
  /** Sites that came up elsewhere: nothing here answers for them. */
  readonly withholds: (site: string) => boolean
  readonly protoOf: (at: { readonly socket: Socket }) => 'http' | 'https'
  readonly count: (status: number) => void
  readonly traffic: Pick<Traffic, 'note'> | undefined
  /** How long a connection may be idle, seconds; sent to the visitor. */
  readonly idleSeconds: number
}

/** Whether everybody may see its kept pages, by this name and at this edge. */
const isOpen = (site: EdgeSite): boolean =>
  site.state === 'running' &&
  site.addresses.length > 0 &&
  site.keepsPages !== false &&
  !site.isElsewhere &&
  !site.protection &&
  site.primary === undefined

/** Answers null for whatever the edge has to look at more closely. */
export function createKeptAnswer(parts: KeptAnswerParts) {
  const { cache, https, idleSeconds } = parts
  return (request: Buffer, socket: Socket): WholeAnswer | null => {
    const began = performance.now()
    const get = readPlainGet(request)
    if (!get || get.headers[peerHeader] !== undefined || isChallenge(get.path)) return null
    const { host } = get.headers
    const name = nameOf(host)
    const site = parts.resolve(name)
    if (site.id === null || !isOpen(site) || parts.withholds(site.id)) return null
    const proto = parts.protoOf({ socket })
    // It is redirected to HTTPS.
    if (https && proto === 'http' && https.certificates.covers(name)) return null
    const httpsForSeconds = proto === 'https' ? https?.secondsFor(name) : undefined
    const page = { site: site.id, host, path: get.path, proto, httpsForSeconds }
    const kept = cache.kept(page, get.headers, idleSeconds)
    if (!kept) return null
    parts.count(kept.status)
    parts.traffic?.note(site.id, kept.status, performance.now() - began, true)
    return kept.answer
  }
}
