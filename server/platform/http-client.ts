/**
 * A small fetch for drivers: a time limit, a limit on the response's size, and every failure as a
 * DriverFailure. It never logs; messages name the third party, the method and the status, and never
 * an address, a body or a secret.
 */
import { DriverFailure, type DriverFailureKind } from './errors.ts'
import { currentSpan, traced } from './spans.ts'

export interface HttpCall {
  /** The third party's name for the failure's text, such as 'vnpay'. */
  readonly peer: string
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  readonly url: string | URL
  readonly headers?: Readonly<Record<string, string>>
  /** At most one of the three bodies may be given. */
  readonly json?: unknown
  readonly form?: Readonly<Record<string, string>> | URLSearchParams
  /** A body of another media type. */
  readonly body?: { readonly type: string; readonly text: string }
  readonly timeoutMs?: number
  /** Statuses beyond 2xx that the caller wants to read itself. */
  readonly accept?: readonly number[]
  /**
   * Whether the call is idempotent and may be retried; a GET may. It decides the failure kind of a
   * lost response.
   */
  readonly repeatable?: boolean
  /**
   * The meaning of a 5xx. A call that moves money says 'unclear': the third party may have acted
   * before it failed.
   */
  readonly serverError?: DriverFailureKind
  readonly maxBytes?: number
}
export interface HttpAnswer {
  readonly status: number
  readonly headers: Headers
  readonly text: string
}

export const defaultTimeoutMs = 10_000
const defaultMaxBytes = 1_048_576

/**
 * Error codes that occur before the first byte of a request is sent: the third party cannot have
 * acted.
 */
const beforeSending = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'EADDRNOTAVAIL',
  'UND_ERR_CONNECT_TIMEOUT',
  'CERT_HAS_EXPIRED',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'ERR_TLS_CERT_ALTNAME_INVALID',
])

/**
 * The system's code of a failed fetch; a host with two addresses gives one error for each, and all
 * must agree on "not sent".
 */
function codes(error: unknown): string[] {
  if (!(error instanceof Error)) return []
  if (error instanceof AggregateError) return error.errors.flatMap(codes)
  if ('code' in error && typeof error.code === 'string') return [error.code]
  return codes(error.cause)
}

async function readLimited(response: Response, peer: string, maxBytes: number): Promise<string> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of response.body ?? []) {
    size += chunk.byteLength
    if (size > maxBytes)
      throw new DriverFailure('unavailable', `${peer}: the answer is longer than ${maxBytes} bytes`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}

/**
 * Makes one call and reads the whole answer within `timeoutMs` (default 10 s). Redirections are not
 * followed. Throws DriverFailure: `unavailable` when nothing was sent, on 429 and 5xx and on a lost
 * answer to a repeatable call; `unclear` when the answer to any other call was lost; `rejected` on
 * 3xx and other 4xx that `accept` does not name. 408 is a lost answer: a proxy may send it.
 */
export const callHttp = (call: HttpCall): Promise<HttpAnswer> =>
  traced(
    {
      name: `${call.method} ${call.peer}`,
      kind: 'client',
      attributes: { 'http.request.method': call.method, 'peer.service': call.peer },
    },
    () => makeCall(call),
  )

/** The span of a call that a third party's own client makes. */
export const tracedCall = <T>(peer: string, call: () => Promise<T>): Promise<T> =>
  traced({ name: `call ${peer}`, kind: 'client', attributes: { 'peer.service': peer } }, call)

async function makeCall(call: HttpCall): Promise<HttpAnswer> {
  const { peer, method } = call
  const span = currentSpan()
  const lost: DriverFailureKind = (call.repeatable ?? method === 'GET') ? 'unavailable' : 'unclear'
  const headers: Record<string, string> = {
    accept: 'application/json',
    ...(span && { traceparent: span.traceparent }),
    ...call.headers,
  }
  let body: string | undefined
  if (call.json !== undefined) {
    headers['content-type'] = 'application/json; charset=utf-8'
    body = JSON.stringify(call.json)
  } else if (call.form !== undefined) {
    headers['content-type'] = 'application/x-www-form-urlencoded; charset=utf-8'
    body = new URLSearchParams(call.form).toString()
  } else if (call.body !== undefined) {
    headers['content-type'] = call.body.type
    body = call.body.text
  }
  let answer: HttpAnswer
  try {
    const signal = AbortSignal.timeout(call.timeoutMs ?? defaultTimeoutMs)
    const response = await fetch(call.url, {
      method,
      headers,
      signal,
      redirect: 'manual',
      ...(body === undefined ? {} : { body }),
    })
    answer = {
      status: response.status,
      headers: response.headers,
      text: await readLimited(response, peer, call.maxBytes ?? defaultMaxBytes),
    }
  } catch (error) {
    if (error instanceof DriverFailure)
      throw lost === 'unclear' ? new DriverFailure(lost, error.message) : error
    const found = codes(error)
    const unsent = found.length > 0 && found.every((code) => beforeSending.has(code))
    const why =
      error instanceof Error && error.name === 'TimeoutError'
        ? 'no answer in time'
        : (found[0] ?? 'the connection broke')
    throw new DriverFailure(unsent ? 'unavailable' : lost, `${peer}: ${method}: ${why}`)
  }
  const { status } = answer
  span?.set({ 'http.response.status_code': status })
  if ((status >= 200 && status < 300) || call.accept?.includes(status)) return answer
  if (status >= 500)
    throw new DriverFailure(
      call.serverError ?? 'unavailable',
      `${peer}: ${method}: status ${status}`,
    )
  const meanings: Partial<Record<number, DriverFailureKind>> = { 408: lost, 429: 'unavailable' }
  throw new DriverFailure(meanings[status] ?? 'rejected', `${peer}: ${method}: status ${status}`)
}

/**
 * The response's body as JSON. A body that is no JSON is a failure of the third party, of the given
 * `kind` (a call that moved money must say 'unclear').
 */
export function jsonOf(
  answer: HttpAnswer,
  peer: string,
  kind: DriverFailureKind = 'unavailable',
): unknown {
  try {
    return JSON.parse(answer.text)
  } catch {
    throw new DriverFailure(kind, `${peer}: status ${answer.status} with a body that is not JSON`)
  }
}
