/** The span of one call of the API: from its arrival to the end of its answer. */
import type { FastifyReply, FastifyRequest } from 'fastify'
import { startSpan, within } from './spans.ts'

/** Runs the handler in it. What the caller says of its own trace is followed (W3C traceparent). */
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
  // It comes also when the caller hangs up, and after the error handler.
  reply.raw.once('close', () => {
    const { statusCode } = reply
    span.set({ 'http.response.status_code': statusCode })
    span.end(statusCode >= 500 ? `status ${statusCode}` : undefined)
  })
  return within(span, handle)
}

const traces = new WeakMap<FastifyRequest, string>()
/** For the log's line; undefined while tracing is off. */
export const traceOf = (request: FastifyRequest): string | undefined => traces.get(request)
