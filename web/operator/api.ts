/** Calls of the desk, typed by the contract. The session cookie cannot be read by scripts. */
import type { Endpoint, Failure, Output, Success } from '../../contract/endpoint.ts'
import type { CallInput } from '../api.ts'
import { deskLanguage, deskTexts } from './language.ts'

/** A refusal, as the server worded it. Code `offline` and status 0 when no response came. */
export class DeskError extends Error {
  override readonly name = 'DeskError'
  readonly code: string
  readonly status: number
  readonly fields: Record<string, string>
  constructor(message: string, code: string, status: number, fields: Record<string, string> = {}) {
    super(message)
    this.code = code
    this.status = status
    this.fields = fields
  }
}

let csrfToken = ''
/** Stores the CSRF token from the answer to a sign-in or to the session query. */
export function holdCsrf(token: string): void {
  csrfToken = token
}
/** Headers for a write that does not use `call`. */
export const csrfHeaders = (): Record<string, string> => ({ 'X-CSRF-Token': csrfToken })
/** Called when a call finds that the session has ended; Desk.tsx sets it. */
export const onDesk = { signedOut: (): void => undefined }

/** `crypto.randomUUID` exists only on https and localhost. */
export function newKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16))
  return [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('')
}

interface Parts {
  params?: Record<string, unknown>
  query?: Record<string, unknown>
  body?: unknown
}
function addressOf(endpoint: Endpoint, { params, query }: Parts): string {
  const path = endpoint.path.replace(/:(\w+)/g, (_, name: string) =>
    encodeURIComponent(String(params?.[name])),
  )
  const search = new URLSearchParams()
  for (const [name, value] of Object.entries(query ?? {}))
    if (value !== undefined) search.set(name, String(value as string | number))
  return search.size === 0 ? path : `${path}?${search}`
}

async function ask(
  endpoint: Endpoint,
  parts: Parts,
  signal?: AbortSignal,
): Promise<Success<unknown>> {
  let response: Response
  try {
    response = await fetch(addressOf(endpoint, parts), {
      method: endpoint.method,
      headers: {
        Accept: 'application/json',
        'Accept-Language': deskLanguage(),
        ...(endpoint.method !== 'GET' && { 'X-CSRF-Token': csrfToken }),
        ...(parts.body !== undefined && { 'Content-Type': 'application/json' }),
      },
      ...(parts.body !== undefined && { body: JSON.stringify(parts.body) }),
      ...(signal && { signal }),
    })
  } catch (error) {
    if (error instanceof DOMException && error.name === 'AbortError') throw error
    throw new DeskError(deskTexts().noConnection, 'offline', 0)
  }
  if (response.ok) return (await response.json()) as Success<unknown>
  const failure = (await response.json().catch(() => undefined)) as Failure | undefined
  const code = failure?.error?.code ?? 'internal'
  if (code === 'unauthenticated') onDesk.signedOut()
  throw new DeskError(
    failure?.message ?? deskTexts().failed,
    code,
    response.status,
    failure?.error?.fields,
  )
}

/** Calls an endpoint and returns its `result`. Throws DeskError. */
export async function call<const E extends Endpoint>(
  endpoint: E,
  input: CallInput<E>,
  signal?: AbortSignal,
): Promise<Output<E['result']>> {
  return (await ask(endpoint, input as Parts, signal)).result as Output<E['result']>
}

/** Calls a paged list: returns the result and the cursor of the next page. */
export async function callPage<const E extends Endpoint & { paged: true }>(
  endpoint: E,
  input: CallInput<E>,
  signal?: AbortSignal,
): Promise<{ result: Output<E['result']>; next: string | null }> {
  const { result, page } = await ask(endpoint, input as Parts, signal)
  return { result: result as Output<E['result']>, next: page?.next ?? null }
}
