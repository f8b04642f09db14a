/** Converts an error to the failure envelope that the customer sees, in the caller's language. */
import type { FastifyError, FastifyRequest } from 'fastify'
import {
  errorStatus,
  errorText,
  type ErrorCode,
  type Failure,
  type Language,
} from '../../contract/index.ts'
import { acceptedLanguage } from './accept-language.ts'
import { databaseIsAway } from './db.ts'
import { DriverFailure, Refusal } from './errors.ts'
import type { Log } from './log.ts'

/** The failure's envelope. */
export function failure(
  code: ErrorCode,
  language: Language,
  requestId: string,
  fields?: Readonly<Record<string, string>>,
): Failure {
  return {
    statusCode: errorStatus(code),
    message: errorText(code, language),
    error: { code, ...(fields && { fields }), requestId },
  }
}

const withOwnReason: ReadonlySet<ErrorCode> = new Set([
  'conflict',
  'forbidden',
  'rate_limited',
  'unauthenticated',
])

/** Refusals of calls that may succeed later: their callers are told when to try again. */
const passing: ReadonlySet<ErrorCode> = new Set(['rate_limited', 'unavailable'])
const soonSeconds = 5

export const languageOfRequest = (request: FastifyRequest): Language =>
  acceptedLanguage(request.headers['accept-language'])

/**
 * Converts an error to the customer's failure envelope. An unknown error is a bug: it becomes 500,
 * and the log keeps the detail.
 */
export function explain(
  error: unknown,
  request: FastifyRequest,
  log: Log,
): { body: Failure; retryAfter?: number } {
  const language = languageOfRequest(request)
  const no = (code: ErrorCode, fields?: Readonly<Record<string, string>>) =>
    failure(code, language, request.id, fields)
  if (error instanceof Refusal) {
    const fields = error.fieldsIn(language)
    const wait = error.retryAfterSeconds ?? (passing.has(error.code) ? soonSeconds : undefined)
    const body = no(error.code, fields)
    if (error.challenge !== undefined) body.error.challenge = error.challenge
    // The module knows the reason of a conflict or a limit, and its reason says more than the text
    // of the code; so does what a program is told of its token, and what is wrong with one field.
    const reasons = Object.values(fields ?? {})
    const isOneField = error.code === 'invalid_input' && reasons.length === 1 && !error.isGeneral
    const [why = error.said?.[language]] =
      withOwnReason.has(error.code) || isOneField ? reasons : []
    return {
      body: why === undefined ? body : { ...body, message: why },
      ...(wait !== undefined && { retryAfter: Math.max(1, Math.ceil(wait)) }),
    }
  }
  if (error instanceof DriverFailure) {
    log.warn({ err: error, reqId: request.id }, 'driver failure')
    return { body: no('provider_unavailable') }
  }
  const code = (error as FastifyError).code
  if (code === 'FST_ERR_CTP_BODY_TOO_LARGE') return { body: no('payload_too_large') }
  if (code === 'FST_ERR_CTP_INVALID_MEDIA_TYPE') return { body: no('unsupported_media_type') }
  if (
    code === 'FST_ERR_CTP_EMPTY_JSON_BODY' ||
    code === 'FST_ERR_CTP_INVALID_JSON_BODY' ||
    error instanceof SyntaxError
  )
    return { body: no('bad_json') }
  // An address that cannot be decoded, whose id is absurdly long, or that climbs out of a folder,
  // names nothing of ours.
  if (
    code === 'FST_ERR_BAD_URL' ||
    code === 'FST_ERR_MAX_PARAM_LENGTH' ||
    code === 'FST_STATIC_FORBIDDEN_PATH'
  )
    return { body: no('not_found') }
  if ((error as FastifyError).statusCode === 400) return { body: no('bad_json') }
  if (databaseIsAway(error)) {
    log.error({ err: error, reqId: request.id }, 'the database does not answer')
    return { body: no('unavailable'), retryAfter: soonSeconds }
  }
  log.error({ err: error, reqId: request.id, route: request.routeOptions.url }, 'unexpected')
  return { body: no('internal') }
}
