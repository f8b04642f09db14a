/** Identifies the staff member who calls: by a cookie that no customer's session has. */
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Endpoint } from '../../contract/index.ts'
import { mayDo, type StaffRole } from '../../contract/staff-roles.ts'
import { Refusal } from './errors.ts'
import { createKeyedGate } from './gate.ts'
import { refuseNeighbour } from './http-origin.ts'
import { networkOf } from './network.ts'
import { csrfHeader, csrfTokenOf, tellsCsrfToken, type HostCookie } from './session-cookie.ts'

/** A signed-in member. */
export interface StaffCaller {
  readonly staffId: string
  readonly sessionId: string
  readonly name: string
  readonly email: string
  readonly role: StaffRole
  /** The end of the session. */
  readonly expiresAt: Date
}

export interface StaffOptions {
  /** Undefined: no live session, or a network that the member may not come from. */
  readonly identifyStaff: (cookie: string, ip: string) => Promise<StaffCaller | undefined>
}

/** Calls of one network whose member is being identified, and those that wait for it. */
const ofNetwork = { atOnce: 6, waiting: 200, longestWaitMs: 5_000 }

/**
 * Identifies the staff member before the body is read. Refuses with unauthenticated, and with
 * forbidden calls that the role does not allow and writes without their CSRF token. A request is
 * judged once.
 */
export function createStaffJudge(
  { identifyStaff }: StaffOptions,
  cookie: HostCookie,
): (endpoint: Endpoint, request: FastifyRequest, reply: FastifyReply) => Promise<StaffCaller> {
  const networks = createKeyedGate(ofNetwork)
  const judged = new WeakMap<FastifyRequest, StaffCaller>()
  return async (endpoint, request, reply) => {
    const before = judged.get(request)
    if (before) return before
    const held = cookie.read(request)
    if (held === undefined) throw new Refusal('unauthenticated')
    refuseNeighbour(request.headers)
    const staff = await networks.run(networkOf(request.ip), () => identifyStaff(held, request.ip))
    if (!staff) throw new Refusal('unauthenticated')
    if (endpoint.method !== 'GET' && !tellsCsrfToken(request, held)) throw new Refusal('forbidden')
    // An endpoint that names no permission is closed to every role.
    if (endpoint.may === undefined || !mayDo(staff.role, endpoint.may))
      throw new Refusal('forbidden')
    reply.header(csrfHeader, csrfTokenOf(held))
    judged.set(request, staff)
    return staff
  }
}
