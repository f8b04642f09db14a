/**
 * Maps HTTP to the modules: one route from one contract object. Here and in the files `http-*.ts`
 * beside it schemas are validated, the caller is identified, the response gets its envelope and the
 * three kinds of failure become statuses. Modules get plain calls and know no HTTP.
 */
import { randomUUID } from 'node:crypto'
import { Readable } from 'node:stream'
import formbody from '@fastify/formbody'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Endpoint, Input, Output } from '../../contract/index.ts'
import {
  runIdempotentExternal,
  runIdempotent,
  type IdempotencyStore,
  type KeptAnswer,
} from './idempotency.ts'
import { repeatableTransaction, type Database, type Queryable } from './db.ts'
import { Refusal } from './errors.ts'
import { createKeyedGate, tooMany } from './gate.ts'
import type { Act, Answer, Call, Caller, FileAnswer, From, Uploading, Write } from './http-calls.ts'
import { enveloped, envelope, send, sendKept } from './http-answers.ts'
import { createCallerJudge, type CallerOptions } from './http-caller.ts'
import { explain } from './http-failures.ts'
import { fromOf } from './http-from.ts'
import { checkInput, noBody, unstorable } from './http-input.ts'
import { refuseWhileClosed } from './http-closure.ts'
import { callerScope, keyedCall } from './http-keys.ts'
import { refuseCrossSite } from './http-origin.ts'
import { inSpanOfCall } from './http-span.ts'
import { createUploads } from './http-uploads.ts'
import { createServer, type ServerOptions } from './http-server.ts'
import { createStaffJudge, type StaffOptions } from './http-staff.ts'
import { createHostCookie, createStaffCookie } from './session-cookie.ts'

export {
  Page,
  type Caller,
  type Credential,
  type FileAnswer,
  type Held,
  type Origin,
  type Viewer,
} from './http-calls.ts'
export type { StaffCaller } from './http-staff.ts'

export interface Http {
  readonly server: FastifyInstance
  /** Every endpoint served so far, for the OpenAPI document. */
  readonly endpoints: readonly Endpoint[]
  /** The session cookie's name, for the OpenAPI document. */
  readonly cookieName: string
  /** The name of the staff session's cookie. */
  readonly staffCookieName: string
  read<E extends Endpoint>(endpoint: E, handle: (call: Call<E>) => Promise<Answer<E>>): void
  /**
   * A write: its handler runs in one transaction and uses only `tx` to query the database. Slow
   * work, and a call to a third party, belong into `prepare`, which runs before the transaction;
   * `prepare` is skipped when the response is stored already.
   */
  write<E extends Endpoint>(endpoint: E, handle: (call: Write<E>) => Promise<Answer<E>>): void
  write<E extends Endpoint, P>(
    endpoint: E,
    prepare: (call: Call<E>) => Promise<P>,
    handle: (call: Write<E, P>) => Promise<Answer<E>>,
  ): void
  /** A write that reaches a third party: it opens its own transactions, before and after. */
  act<E extends Endpoint>(endpoint: E, handle: (call: Act<E>) => Promise<Answer<E>>): void
  /**
   * A write whose success travels without the envelope, where another protocol prescribes the
   * answer.
   */
  plain<E extends Endpoint>(
    endpoint: E,
    handle: (call: Write<E>) => Promise<Input<E['result']>>,
  ): void
  /**
   * A write whose body is a file or a piece of one, outside of a transaction. It is read as it
   * comes; with an Idempotency-Key it is read first, for a repeat is told by it. Of a longer one
   * than the endpoint takes, the chunks have one byte too many. Broken off: a conflict.
   */
  bytes<E extends Uploading>(
    endpoint: E,
    handle: (call: Act<E> & { chunks: AsyncIterable<Buffer> }) => Promise<Answer<E>>,
  ): void
  /** A read that answers with a file; `accept` is the header of that name. */
  file<E extends Endpoint>(
    endpoint: E,
    handle: (call: Call<E> & { accept: string; range: string }) => Promise<FileAnswer>,
  ): void
}

export interface HttpOptions extends ServerOptions, CallerOptions, StaffOptions {
  readonly db: Database
  readonly idempotency: IdempotencyStore
  /** The portal's address for customers; if it is https, cookies are Secure. */
  readonly portalUrl: string
  /** The maintenance during which customers' calls are refused; undefined while there is none. */
  readonly closure?: () => { readonly leftSeconds: number | null } | undefined
}

/** Fastify's own limit, unless the endpoint has another. */
const limitOf = ({ maxBodyBytes }: Endpoint) =>
  maxBodyBytes === undefined ? {} : { bodyLimit: maxBodyBytes }
/**
 * Writes and `act` calls of one customer in progress at once in this process; one more is refused
 * with 429. Reads, and calls without a session, are not counted.
 */
const parallelCalls = 8

export function createHttp(options: HttpOptions): Http {
  const { db, log, idempotency } = options
  const server = createServer(options)
  const endpoints: Endpoint[] = []
  const cookies = {
    session: createHostCookie('session', options.portalUrl),
    device: createHostCookie('device', options.portalUrl),
    staff: createStaffCookie(options.portalUrl),
    isHttps: options.portalUrl.startsWith('https:'),
  }
  const judgeCaller = createCallerJudge(options, cookies.session)
  const judgeStaff = createStaffJudge(options, cookies.staff)

  /** Identifies the caller and the language; the request's body is not read yet. */
  const callerOf = async (
    endpoint: Endpoint,
    request: FastifyRequest,
    reply: FastifyReply,
  ): Promise<From> => {
    const caller =
      endpoint.access === 'customer' || endpoint.identifies === true
        ? await judgeCaller(endpoint, request, reply)
        : undefined
    const staff =
      endpoint.access === 'staff' ? await judgeStaff(endpoint, request, reply) : undefined
    return fromOf(request, cookies, { caller, staff })
  }
  const checked = <E extends Endpoint>(
    endpoint: E,
    request: FastifyRequest,
    from: From,
  ): Call<E> => {
    // An id that cannot be stored belongs to nothing: not_found.
    if (unstorable(request.params, '') !== undefined) throw new Refusal('not_found')
    return {
      params: checkInput(endpoint.params, request.params, from.language) as Output<E['params']>,
      query: checkInput(endpoint.query, request.query, from.language) as Output<E['query']>,
      body: (endpoint.method === 'GET'
        ? undefined
        : checkInput(
            endpoint.body ?? noBody,
            endpoint.takesBytes === true ? {} : (request.body ?? {}),
            from.language,
          )) as Output<E['body']>,
      ...from,
    }
  }
  const callOf = async <E extends Endpoint>(
    endpoint: E,
    request: FastifyRequest,
    reply: FastifyReply,
  ): Promise<Call<E>> => checked(endpoint, request, await callerOf(endpoint, request, reply))

  const renderRefusal =
    (request: FastifyRequest) =>
    (refusal: Refusal): KeptAnswer => {
      const { body } = explain(refusal, request, log)
      return { statusCode: body.statusCode, body: JSON.stringify(body) }
    }

  const answerOf = (endpoint: Endpoint, from: From, body: string): KeptAnswer => ({
    statusCode: endpoint.status ?? 200,
    body,
    headers: [...from.answerHeaders],
  })

  /** Records a member's act, in the act's own transaction where that is possible. */
  const noteMember = async (
    at: Queryable,
    endpoint: Endpoint,
    { caller, params, ip }: Pick<Call<Endpoint>, 'caller' | 'params' | 'ip'>,
  ): Promise<void> => {
    if (!caller?.member || endpoint.method === 'GET') return
    const { customerId: ownerId, member } = caller
    await options.members.noteMemberAct(at, { endpoint, ownerId, member, params, ip })
  }

  type Handler = (request: FastifyRequest, reply: FastifyReply) => Promise<FastifyReply>
  const route = (endpoint: Endpoint, handler: Handler): void => {
    endpoints.push(endpoint)
    const route = {
      method: endpoint.method,
      url: endpoint.path,
      ...limitOf(endpoint),
      onRequest: async (request: FastifyRequest, reply: FastifyReply) => {
        refuseCrossSite(endpoint, request.headers)
        refuseWhileClosed(endpoint, options.closure?.())
        // Nobody has a long body read and parsed before it is known that they may send it.
        if (endpoint.access === 'staff' && endpoint.maxBodyBytes !== undefined)
          await judgeStaff(endpoint, request, reply)
      },
      handler: (request: FastifyRequest, reply: FastifyReply) =>
        inSpanOfCall(endpoint.path, request, reply, () => handler(request, reply)),
    }
    // Any page of the web can post a form without a preflight request: only endpoints with
    // `takesForms` accept forms.
    if (endpoint.takesForms === true)
      void server.register(async (scope) => {
        await scope.register(formbody)
        scope.route(route)
      })
    // The body is not read before it is known whose it is.
    else if (endpoint.takesBytes === true)
      void server.register(async (scope) => {
        scope.removeAllContentTypeParsers()
        scope.addContentTypeParser('application/octet-stream', (_request, body, done) =>
          done(null, body),
        )
        scope.route(route)
      })
    else server.route(route)
  }
  const writing = createKeyedGate({ atOnce: parallelCalls, waiting: 0 })
  const uploads = createUploads()
  /** Callers and the idempotency keys of their calls in progress. */
  const keysUnderWay = new Set<string>()
  /** A route on which one customer may have only a limited number of calls in progress. */
  const serveWithinLimit = (
    endpoint: Endpoint,
    handler: (request: FastifyRequest, reply: FastifyReply, from: From) => Promise<FastifyReply>,
  ): void =>
    route(endpoint, async (request, reply) => {
      const from = await callerOf(endpoint, request, reply)
      const scope = callerScope(from)
      if (scope === '') return await handler(request, reply, from)
      const key = request.headers['idempotency-key']
      const keyed = typeof key === 'string' ? `${scope}\n${key}` : undefined
      const isRepeat = keyed !== undefined && keysUnderWay.has(keyed)
      if (keyed !== undefined) keysUnderWay.add(keyed)
      try {
        return await writing.run(
          scope,
          () => handler(request, reply, from),
          // A repetition of a call in progress is told so, however many calls there are.
          () => (isRepeat ? new Refusal('idempotency_in_progress') : tooMany()),
        )
      } finally {
        if (keyed !== undefined && !isRepeat) keysUnderWay.delete(keyed)
      }
    })
  const serveWrite = <E extends Endpoint, P, A>(
    endpoint: E,
    prepare: ((call: Call<E>) => Promise<P>) | undefined,
    handle: (call: Write<E, P>) => Promise<A>,
    render: (endpoint: Endpoint, answer: A, caller: Caller | undefined) => string,
  ): void => {
    /** The call, and the values that are prepared before its transaction. */
    const prepared = async (request: FastifyRequest, from: From) => {
      const call = checked(endpoint, request, from)
      return { ...call, prepared: (await prepare?.(call)) as P }
    }
    serveWithinLimit(endpoint, async (request, reply, from) => {
      const key = request.headers['idempotency-key']
      if (typeof key !== 'string' || endpoint.method === 'DELETE' || endpoint.unkept === true) {
        const call = await prepared(request, from)
        const answer = await repeatableTransaction(db, async (tx) => {
          from.answerHeaders.length = 0
          try {
            const given = await handle({ ...call, tx })
            await noteMember(tx, endpoint, call)
            return { given }
          } catch (error) {
            if (error instanceof Refusal && error.keepsWrites) return { refusal: error }
            throw error
          }
        })
        if ('refusal' in answer) throw answer.refusal
        const body = render(endpoint, answer.given, from.caller)
        return sendKept(reply, answerOf(endpoint, from, body))
      }
      const outcome = await runIdempotent(idempotency, keyedCall(key, from, request), {
        // A body that fails its schema is refused inside of `runIdempotent`: that response is
        // stored too, and another body under a used key is refused as such.
        prepare: () => prepared(request, from),
        work: async (tx, call) => {
          from.answerHeaders.length = 0
          const given = await handle({ ...call, tx })
          await noteMember(tx, endpoint, call)
          return answerOf(endpoint, from, render(endpoint, given, from.caller))
        },
        renderRefusal: renderRefusal(request),
      })
      return sendKept(reply, outcome)
    })
  }
  /** One write outside of a transaction; under a key `body` tells a repeat from another call. */
  const actOnce = async <E extends Endpoint>(
    endpoint: E,
    of: { request: FastifyRequest; reply: FastifyReply; from: From; body: unknown },
    handle: (call: Act<E>) => Promise<Answer<E>>,
  ): Promise<FastifyReply> => {
    const { request, reply, from, body } = of
    const work = async (actionId: string): Promise<KeptAnswer> => {
      const call = { ...checked(endpoint, request, from), actionId }
      const given = await handle(call)
      await noteMember(db, endpoint, call)
      return answerOf(endpoint, from, envelope(endpoint, given, from.caller))
    }
    const key = request.headers['idempotency-key']
    if (typeof key !== 'string' || endpoint.method === 'DELETE')
      return sendKept(reply, await work(randomUUID()))
    const keyed = keyedCall(key, from, request, body)
    return sendKept(
      reply,
      await runIdempotentExternal(idempotency, keyed, work, renderRefusal(request)),
    )
  }
  function write<E extends Endpoint, P>(
    endpoint: E,
    ...steps:
      | [handle: (call: Write<E>) => Promise<Answer<E>>]
      | [prepare: (call: Call<E>) => Promise<P>, handle: (call: Write<E, P>) => Promise<Answer<E>>]
  ): void {
    if (steps.length === 1) serveWrite(endpoint, undefined, steps[0], envelope)
    else serveWrite(endpoint, steps[0], steps[1], envelope)
  }

  return {
    server,
    endpoints,
    cookieName: cookies.session.name,
    staffCookieName: cookies.staff.name,
    read(endpoint, handle) {
      route(endpoint, async (request, reply) => {
        const call = await callOf(endpoint, request, reply)
        return send(
          reply,
          endpoint.status ?? 200,
          envelope(endpoint, await handle(call), call.caller),
        )
      })
    },
    plain: (endpoint, handle) =>
      serveWrite(endpoint, undefined, handle, (_endpoint, answer) => JSON.stringify(answer)),
    file(endpoint, handle) {
      route(endpoint, async (request, reply) => {
        const {
          name,
          type,
          chunks,
          bytes,
          enveloped: wrap,
          part,
        } = await handle({
          ...(await callOf(endpoint, request, reply)),
          accept: request.headers.accept ?? '',
          range: request.headers.range ?? '',
        })
        if (bytes !== undefined) reply.header('content-length', bytes)
        if (part !== undefined) reply.header('accept-ranges', 'bytes')
        if (part)
          reply.code(206).header('content-range', `bytes ${part.start}-${part.end}/${part.total}`)
        return reply
          .type(type)
          .header('content-disposition', `attachment; filename="${name}"`)
          .header('cache-control', 'private, no-store')
          .send(Readable.from(wrap === true ? enveloped(chunks) : chunks))
      })
    },
    bytes(endpoint, handle) {
      serveWithinLimit(endpoint, async (request, reply, from) => {
        const call = { endpoint, request, scope: callerScope(from) }
        return await uploads.receive(call, ({ chunks, digest }) =>
          actOnce(endpoint, { request, reply, from, body: digest }, (act) =>
            handle({ ...act, chunks }),
          ),
        )
      })
    },
    write,
    act: (endpoint, handle) =>
      serveWithinLimit(endpoint, (request, reply, from) =>
        actOnce(endpoint, { request, reply, from, body: request.body }, handle),
      ),
  }
}
