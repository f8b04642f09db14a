/**
 * Where HTTP meets the house: one route from one contract object. Schemas are checked, the caller is known, the answer has its envelope, the
 * three kinds of trouble become statuses here and nowhere else. Rooms get plain calls and know no HTTP.
 */
import { randomUUID } from 'node:crypto'
import { Readable } from 'node:stream'
import formbody from '@fastify/formbody'
import Fastify, { LogController, type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify'
import * as z from 'zod'
import { fieldMessage, type Endpoint, type Input, type Issue, type Language, type Output, type Success } from '../../contract/index.ts'
import { acted, answered, type IdempotencyStore, type KeptAnswer, type KeyedCall } from './idempotency.ts'
import { isUuid, transaction, type Database, type Tx } from './db.ts'
import { Refusal } from './errors.ts'
import { explain, languageOfRequest } from './http-failures.ts'
import type { Log } from './log.ts'
import { watchUnused } from './unused-connections.ts'
import { opensWebSocket } from './upgrade.ts'

/** Who calls, as the auth room tells. */
export interface Caller {
  readonly customerId: string
  readonly sessionId: string
}

export interface Call<E extends Endpoint> {
  readonly params: Output<E['params']>
  readonly query: Output<E['query']>
  readonly body: Output<E['body']>
  /** The signed-in customer's id; empty for public calls. */
  readonly customerId: string
  readonly caller: Caller | undefined
  readonly language: Language
  readonly ip: string
  /** At most 300 characters of it; empty without one. */
  readonly userAgent: string
}
/** A call of which only the caller is known. */
type From = Omit<Call<Endpoint>, 'params' | 'query' | 'body'>
/** POST, PUT and DELETE run in one transaction, together with the answer that is kept for their Idempotency-Key. */
export type Write<E extends Endpoint> = Call<E> & { readonly tx: Tx }
/** A call that reaches a third party runs in no transaction. Repeated under its Idempotency-Key it has the same `actionId`, and acts once. */
export type Act<E extends Endpoint> = Call<E> & { readonly actionId: string }

/** A page of a keyset-paginated list. */
export class Page<R> {
  readonly result: R
  readonly next: string | null
  constructor(result: R, next: string | null) {
    this.result = result
    this.next = next
  }
}

/** A document to keep, sent as it is made and never held in memory. */
export interface FileAnswer {
  /** ASCII. */
  readonly name: string
  readonly type: string
  readonly chunks: AsyncIterable<string | Buffer>
  /** Length in bytes, where it is known beforehand. */
  readonly bytes?: number
  /** The chunks are the JSON of `result`. */
  readonly enveloped?: boolean
}

type Answer<E extends Endpoint> = E['paged'] extends true ? Page<Input<E['result']>> : Input<E['result']>

export interface Http {
  readonly server: FastifyInstance
  /** Every endpoint served so far, for the OpenAPI document. */
  readonly endpoints: readonly Endpoint[]
  read<E extends Endpoint>(endpoint: E, handle: (call: Call<E>) => Promise<Answer<E>>): void
  write<E extends Endpoint>(endpoint: E, handle: (call: Write<E>) => Promise<Answer<E>>): void
  /** A write that reaches a third party: it opens its own transactions, before and after. */
  act<E extends Endpoint>(endpoint: E, handle: (call: Act<E>) => Promise<Answer<E>>): void
  /** A write whose success travels without the envelope, where another protocol prescribes the answer. */
  plain<E extends Endpoint>(endpoint: E, handle: (call: Write<E>) => Promise<Input<E['result']>>): void
  /** A read that answers with a file; `accept` is the header of that name. */
  file<E extends Endpoint>(endpoint: E, handle: (call: Call<E> & { accept: string }) => Promise<FileAnswer>): void
}

export interface HttpOptions {
  readonly db: Database
  readonly log: Log
  readonly idempotency: IdempotencyStore
  /** Undefined: no or dead token. */
  readonly identify: (token: string) => Promise<Caller | undefined>
  readonly trustProxy: boolean
  readonly onResponse?: (route: string, method: string, status: number, seconds: number) => void
}

const maxUserAgentChars = 300
const bodyLimitBytes = 256 * 1024
/** How long a stop waits for requests in hand. */
const closeMs = 8_000
/** What a call without a body of its own takes: none, or an empty one. */
const noBody = z.strictObject({})

function fieldsOf(issues: readonly z.core.$ZodIssue[], language: Language): Record<string, string> {
  // A map, because a caller may well name a field `constructor`.
  const fields = new Map<string, string>()
  for (const issue of issues) {
    const names =
      issue.code === 'unrecognized_keys' ? issue.keys.map((key) => [...issue.path, key].join('.')) : [issue.path.join('.') || 'body']
    for (const name of names) if (!fields.has(name)) fields.set(name, fieldMessage(issue as Issue, language))
  }
  return Object.fromEntries(fields)
}

/** Where a text stands that PostgreSQL cannot hold: one with NUL or half a surrogate pair. */
function unstorable(value: unknown, path: string): string | undefined {
  if (typeof value === 'string') return value.includes('\0') || !value.isWellFormed() ? path || 'body' : undefined
  if (typeof value !== 'object' || value === null) return undefined
  for (const [key, inner] of Object.entries(value)) {
    const found = unstorable(inner, path === '' ? key : `${path}.${key}`)
    if (found !== undefined) return found
  }
  return undefined
}

async function* enveloped(chunks: AsyncIterable<string | Buffer>): AsyncIterable<string | Buffer> {
  yield '{"statusCode":200,"message":"success","result":'
  yield* chunks
  yield '}'
}

export function createHttp(options: HttpOptions): Http {
  const { db, log, idempotency } = options
  const answerTrouble = (error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply => {
    const { body, retryAfter } = explain(error, request, log)
    if (retryAfter !== undefined) reply.header('retry-after', retryAfter)
    return reply.code(body.statusCode).send(body)
  }
  const server = Fastify({
    // Where it listens is told with everything else that an operator wants to know at the start.
    loggerInstance: log.child({}, log.level === 'info' ? { level: 'warn' } : {}) as unknown as import('fastify').FastifyBaseLogger,
    // One line per request is written below, with the route's pattern and no query string (tickets travel there).
    logController: new LogController({ disableRequestLogging: true }),
    // One hop: the proxy in front. What stands further left in X-Forwarded-For is whatever the caller wrote.
    trustProxy: options.trustProxy && ((_address: string, hop: number) => hop === 0),
    bodyLimit: bodyLimitBytes,
    forceCloseConnections: 'idle',
    http: { shouldUpgradeCallback: opensWebSocket },
    // What arrives on an open connection while the portal stops is still answered, in our own words, and the connection ends with it.
    return503OnClosing: false,
    requestIdHeader: false,
    genReqId: (request) => {
      const given = request.headers['x-request-id']
      return typeof given === 'string' && isUuid(given) ? given : randomUUID()
    },
    routerOptions: { ignoreTrailingSlash: true, maxParamLength: 300 },
    // Trouble before any route is known; the hooks below have not run.
    frameworkErrors: (error, request, reply) =>
      void answerTrouble(error, request as FastifyRequest, (reply as FastifyReply).header('x-request-id', request.id)),
  })
  const endpoints: Endpoint[] = []

  const endUnused = watchUnused(server.server)
  let patience: NodeJS.Timeout | undefined
  server.addHook('preClose', async () => {
    endUnused()
    // One that is opened now, or whose request never ends.
    patience = setTimeout(() => server.server.closeAllConnections(), closeMs)
  })
  server.addHook('onClose', async () => clearTimeout(patience))

  // An empty body with a JSON content type is no body: logout and pay have none, and clients send the header all the same.
  const parseJson = server.getDefaultJsonParser('error', 'error')
  server.addContentTypeParser('application/json', { parseAs: 'string' }, (request, body, done) => {
    if (body === '') done(null, undefined)
    else void parseJson(request, body as string, done)
  })

  server.removeContentTypeParser('text/plain')
  void server.register(formbody)

  server.addHook('onRequest', async (request, reply) => {
    reply.header('x-request-id', request.id)
  })
  server.addHook('onResponse', async (request, reply) => {
    const route = request.routeOptions.url ?? 'unknown'
    // Calls are what an operator looks for; pages, their parts and the probes of a monitor would bury them.
    const level = request.url.startsWith('/api/') ? 'info' : 'debug'
    log[level]({ reqId: request.id, method: request.method, route, status: reply.statusCode, ms: Math.round(reply.elapsedTime) }, 'request')
    options.onResponse?.(route, request.method, reply.statusCode, reply.elapsedTime / 1000)
  })
  server.setErrorHandler(answerTrouble)

  const check = <S extends Endpoint['body']>(schema: S, value: unknown, language: Language): Output<S> => {
    if (!schema) return undefined as Output<S>
    // With the input, so that a field of the wrong type is not called missing.
    const parsed = z.core.safeParse(schema, value, { reportInput: true })
    if (!parsed.success) throw new Refusal('invalid_input', { fields: fieldsOf(parsed.error.issues, language) })
    const unfit = unstorable(parsed.data, '')
    if (unfit !== undefined) throw new Refusal('invalid_input', { fields: { [unfit]: fieldMessage({}, language) } })
    return parsed.data as Output<S>
  }

  /** Who calls, in which language; what is asked is not looked at yet. */
  const callerOf = async (endpoint: Endpoint, request: FastifyRequest): Promise<From> => {
    let caller: Caller | undefined
    if (endpoint.access === 'customer') {
      const token = /^Bearer (\S{1,200})$/i.exec(request.headers.authorization ?? '')?.[1]
      caller = token === undefined ? undefined : await options.identify(token)
      if (!caller) throw new Refusal('unauthenticated')
    }
    return {
      customerId: caller?.customerId ?? '',
      caller,
      language: languageOfRequest(request),
      ip: request.ip,
      userAgent: (request.headers['user-agent'] ?? '').slice(0, maxUserAgentChars),
    }
  }
  const checked = <E extends Endpoint>(endpoint: E, request: FastifyRequest, from: From): Call<E> => {
    // An id that cannot be stored is nobody's.
    if (unstorable(request.params, '') !== undefined) throw new Refusal('not_found')
    return {
      params: check(endpoint.params, request.params, from.language) as Output<E['params']>,
      query: check(endpoint.query, request.query, from.language) as Output<E['query']>,
      body: (endpoint.method === 'GET' ? undefined : check(endpoint.body ?? noBody, request.body ?? {}, from.language)) as Output<
        E['body']
      >,
      ...from,
    }
  }
  const callOf = async <E extends Endpoint>(endpoint: E, request: FastifyRequest): Promise<Call<E>> =>
    checked(endpoint, request, await callerOf(endpoint, request))

  const envelope = (endpoint: Endpoint, answer: unknown): string => {
    const statusCode = endpoint.status ?? 200
    const success: Success<unknown> =
      answer instanceof Page
        ? { statusCode, message: 'success', result: answer.result, page: { next: answer.next } }
        : { statusCode, message: 'success', result: answer }
    return JSON.stringify(success)
  }
  const keyedCall = (key: string, call: { customerId: string; language: Language }, request: FastifyRequest): KeyedCall => {
    if (key.length === 0 || key.length > 255) {
      const fault = key.length === 0 ? { code: 'too_small', minimum: 1 } : { code: 'too_big', maximum: 255 }
      throw new Refusal('invalid_input', { fields: { 'Idempotency-Key': fieldMessage({ ...fault, origin: 'string' }, call.language) } })
    }
    const scope = call.customerId || `anonymous:${request.ip}`
    return { scope, key, fingerprint: { method: request.method, url: request.url, body: request.body } }
  }
  const wordRefusal =
    (request: FastifyRequest) =>
    (refusal: Refusal): KeptAnswer => {
      const { body } = explain(refusal, request, log)
      return { statusCode: body.statusCode, body: JSON.stringify(body) }
    }
  const send = (reply: FastifyReply, status: number, body: string) => reply.code(status).type('application/json; charset=utf-8').send(body)
  const give = (reply: FastifyReply, { statusCode, body, replayed = false }: KeptAnswer & { replayed?: boolean }) => {
    if (replayed) reply.header('idempotency-replayed', 'true')
    return send(reply, statusCode, body)
  }

  const serveWrite = <E extends Endpoint, A>(
    endpoint: E,
    handle: (call: Write<E>) => Promise<A>,
    word: (endpoint: Endpoint, answer: A) => string,
  ): void => {
    endpoints.push(endpoint)
    server.route({
      method: endpoint.method,
      url: endpoint.path,
      handler: async (request, reply) => {
        const from = await callerOf(endpoint, request)
        const key = request.headers['idempotency-key']
        if (typeof key !== 'string' || endpoint.method === 'DELETE') {
          const call = checked(endpoint, request, from)
          const answer = await transaction(db, async (tx) => {
            try {
              return { given: await handle({ ...call, tx }) }
            } catch (error) {
              if (error instanceof Refusal && error.keepsWrites) return { refusal: error }
              throw error
            }
          })
          if ('refusal' in answer) throw answer.refusal
          return send(reply, endpoint.status ?? 200, word(endpoint, answer.given))
        }
        const outcome = await answered(
          idempotency,
          keyedCall(key, from, request),
          // A body that fails its schema is refused in here: that answer is kept too, and another body under a used key is told so.
          async (tx) => ({
            statusCode: endpoint.status ?? 200,
            body: word(endpoint, await handle({ ...checked(endpoint, request, from), tx })),
          }),
          wordRefusal(request),
        )
        return give(reply, outcome)
      },
    })
  }

  return {
    server,
    endpoints,
    read(endpoint, handle) {
      endpoints.push(endpoint)
      server.route({
        method: endpoint.method,
        url: endpoint.path,
        handler: async (request, reply) => {
          const call = await callOf(endpoint, request)
          return send(reply, endpoint.status ?? 200, envelope(endpoint, await handle(call)))
        },
      })
    },
    plain: (endpoint, handle) => serveWrite(endpoint, handle, (_endpoint, answer) => JSON.stringify(answer)),
    file(endpoint, handle) {
      endpoints.push(endpoint)
      server.route({
        method: endpoint.method,
        url: endpoint.path,
        handler: async (request, reply) => {
          const {
            name,
            type,
            chunks,
            bytes,
            enveloped: wrap,
          } = await handle({
            ...(await callOf(endpoint, request)),
            accept: request.headers.accept ?? '',
          })
          if (bytes !== undefined) reply.header('content-length', bytes)
          return reply
            .type(type)
            .header('content-disposition', `attachment; filename="${name}"`)
            .header('cache-control', 'private, no-store')
            .send(Readable.from(wrap === true ? enveloped(chunks) : chunks))
        },
      })
    },
    write: (endpoint, handle) => serveWrite(endpoint, handle, envelope),
    act(endpoint, handle) {
      endpoints.push(endpoint)
      server.route({
        method: endpoint.method,
        url: endpoint.path,
        handler: async (request, reply) => {
          const from = await callerOf(endpoint, request)
          const work = async (actionId: string): Promise<KeptAnswer> => ({
            statusCode: endpoint.status ?? 200,
            body: envelope(endpoint, await handle({ ...checked(endpoint, request, from), actionId })),
          })
          const key = request.headers['idempotency-key']
          if (typeof key !== 'string' || endpoint.method === 'DELETE') {
            return give(reply, await work(randomUUID()))
          }
          return give(reply, await acted(idempotency, keyedCall(key, from, request), work, wordRefusal(request)))
        },
      })
    },
  }
}
