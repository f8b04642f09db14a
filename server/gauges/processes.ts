/**
 * The three processes, each with its own figures: the portal, which answers /metrics; its parent
 * with the edge and the runtime of the sites; and the name server. One that is away is 0 in
 * `portal_process_up`, and its other values are absent.
 */
import type { Family, Sample, Samples } from '../platform/metrics.ts'
import type { CacheCounts } from '../edge/index.ts'
import { measureProcess, type ParentFigures, type ProcessFigures } from '../process-figures.ts'
import type { GaugeParts } from './parts.ts'

/** After this long, ms, a process counts as away; less than a source's time limit. */
const longestAnswerMs = 1_000

const families = {
  portal_process_up: {
    type: 'gauge',
    help:
      '1 for a process that answers: portal, parent, name_server, and of other machines ' +
      'node <name>',
    labels: ['process'],
  },
  portal_build_info: {
    type: 'gauge',
    help: '1, with the version of the code that a process runs',
    labels: ['process', 'version'],
  },
  portal_process_start_time_seconds: {
    type: 'gauge',
    help: 'When a process began, since 1970',
    labels: ['process'],
  },
  portal_process_resident_memory_bytes: {
    type: 'gauge',
    help: 'Resident memory of a process',
    labels: ['process'],
  },
  portal_process_event_loop_lag_seconds: {
    type: 'gauge',
    help: 'What 99 of 100 turns of the event loop were late by at most, since the scrape before',
    labels: ['process'],
  },
  portal_edge_requests_total: {
    type: 'counter',
    help: "Requests to customers' sites by class of status; left: the visitor did not wait",
    labels: ['status', 'node'],
  },
  portal_edge_tls_handshakes_total: {
    type: 'counter',
    help: 'TLS handshakes of visitors: full, resumed, failed',
    labels: ['outcome', 'node'],
  },
  portal_edge_cache_requests_total: {
    type: 'counter',
    help: 'What the page cache could do: hit, miss, or bypass, where nothing is ever kept',
    labels: ['outcome', 'node'],
  },
  portal_edge_cache_dropped_total: {
    type: 'counter',
    help: 'Kept pages that went: a write changed what they show, or others needed the room',
    labels: ['why', 'node'],
  },
  portal_edge_cache_entries: {
    type: 'gauge',
    help: 'Pages and files that are kept',
    labels: ['node'],
  },
  portal_edge_cache_bytes: {
    type: 'gauge',
    help: 'What kept pages and files take of memory',
    labels: ['node'],
  },
  portal_edge_certificates: {
    type: 'gauge',
    help: 'Certificates that the edge has',
    labels: ['node'],
  },
  portal_containers: { type: 'gauge', help: 'Containers that answer', labels: ['node'] },
  portal_container_restarts_total: {
    type: 'counter',
    help: 'Containers that ended unasked and were started again',
    labels: ['node'],
  },
  portal_container_failed_starts_total: {
    type: 'counter',
    help: 'Containers that should start and did not; they are tried again',
    labels: ['node'],
  },
  portal_dns_responses_total: {
    type: 'counter',
    help: 'Responses of the name server by rcode',
    labels: ['rcode'],
  },
  portal_dns_limited_total: {
    type: 'counter',
    help: 'DNS queries over UDP beyond the rate limit: dropped, or answered truncated',
    labels: ['action'],
  },
} as const satisfies Record<string, Family>
type Name = keyof typeof families

const eachOf = (label: string, values: Readonly<Record<string, number>>): Sample[] =>
  Object.entries(values).map(([key, value]) => ({ of: { [label]: key }, value }))

/** Undefined when the process is away, or does not answer in time. */
async function answerOf<T>(ask: () => Promise<T>): Promise<T | undefined> {
  const late = new Promise<undefined>((resolve) => {
    setTimeout(resolve, longestAnswerMs, undefined).unref()
  })
  return await Promise.race([ask().catch(() => undefined), late])
}

export function defineProcessGauges({
  metrics,
  processes,
  ownNode,
  otherNodes,
}: Pick<GaugeParts, 'metrics' | 'processes' | 'ownNode' | 'otherNodes'>): void {
  const measured = measureProcess()
  metrics.source(families, async () => {
    const [parent, nameServer, others] = await Promise.all([
      processes.parent && answerOf(processes.parent),
      processes.nameServer && answerOf(processes.nameServer),
      Promise.all(
        [...otherNodes()].map(async ([node, ask]) => ({ node, figures: await answerOf(ask) })),
      ),
    ])
    const all = new Map<string, ProcessFigures | undefined>([['portal', measured()]])
    if (processes.parent) all.set('parent', parent ?? undefined)
    if (processes.nameServer) all.set('name_server', nameServer ?? undefined)
    for (const { node, figures } of others) all.set(`node ${node}`, figures)
    const of = (value: (figures: ProcessFigures) => number): Sample[] =>
      [...all].flatMap(([process, figures]) =>
        figures ? [{ of: { process }, value: value(figures) }] : [],
      )
    const samples: Samples<Name> = {
      portal_process_up: [...all].map(([process, figures]) => ({
        of: { process },
        value: figures ? 1 : 0,
      })),
      portal_build_info: [...all].flatMap(([process, figures]) =>
        figures ? [{ of: { process, version: figures.version }, value: 1 }] : [],
      ),
      portal_process_start_time_seconds: of((figures) => figures.startedAt),
      portal_process_resident_memory_bytes: of((figures) => figures.residentBytes),
      portal_process_event_loop_lag_seconds: of((figures) => figures.lagSeconds),
    }
    const nodes = [{ node: ownNode, figures: parent ?? undefined }, ...others].flatMap(
      ({ node, figures }) => (figures ? [{ node, figures }] : []),
    )
    const ofNodes = (value: (figures: ParentFigures) => number): Sample[] =>
      nodes.map(({ node, figures }) => ({ of: { node }, value: value(figures) }))
    const ofCaches = (read: (cache: CacheCounts) => Sample[]): Sample[] =>
      nodes.flatMap(({ node, figures: { cache } }) =>
        (cache ? read(cache) : []).map(({ of, value }) => ({ of: { ...of, node }, value })),
      )
    if (nodes.length > 0)
      Object.assign(samples, {
        portal_edge_requests_total: nodes.flatMap(({ node, figures }) =>
          Object.entries(figures.edge).map(([status, value]) => ({ of: { status, node }, value })),
        ),
        portal_edge_tls_handshakes_total: nodes.flatMap(({ node, figures: { tls } }) =>
          Object.entries({
            full: tls.done - tls.resumed,
            resumed: tls.resumed,
            failed: tls.failed,
          }).map(([outcome, value]) => ({ of: { outcome, node }, value })),
        ),
        portal_edge_cache_requests_total: ofCaches(({ hits, misses, bypassed }) =>
          eachOf('outcome', { hit: hits, miss: misses, bypass: bypassed }),
        ),
        portal_edge_cache_dropped_total: ofCaches(({ dropped, evicted }) =>
          eachOf('why', { written: dropped, room: evicted }),
        ),
        portal_edge_cache_entries: ofCaches(({ entries }) => [{ value: entries }]),
        portal_edge_cache_bytes: ofCaches(({ bytes }) => [{ value: bytes }]),
        portal_edge_certificates: ofNodes(({ tls }) => tls.held),
        portal_containers: ofNodes(({ runtime }) => runtime.containers),
        portal_container_restarts_total: ofNodes(({ runtime }) => runtime.restarts),
        portal_container_failed_starts_total: ofNodes(({ runtime }) => runtime.failedStarts),
      } satisfies Samples<Name>)
    if (nameServer)
      Object.assign(samples, {
        portal_dns_responses_total: eachOf('rcode', nameServer.dns.responses),
        portal_dns_limited_total: [
          { of: { action: 'dropped' }, value: nameServer.dns.dropped },
          { of: { action: 'truncated' }, value: nameServer.dns.truncated },
        ],
      } satisfies Samples<Name>)
    return samples
  })
}
