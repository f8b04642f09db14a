/**
 * Identifies the caller: by the bearer token of a session, by its cookie, by a token for programs,
 * by the token of a staff member's view, or by that of a member who works in another customer's
 * account.
 */
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Endpoint } from '../../contract/index.ts'
import { Refusal } from './errors.ts'
import { createKeyedGate } from './gate.ts'
import type { Caller, Credential } from './http-calls.ts'
import { createMemberJudge, isActingToken, type MemberOptions } from './http-members.ts'
import { createProgramJudge, isProgramToken, type ProgramOptions } from './http-programs.ts'
import { refuseNeighbour } from './http-origin.ts'
import { noteCaller } from './http-server.ts'
import { createViewJudge, isViewToken, type IdentifyView } from './http-views.ts'
import { networkOf } from './network.ts'
import { csrfHeader, csrfTokenOf, tellsCsrfToken, type HostCookie } from './session-cookie.ts'

export interface CallerOptions {
  /** Undefined: no live session. */
  readonly identify: (credential: Credential) => Promise<Caller | undefined>
  /** Whether the customer has no second factor, or proved it in this session a short while ago. */
  readonly isProven: (caller: Caller) => Promise<boolean>
  readonly programs: ProgramOptions
  readonly identifyView: IdentifyView
  readonly members: MemberOptions
}

/**
 * Limits on calls whose caller is being identified, and on those that wait for it: per session, and
 * per network with any tokens. So a flood takes few database connections, and other callers are not
 * refused (back-pressure.ts). While the database hangs, a queue of a thousand would last a quarter
 * of an hour: a call that has waited five seconds is refused. The reads' own work is not counted.
 */
const ofSession = { atOnce: 4, waiting: 200, longestWaitMs: 5_000 }
const ofNetwork = { atOnce: 12, waiting: 1000, longestWaitMs: 5_000 }

/**
 * Identifies the caller before the body is read. Refuses with unauthenticated, session_locked,
 * reauthentication_required, and with forbidden a write by cookie without its CSRF token.
 * Undefined: an anonymous caller, where the endpoint allows that.
 */
export function createCallerJudge(
  { identify: identifySession, isProven, programs, identifyView, members }: CallerOptions,
  sessionCookie: HostCookie,
): (
  endpoint: Endpoint,
  request: FastifyRequest,
  reply: FastifyReply,
) => Promise<Caller | undefined> {
  const sessions = createKeyedGate(ofSession)
  const networks = createKeyedGate(ofNetwork)
  const inTurn = <T>(token: string, ip: string, identify: () => Promise<T>): Promise<T> =>
    sessions.run(token, () => networks.run(networkOf(ip), identify))
  const judgeProgram = createProgramJudge(programs, inTurn)
  const judgeView = createViewJudge(identifyView, inTurn)
  const judgeMember = createMemberJudge(members, isProven, inTurn)
  const identify = (of: Credential, ip: string): Promise<Caller | undefined> =>
    inTurn('token' in of ? of.token : of.cookie, ip, () => identifySession(of))
  /**
   * A bearer token counts before a cookie, and one that is dead is not made up for by a cookie.
   * Another scheme is that of a proxy in front.
   */
  const credentialOf = (request: FastifyRequest): Credential | undefined => {
    const { authorization = '' } = request.headers
    if (/^Bearer\b/i.test(authorization)) {
      const token = /^Bearer (\S{1,200})$/i.exec(authorization)?.[1]
      return token === undefined ? undefined : { token }
    }
    const cookie = sessionCookie.read(request)
    return cookie === undefined ? undefined : { cookie }
  }

  return async (endpoint, request, reply) => {
    const credential = credentialOf(request)
    if (credential && 'token' in credential && isProgramToken(credential.token)) {
      const program = await judgeProgram(endpoint, request, credential.token)
      noteCaller(request, program.customerId, program.sessionId)
      return program
    }
    if (credential && 'token' in credential && isViewToken(credential.token)) {
      const view = await judgeView(endpoint, request, credential.token)
      noteCaller(request, view.customerId)
      return view
    }
    if (credential && 'token' in credential && isActingToken(credential.token)) {
      const acting = await judgeMember(endpoint, request, credential.token)
      noteCaller(request, acting.customerId, acting.member?.memberId)
      return acting
    }
    const caller = credential && (await identify(credential, request.ip))
    if (!caller) {
      if (endpoint.access === 'customer') throw new Refusal('unauthenticated')
      return undefined
    }
    noteCaller(request, caller.customerId)
    if ('cookie' in credential) {
      refuseNeighbour(request.headers)
      reply.header(csrfHeader, csrfTokenOf(credential.cookie))
    }
    if (caller.locked && endpoint.whileLocked !== true) throw new Refusal('session_locked')
    if (
      'cookie' in credential &&
      endpoint.method !== 'GET' &&
      !tellsCsrfToken(request, credential.cookie)
    )
      throw new Refusal('forbidden')
    if (endpoint.asksAgain === true && !(await isProven(caller)))
      throw new Refusal('reauthentication_required')
    return caller
  }
}
