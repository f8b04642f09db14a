/**
 * The part of HTTP that the sandbox needs: routes by method and path, small bodies, plain replies.
 */
import { createServer, type IncomingMessage, type Server } from 'node:http'

export interface Call {
  readonly method: string
  /** Without a slash at the end. */
  readonly path: string
  readonly query: URLSearchParams
  /** The values of a route's `:name` parts. */
  readonly params: Readonly<Record<string, string>>
  readonly headers: IncomingMessage['headers']
  readonly body: Buffer
}
export interface Reply {
  readonly status: number
  /** A list becomes one header per value. */
  readonly headers?: Readonly<Record<string, string | string[]>>
  readonly body?: string | Buffer
}
/**
 * Keys are 'GET /path', where a part of the path may be a `:name`, or '/path/*' for every call
 * below it.
 */
export type Routes = Readonly<Record<string, (call: Call) => Reply | Promise<Reply>>>

const usualMaxBody = 65_536

class TooLarge extends Error {}

async function bodyOf(request: IncomingMessage, maxBody: number): Promise<Buffer> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length
    if (size > maxBody) throw new TooLarge()
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

export const json = (value: unknown, status = 200): Reply => ({
  status,
  headers: { 'content-type': 'application/json; charset=utf-8', 'cache-control': 'no-store' },
  body: JSON.stringify(value),
})
export const redirect = (location: string): Reply => ({
  status: 303,
  headers: { location, 'cache-control': 'no-store' },
})
/**
 * Adds parameters to the merchant's return URL, whether it has a query or not; a fragment stays at
 * the end.
 */
export function withQuery(returnUrl: string, query: string): string {
  const [address = '', fragment] = returnUrl.split('#', 2)
  let joint
  if (!address.includes('?')) joint = '?'
  else if (/[?&]$/.test(address)) joint = ''
  else joint = '&'

  return `${address}${joint}${query}${fragment === undefined ? '' : `#${fragment}`}`
}
/** The fields of a posted form. */
export const formOf = (call: Call): URLSearchParams =>
  new URLSearchParams(call.body.toString('utf8'))

type Route = Routes[string]
/** Finds the route of 'GET /path'; an exact path takes precedence over one with names in it. */
function finderOf(
  routes: Routes,
): (name: string) => { route: Route; params: Record<string, string> } | undefined {
  const shapes = Object.entries(routes)
    .filter(([name]) => name.includes('/:'))
    .map(([name, route]) => ({
      shape: new RegExp(`^${name.replace(/:(\w+)/g, '(?<$1>[^/]+)')}$`),
      route,
    }))
  return (name) => {
    const exact = Object.hasOwn(routes, name) ? routes[name] : undefined
    if (exact) return { route: exact, params: {} }
    for (const { shape, route } of shapes) {
      const found = shape.exec(name)
      if (found) return { route, params: { ...found.groups } }
    }
    return undefined
  }
}

/**
 * A server for the routes; it does not listen yet. An error that a route throws is logged and
 * answered with 503.
 */
export function serverFor(
  routes: Routes,
  log: (line: string) => void,
  maxBody = usualMaxBody,
): Server {
  const find = finderOf(routes)
  const below = Object.entries(routes).flatMap(([name, route]) =>
    name.endsWith('/*') ? [[name.slice(0, -1), route] as const] : [],
  )
  const belowOf = (path: string) => {
    const route = below.find(([prefix]) => path.startsWith(prefix))?.[1]
    return route && { route, params: {} }
  }
  async function answer(request: IncomingMessage): Promise<Reply> {
    const url = new URL(request.url ?? '/', 'http://sandbox')
    const path = url.pathname.length > 1 ? url.pathname.replace(/\/$/, '') : '/'
    const method = request.method === 'HEAD' ? 'GET' : (request.method ?? 'GET')
    const found = find(`${method} ${path}`) ?? belowOf(path)
    if (found === undefined)
      return {
        status: 404,
        headers: { 'content-type': 'text/plain; charset=utf-8' },
        body: 'Not found\n',
      }
    const { headers } = request
    return await found.route({
      method,
      path,
      query: url.searchParams,
      params: found.params,
      headers,
      body: await bodyOf(request, maxBody),
    })
  }
  return createServer(
    { requestTimeout: 30_000, headersTimeout: 10_000, maxHeaderSize: 32_768 },
    (request, response) => {
      answer(request)
        .catch((error: unknown): Reply => {
          if (error instanceof TooLarge) return { status: 413, headers: { connection: 'close' } }
          log(
            `sandbox: ${request.method ?? ''} failed: ` +
              `${error instanceof Error ? error.message : 'unknown'}`,
          )
          return json({ error: 'The sandbox cannot answer right now. Please try again.' }, 503)
        })
        .then((reply) => {
          response.writeHead(reply.status, {
            'x-content-type-options': 'nosniff',
            'referrer-policy': 'no-referrer',
            ...reply.headers,
          })
          response.end(request.method === 'HEAD' ? undefined : reply.body)
        })
        .catch(() => response.destroy())
    },
  )
}
