/** How answers are written: the envelope, files, and what an Idempotency-Key kept. */
import type { FastifyReply } from 'fastify'
import type { Endpoint, Success } from '../../contract/index.ts'
import { seesMoney } from '../../contract/member-roles.ts'
import { openLinks, tellsLinks } from '../../contract/token-scopes.ts'
import { Page, type Caller } from './http-calls.ts'
import type { KeptAnswer } from './idempotency.ts'

/** The envelope of a file that is sent in pieces of JSON. */
export async function* enveloped(
  chunks: AsyncIterable<string | Buffer>,
): AsyncIterable<string | Buffer> {
  yield '{"statusCode":200,"message":"success","result":'
  yield* chunks
  yield '}'
}

/** Removes fields that the caller may not see; undefined: nothing is removed. */
const replacerFor = (
  caller: Caller | undefined,
): ((key: string, value: unknown) => unknown) | undefined => {
  const { rights, member, limits } = caller ?? {}
  const mayOpen =
    (!rights || tellsLinks(rights)) &&
    (!member || (limits !== undefined && seesMoney({ role: member.role, ...limits })))
  if (mayOpen && caller?.heldBy !== 'view') return undefined
  return (key, value) => (openLinks.has(key) ? '' : value)
}

/** A success as JSON, without the fields that the caller may not see. */
export const envelope = (
  endpoint: Endpoint,
  answer: unknown,
  caller: Caller | undefined,
): string => {
  const statusCode = endpoint.status ?? 200
  const success: Success<unknown> =
    answer instanceof Page
      ? { statusCode, message: 'success', result: answer.result, page: { next: answer.next } }
      : { statusCode, message: 'success', result: answer }
  return JSON.stringify(success, replacerFor(caller))
}
/** Sends a body that is JSON already. */
export const send = (reply: FastifyReply, status: number, body: string) =>
  reply.code(status).type('application/json; charset=utf-8').send(body)
/** Says in a header that the answer is an earlier one. */
export const sendKept = (
  reply: FastifyReply,
  { statusCode, body, headers = [], replayed = false }: KeptAnswer & { replayed?: boolean },
) => {
  for (const [name, value] of headers) reply.header(name, value)
  if (replayed) reply.header('idempotency-replayed', 'true')
  return send(reply, statusCode, body)
}
