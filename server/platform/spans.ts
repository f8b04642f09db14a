/**
 * Spans of OpenTelemetry, for whoever does the work that they measure. While tracing is off, which
 * it is unless `openTracing` (tracing.ts) found an address, all of this is a comparison and a call.
 */

export type Attributes = Readonly<Record<string, string | number | boolean>>

export interface SpanStart {
  /** Contains no ids: spans of one kind of work share a name. */
  readonly name: string
  /** The kind: `server` answers a call, `client` makes one, `consumer` works on a job. */
  readonly kind: 'server' | 'client' | 'consumer'
  readonly attributes?: Attributes
  /** The caller's header `traceparent` (W3C Trace Context), as it came. */
  readonly traceparent?: string | undefined
  /** How long ago it began, ms. */
  readonly sinceMs?: number
}

export interface Span {
  /** 32 hexadecimal digits. */
  readonly traceId: string
  /** The header that tells a callee its parent span (W3C Trace Context). */
  readonly traceparent: string
  set(attributes: Attributes): void
  /** Ends the span. `failure`: why it failed, without customer data. Only the first call counts. */
  end(failure?: string): void
}

export interface Tracer {
  /** Starts a child of the running code's span or of the caller's; otherwise a new trace. */
  start(of: SpanStart): Span
  /** Runs the work so that spans begun in it are children of this one. */
  within<T>(span: Span, work: () => T): T
  /** The span of the running code. */
  current(): Span | undefined
}

let tracer: Tracer | undefined

/** One tracer serves the whole process. Undefined: no more spans are made. */
export function setTracer(next: Tracer | undefined): void {
  tracer = next
}

/** Undefined while tracing is off. */
export const startSpan = (of: SpanStart): Span | undefined => tracer?.start(of)

/** The span of the running code; undefined while tracing is off, and outside of one. */
export const currentSpan = (): Span | undefined => tracer?.current()

export const within = <T>(span: Span, work: () => T): T =>
  tracer ? tracer.within(span, work) : work()

const reasonOf = (error: unknown): string => (error instanceof Error ? error.name : 'unknown')

/** The work in a span of its own, which ends with it. */
export async function traced<T>(of: SpanStart, work: () => Promise<T>): Promise<T> {
  const span = tracer?.start(of)
  if (!span) return await work()
  try {
    const result = await within(span, work)
    span.end()
    return result
  } catch (error) {
    span.end(reasonOf(error))
    throw error
  }
}

/** The same for work that is only of interest as a part of something that is traced. */
export const tracedPart = <T>(of: SpanStart, work: () => Promise<T>): Promise<T> =>
  currentSpan() ? traced(of, work) : work()
