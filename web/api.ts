/** The API client: each call is typed by its endpoint in the contract. */
import type { Endpoint, Failure, Input, Output, Success } from '../contract/endpoint.ts'
import { takeEarlyRead } from './early-reads.ts'
import { currentLanguage, currentTexts, sentenceLanguage } from './i18n/index.ts'
import { session } from './session.ts'

/**
 * A refusal or a failure, as the server worded it. Code `offline` and status 0 when no response
 * came.
 */
export class ApiError extends Error {
  override readonly name = 'ApiError'
  readonly code: string
  readonly status: number
  readonly fields: Record<string, string>
  readonly requestId: string | undefined
  readonly retryAfter: number | undefined
  /** With second_factor_required: the challenge that the next sign-in step needs. */
  readonly challenge: string | undefined

  constructor(of: {
    code: string
    status: number
    message: string
    fields?: Record<string, string>
    requestId?: string
    retryAfter?: number
    challenge?: string
  }) {
    super(of.message)
    this.code = of.code
    this.status = of.status
    this.fields = of.fields ?? {}
    this.requestId = of.requestId
    this.retryAfter = of.retryAfter
    this.challenge = of.challenge
  }
}

type Part<Name extends string, S> = S extends undefined ? unknown : Record<Name, Input<S>>
type PartOf<E extends Endpoint, Name extends 'params' | 'query' | 'body'> =
  E extends Record<Name, infer S> ? Part<Name, S> : unknown
export type CallInput<E extends Endpoint> = PartOf<E, 'params'> &
  PartOf<E, 'query'> &
  PartOf<E, 'body'>

interface CallOptions {
  signal?: AbortSignal | undefined
  /** The idempotency key: a repeat under the same key is handled once. */
  idempotencyKey?: string | undefined
}
interface Parts {
  params?: Record<string, unknown>
  query?: Record<string, unknown>
  body?: unknown
}

/**
 * Handlers for an ended session, for maintenance and for a repeated second factor, the same on
 * every screen. main.tsx sets them once.
 */
export const onOutage = {
  signedOut: () => {},
  unavailable: (_failure: ApiError, _endpoint: Endpoint) => {},
  /** Asks for the second factor again. True: it was proven, and the call is repeated. */
  asksAgain: async () => false,
}

/** `crypto.randomUUID` exists only on https and localhost. */
export function newKey(): string {
  if (typeof crypto.randomUUID === 'function') return crypto.randomUUID()
  const bytes = crypto.getRandomValues(new Uint8Array(16))
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x40
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80
  const hex = [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('')
  return (
    `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-` +
    `${hex.slice(20)}`
  )
}

function address(endpoint: Endpoint, { params, query }: Parts): string {
  const path = endpoint.path.replace(/:(\w+)/g, (_, name: string) =>
    encodeURIComponent(String(params?.[name])),
  )
  const search = new URLSearchParams()
  for (const [name, value] of Object.entries(query ?? {}))
    if (value !== undefined) search.set(name, String(value as string | number | boolean))
  const text = search.toString()
  return text ? `${path}?${text}` : path
}

async function failureOf(response: Response): Promise<ApiError> {
  const body = (await response.json().catch(() => undefined)) as Failure | undefined
  const retryAfter = Number(response.headers.get('Retry-After') ?? Number.NaN)
  return new ApiError({
    code: body?.error?.code ?? (response.status === 503 ? 'unavailable' : 'internal'),
    status: response.status,
    message: body?.message ?? currentTexts().toast.tryAgain,
    ...(body?.error?.fields ? { fields: body.error.fields } : {}),
    ...(body?.error?.requestId ? { requestId: body.error.requestId } : {}),
    ...(body?.error?.challenge ? { challenge: body.error.challenge } : {}),
    ...(Number.isFinite(retryAfter) ? { retryAfter } : {}),
  })
}

/**
 * The headers that identify the caller: this tab's token, or for a write the cookie's CSRF token.
 */
function credentials(method: string): Record<string, string> {
  const token = session.token()
  if (token !== null) return { Authorization: `Bearer ${token}` }
  const held = session.held()
  return held && method !== 'GET' ? { 'X-CSRF-Token': held.csrfToken } : {}
}

/**
 * Makes a call with the credentials of this tab. If they were replaced meanwhile, the call is
 * repeated once: a call that was refused for its credentials has changed nothing. `ask` begins the
 * request at once.
 */
export async function signed(
  method: string,
  ask: (headers: Record<string, string>) => Promise<Response>,
): Promise<{ response: Response; under: string | null }> {
  const under = session.credential()
  const response = await ask(credentials(method))
  const csrfToken = response.headers.get('X-CSRF-Token')
  if (csrfToken !== null) session.renewCsrf(csrfToken)
  if (under === null || (response.status !== 401 && response.status !== 403))
    return { response, under }
  const again = await import('./resume.ts')
    .then(({ isReplaced }) => isReplaced(response, under))
    .catch(() => false)
  if (!again) return { response, under }
  return { response: await ask(credentials(method)), under: session.credential() }
}

const askAgainMs = 400

async function request(
  endpoint: Endpoint,
  parts: Parts,
  options: CallOptions,
  accept = 'application/json',
): Promise<Response> {
  const headers: Record<string, string> = {
    Accept: accept,
    'Accept-Language': sentenceLanguage(currentLanguage()),
  }
  if (parts.body !== undefined) headers['Content-Type'] = 'application/json'
  if (endpoint.method === 'POST' || endpoint.method === 'PUT')
    headers['Idempotency-Key'] = options.idempotencyKey ?? newKey()

  const to = address(endpoint, parts)
  const ask = (own: Record<string, string>): Promise<Response> =>
    fetch(to, {
      method: endpoint.method,
      headers: { ...headers, ...own },
      ...(parts.body === undefined ? {} : { body: JSON.stringify(parts.body) }),
      ...(options.signal ? { signal: options.signal } : {}),
    })
  const askTwice = (own: Record<string, string>): Promise<Response> =>
    ask(own).catch(async (error: unknown) => {
      // The process that held the connection may be gone. The idempotency key makes a repeat safe.
      const known = Object.keys(own).length > 0
      if (options.signal?.aborted || !known || !('Idempotency-Key' in headers)) throw error
      await new Promise((resolve) => setTimeout(resolve, askAgainMs))
      return await ask(own)
    })
  let early = endpoint.method === 'GET' ? takeEarlyRead(to, session.credential()) : undefined
  let answer: Awaited<ReturnType<typeof signed>>
  try {
    answer = await signed(endpoint.method, async (own) => {
      const given = await early?.catch(() => undefined)
      early = undefined
      return given ?? (await askTwice(own))
    })
  } catch (error) {
    if (error instanceof DOMException && error.name === 'AbortError') throw error
    throw noConnection()
  }
  const { response, under } = answer
  if (response.ok) return response

  const failure = await failureOf(response)
  // A refusal of a session that was replaced during this call says nothing about the new session.
  if (under === session.credential()) {
    if (failure.code === 'unauthenticated') onOutage.signedOut()
    else if (failure.code === 'session_locked' && !session.locked()) session.lock()
  }
  if (failure.code === 'reauthentication_required' && (await onOutage.asksAgain()))
    return await request(endpoint, parts, options, accept)
  if (failure.status === 503) onOutage.unavailable(failure, endpoint)
  throw failure
}

const noConnection = () =>
  new ApiError({ code: 'offline', status: 0, message: currentTexts().common.noConnection })

async function send(
  endpoint: Endpoint,
  parts: Parts,
  options: CallOptions,
): Promise<Success<unknown>> {
  const response = await request(endpoint, parts, options)
  try {
    return (await response.json()) as Success<unknown>
  } catch (error) {
    if (error instanceof DOMException && error.name === 'AbortError') throw error
    // The connection broke while the body was being read.
    throw noConnection()
  }
}

/** Downloads the file that an endpoint answers with, under the name that the response gives. */
export async function download<const E extends Endpoint & { files: readonly string[] }>(
  endpoint: E,
  input: CallInput<E>,
  fileName?: string,
): Promise<void> {
  const response = await request(endpoint, input as Parts, {}, '*/*')
  const link = document.createElement('a')
  try {
    link.href = URL.createObjectURL(await response.blob())
  } catch {
    throw noConnection()
  }
  link.download =
    fileName ??
    /filename="([^"]+)"/.exec(response.headers.get('Content-Disposition') ?? '')?.[1] ??
    'download'
  link.click()
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000)
}

/** Calls an endpoint and returns its `result`. Throws ApiError. */
export async function call<const E extends Endpoint>(
  endpoint: E,
  input: CallInput<E>,
  options: CallOptions = {},
): Promise<Output<E['result']>> {
  const success = await send(endpoint, input as Parts, options)
  return success.result as Output<E['result']>
}

export interface Page<R> {
  result: R
  next: string | null
}

/** Calls a keyset-paginated list: returns the result and the cursor of the next page. */
export async function callPage<const E extends Endpoint & { paged: true }>(
  endpoint: E,
  input: CallInput<E>,
  options: CallOptions = {},
): Promise<Page<Output<E['result']>>> {
  const success = await send(endpoint, input as Parts, options)
  return { result: success.result as Output<E['result']>, next: success.page?.next ?? null }
}

/**
 * Requests whose result is unknown, by their content: their idempotency key, and since when. They
 * are kept outside of the screens, because an outage replaces the screen.
 */
const unsettled = new Map<string, { readonly key: string; readonly since: number }>()
/** After this time the same body counts as a new action, ms. */
const unsettledMs = 15 * 60_000

/**
 * Keeps one idempotency key for one request. When no response came, or the response does not say
 * whether the request was handled, the same body is sent again under the same key, and the server
 * handles it once; any other response ends the request.
 */
export class Attempt {
  #key: string | undefined
  #body: string | undefined

  async run<const E extends Endpoint>(
    endpoint: E,
    input: CallInput<E>,
  ): Promise<Output<E['result']>> {
    const body = JSON.stringify([endpoint.path, input])
    if (this.#key === undefined || this.#body !== body) {
      const before = unsettled.get(body)
      this.#key =
        before !== undefined && Date.now() - before.since < unsettledMs ? before.key : newKey()
      this.#body = body
    }
    const key = this.#key
    try {
      const result = await call(endpoint, input, { idempotencyKey: key })
      this.#end(body)
      return result
    } catch (error) {
      // Where the result is unknown, the next press repeats the same action.
      if (
        error instanceof ApiError &&
        error.status > 0 &&
        error.status < 500 &&
        error.code !== 'idempotency_in_progress'
      )
        this.#end(body)
      else unsettled.set(body, { key, since: Date.now() })
      throw error
    }
  }

  #end(body: string) {
    this.#key = undefined
    unsettled.delete(body)
  }
}

/**
 * The server's sentence, or `otherwise` where there is none: no response came, or it was an
 * internal error.
 */
export const serverMessageOr = (error: unknown, otherwise: string): string =>
  error instanceof ApiError && error.status > 0 && error.code !== 'internal'
    ? error.message
    : otherwise

/** What to tell the customer about any failure. */
export const messageOf = (error: unknown): string =>
  error instanceof ApiError ? error.message : currentTexts().toast.tryAgain
