/** The span of one API call, from its arrival to the end of its response. */
import type { FastifyReply, FastifyRequest } from 'fastify'
import { startSpan, within } from './spans.ts'

/** Runs the handler inside the span. The caller's trace context is continued (W3C traceparent). */
export function inSpanOfCall<T>(
  route: string,
  request: FastifyRequest,
  reply: FastifyReply,
  handle: () => T,
): T {
  const { traceparent } = request.headers
  const span = startSpan({
    name: `${request.method} ${route}`,
    kind: 'server',
    traceparent: typeof traceparent === 'string' ? traceparent : undefined,
    sinceMs: reply.elapsedTime,
    attributes: {
      'http.request.method': request.method,
      'http.route': route,
      'portal.request_id': request.id,
    },
  })
  if (!span) return handle()
  traces.set(request, span.traceId)
  // 'close' also comes when the caller hangs up, and after the error handler.
  reply.raw.once('close', () => {
    const { statusCode } = reply
    span.set({ 'http.response.status_code': statusCode })
    span.end(statusCode >= 500 ? `status ${statusCode}` : undefined)
  })
  return within(span, handle)
}

const traces = new WeakMap<FastifyRequest, string>()
/** The trace's id for the log line; undefined while tracing is off. */
export const traceOf = (request: FastifyRequest): string | undefined => traces.get(request)
