/**
 * Spans as OTLP over HTTP, in JSON (decision 53). Loaded only while tracing is on: the context that
 * follows asynchronous code costs every step a little.
 */
import { AsyncLocalStorage } from 'node:async_hooks'
import { randomBytes } from 'node:crypto'
import type { Log } from './log.ts'
import type { Attributes, Span, SpanStart, Tracer } from './spans.ts'

export interface OtlpSettings {
  /** The collector's address; `/v1/traces` is appended. */
  readonly endpoint: string
  /** Sent with every call to the collector. */
  readonly headers: Readonly<Record<string, string>>
  readonly serviceName: string
  readonly version: string
  /** Share of traces that begin here and are sent, 0 to 1. A caller's decision is followed. */
  readonly share: number
}

export interface OtlpTracer extends Tracer {
  /** Sends the remaining data, within three seconds. */
  close(): Promise<void>
}

/** OTLP's numbers of the kinds; status 2 is an error. */
const kinds = { server: 2, client: 3, consumer: 5 } as const
const failed = 2
const sendAfterMs = 2_000
const batch = 512
/** Spans kept while the collector is away; more are dropped, the newest first. */
const kept = 4096
const sendLimitMs = 10_000
const closeLimitMs = 3_000
/** The collector may take the same spans later (OTLP, "Failures"). */
const retried = new Set([429, 502, 503, 504])

/** W3C Trace Context, version 00; a later version may say more. All zeros name nothing. */
const header =
  /^(?!ff)[\da-f]{2}-(?!0{32})([\da-f]{32})-(?!0{16})([\da-f]{16})-([\da-f]{2})(?:-.*)?$/

const nowMs = (): number => performance.timeOrigin + performance.now()
const nanoseconds = (ms: number): string => `${BigInt(Math.round(ms * 1000)) * 1000n}`

const valueOf = (value: string | number | boolean): object => {
  if (typeof value === 'string') return { stringValue: value }
  if (typeof value === 'boolean') return { boolValue: value }
  // 64 bits do not fit a number of JSON.
  return Number.isInteger(value) ? { intValue: String(value) } : { doubleValue: value }
}
const listOf = (attributes: Attributes): object[] =>
  Object.entries(attributes).map(([key, value]) => ({ key, value: valueOf(value) }))

export function createOtlpTracer(settings: OtlpSettings, log: Log): OtlpTracer {
  const url = `${settings.endpoint.replace(/\/$/, '')}/v1/traces`
  const resource = {
    attributes: listOf({
      'service.name': settings.serviceName,
      'service.version': settings.version,
      'process.pid': process.pid,
    }),
  }
  const scope = { name: 'cloud-portal', version: settings.version }
  const running = new AsyncLocalStorage<Span>()
  const sampled = new WeakSet<Span>()
  const spanIds = new WeakMap<Span, string>()
  let waiting: object[] = []
  let timer: NodeJS.Timeout | undefined
  let sending: Promise<void> = Promise.resolve()
  let isAway = false
  let isSending = false

  /** False when the same spans may be sent again. */
  async function deliver(spans: readonly object[]): Promise<boolean> {
    try {
      const answer = await fetch(url, {
        method: 'POST',
        headers: { ...settings.headers, 'content-type': 'application/json' },
        body: JSON.stringify({ resourceSpans: [{ resource, scopeSpans: [{ scope, spans }] }] }),
        signal: AbortSignal.timeout(sendLimitMs),
      })
      await answer.arrayBuffer()
      if (!answer.ok && !isAway) log.warn({ status: answer.status }, 'traces are not taken')
      isAway = !answer.ok
      return !retried.has(answer.status)
    } catch (error) {
      if (!isAway) log.warn({ err: error }, 'traces cannot be sent')
      isAway = true
      return false
    }
  }

  async function sendAll(): Promise<void> {
    while (waiting.length > 0) {
      const spans = waiting.splice(0, batch)
      if (await deliver(spans)) continue
      waiting = [...spans, ...waiting].slice(0, kept)
      return
    }
  }
  function send(): void {
    clearTimeout(timer)
    timer = undefined
    isSending = true
    sending = sendAll().finally(() => {
      isSending = false
      if (waiting.length > 0) sendLater()
    })
  }
  function sendLater(): void {
    timer ??= setTimeout(send, sendAfterMs).unref()
  }

  return {
    start(of: SpanStart): Span {
      const parent = running.getStore()
      const given = parent ? null : header.exec(of.traceparent ?? '')
      const traceId = parent?.traceId ?? given?.[1] ?? randomBytes(16).toString('hex')
      const spanId = randomBytes(8).toString('hex')
      const parentSpanId = parent ? spanIds.get(parent) : given?.[2]
      let isSampled: boolean
      if (parent) isSampled = sampled.has(parent)
      else if (given) isSampled = (Number.parseInt(given[3] ?? '', 16) & 1) === 1
      else isSampled = Math.random() < settings.share
      const startedAt = nowMs() - (of.sinceMs ?? 0)
      let attributes: Attributes = of.attributes ?? {}
      let ended = false
      const span: Span = {
        traceId,
        traceparent: `00-${traceId}-${spanId}-${isSampled ? '01' : '00'}`,
        set(more) {
          attributes = { ...attributes, ...more }
        },
        end(failure) {
          if (ended) return
          ended = true
          if (!isSampled || waiting.length >= kept) return
          waiting.push({
            traceId,
            spanId,
            ...(parentSpanId !== undefined && { parentSpanId }),
            name: of.name,
            kind: kinds[of.kind],
            startTimeUnixNano: nanoseconds(startedAt),
            endTimeUnixNano: nanoseconds(nowMs()),
            attributes: listOf(attributes),
            ...(failure !== undefined && { status: { code: failed, message: failure } }),
          })
          if (isSending) return
          if (waiting.length >= batch && !isAway) send()
          else sendLater()
        },
      }
      spanIds.set(span, spanId)
      if (isSampled) sampled.add(span)
      return span
    },
    within: (span, work) => running.run(span, work),
    current: () => running.getStore(),
    async close() {
      const last = sending.then(sendAll)
      const late = new Promise<void>((resolve) => {
        setTimeout(resolve, closeLimitMs).unref()
      })
      await Promise.race([last, late])
      clearTimeout(timer)
      waiting = []
    },
  }
}
