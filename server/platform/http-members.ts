/**
 * A call by a member in another customer's account: finds the membership, and judges whether its
 * role and limits open the call (decision 107).
 */
import type { FastifyRequest } from 'fastify'
import { actingPrefix } from '../../contract/acting.ts'
import type { Endpoint } from '../../contract/index.ts'
import { memberRefusal, type MemberRights } from '../../contract/member-roles.ts'
import type { Queryable } from './db.ts'
import { Refusal, type Sentence } from './errors.ts'
import type { Caller, MemberAtWork } from './http-calls.ts'

/** A membership that is alive, and the session that it is used under. */
export interface ActingCaller extends MemberRights, MemberAtWork {
  readonly ownerId: string
  readonly sessionId: string
  /** The person's own session. */
  readonly locked: boolean
}

/** A member's act, for the owner's list. */
export interface MemberActed {
  readonly endpoint: Endpoint
  readonly ownerId: string
  readonly member: Pick<MemberAtWork, 'personId' | 'name'>
  readonly params: unknown
  readonly ip: string
}

export interface MemberOptions {
  /** Undefined: unknown, or ended on either side. */
  readonly identifyActing: (token: string) => Promise<ActingCaller | undefined>
  readonly noteMemberAct: (db: Queryable, acted: MemberActed) => Promise<void>
}

/** Whether a bearer token is meant as one of a member at work, good or not. */
export const isActingToken = (token: string): boolean => token.startsWith(actingPrefix)

const ended: Sentence = {
  en: 'Your access to this account has ended. You are back in your own account.',
  vi: 'Quyền truy cập của bạn vào tài khoản này đã kết thúc. Bạn trở lại tài khoản của mình.',
}
const sentences: Readonly<Record<'closed' | 'role' | 'limit', Sentence>> = {
  closed: {
    en: 'Only the owner of this account can do that.',
    vi: 'Chỉ chủ tài khoản này mới thực hiện được thao tác đó.',
  },
  role: {
    en: 'Your role in this account does not allow that. Ask its owner.',
    vi: 'Vai trò của bạn trong tài khoản này không cho phép việc đó. Hãy hỏi chủ tài khoản.',
  },
  limit: {
    en: 'Your access to this account is limited to other servers or domains.',
    vi: 'Quyền của bạn trong tài khoản này chỉ áp dụng cho các máy chủ hoặc tên miền khác.',
  },
}

/**
 * Identifies a member. Refuses with unauthenticated (also access that has ended), session_locked,
 * reauthentication_required, and with forbidden calls that role or limits do not open. Endpoints
 * about the person rather than the account are called as from the person's own session.
 */
export function createMemberJudge(
  { identifyActing }: Pick<MemberOptions, 'identifyActing'>,
  isProven: (caller: Caller) => Promise<boolean>,
  inTurn: <T>(token: string, ip: string, work: () => Promise<T>) => Promise<T>,
): (endpoint: Endpoint, request: FastifyRequest, token: string) => Promise<Caller> {
  return async (endpoint, request, token) => {
    const acting = await inTurn(token, request.ip, () => identifyActing(token))
    if (!acting) throw new Refusal('unauthenticated', { said: ended })
    const { ownerId, sessionId, locked, personId, memberId, actingId, name } = acting
    if (locked && endpoint.whileLocked !== true) throw new Refusal('session_locked')
    const own: Caller = { customerId: personId, sessionId, locked, heldBy: 'token' }
    if (endpoint.member === 'self') return own
    const { role, servers, domains } = acting
    const { id } = request.params as { readonly id?: string }
    const refusal = memberRefusal({ role, servers, domains }, endpoint, id?.toLowerCase())
    if (refusal !== undefined) throw new Refusal('forbidden', { said: sentences[refusal] })
    if (endpoint.asksAgain === true && !(await isProven(own)))
      throw new Refusal('reauthentication_required')
    return {
      customerId: ownerId,
      sessionId,
      locked: false,
      heldBy: 'member',
      limits: { servers, domains },
      member: { memberId, actingId, personId, name, role },
    }
  }
}
