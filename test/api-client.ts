/** Calls the API as a client does, and checks that each answer matches its documented schema. */
import { isDeepStrictEqual } from 'node:util'
import * as z from 'zod'
import type { Endpoint } from '../contract/index.ts'
import { endpoints } from './endpoints.ts'

export interface Answer<T = unknown> {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  readonly body: {
    statusCode: number
    message: string
    result: T
    page?: { next: string | null }
    error?: { code: string; fields?: Record<string, string>; requestId: string }
  }
}

export type Call = <T = unknown>(
  method: string,
  path: string,
  options?: { body?: unknown; token?: string; headers?: Record<string, string> },
) => Promise<Answer<T>>

const known = endpoints.map((endpoint) => ({
  endpoint,
  pattern: new RegExp(`^${endpoint.path.replace(/:[^/]+/g, '[^/]+')}$`),
}))
/** A literal path takes precedence over one with a parameter. */
const endpointOf = (method: string, path: string): Endpoint | undefined => {
  const [address = ''] = path.split('?')
  const found = known.filter(
    ({ endpoint, pattern }) => endpoint.method === method && pattern.test(address),
  )
  return (found.find(({ endpoint }) => endpoint.path === address) ?? found[0])?.endpoint
}
/** The differences between two values, as paths with their values. */
function differences(read: unknown, given: unknown, at = ''): string[] {
  if (isDeepStrictEqual(read, given)) return []
  const isTree = (one: unknown): one is Record<string, unknown> =>
    typeof one === 'object' && one !== null
  if (!isTree(read) || !isTree(given)) return [`${at} ${JSON.stringify(given)}`]
  return [...new Set([...Object.keys(read), ...Object.keys(given)])].flatMap((name) =>
    differences(read[name], given[name], `${at}.${name}`),
  )
}
/**
 * Throws where a successful answer has a field that its schema lacks, or lacks one that the schema
 * has.
 */
function refuseUndocumented(method: string, path: string, body: Answer['body'] | undefined): void {
  const endpoint = endpointOf(method, path)
  if (!endpoint || endpoint.bare || body?.result === undefined) return
  const read = z.core.safeParse(endpoint.result, body.result)
  if (!read.success) throw new Error(`${method} ${path} answers other: ${read.error.message}`)
  const more = differences(read.data, body.result)
  if (more.length > 0)
    throw new Error(`${method} ${path} answers more than its document says: ${more.join(', ')}`)
}

/** A body that is text is sent unchanged. */
export const callsTo =
  (origin: string): Call =>
  async <T>(method: string, path: string, { body, token, headers }: Parameters<Call>[2] = {}) => {
    const answer = await fetch(`${origin}${path}`, {
      method,
      redirect: 'manual',
      headers: {
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...(token !== undefined && { authorization: `Bearer ${token}` }),
        ...headers,
      },
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    })
    const text = await answer.text()
    let parsed: unknown
    try {
      parsed = JSON.parse(text)
    } catch {
      parsed = undefined
    }
    if (answer.ok) refuseUndocumented(method, path, parsed as Answer['body'] | undefined)
    return {
      status: answer.status,
      headers: answer.headers,
      text,
      body: parsed as Answer<T>['body'],
    }
  }
