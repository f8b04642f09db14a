/**
 * A call by a token for programs: finds its customer, and judges whether the token opens the call.
 * An endpoint without a scope in the contract is closed to every token.
 */
import type { FastifyRequest } from 'fastify'
import type { Endpoint } from '../../contract/index.ts'
import { tokenRefusal } from '../../contract/token-scopes.ts'
import { tokenPrefix } from '../../contract/tokens.ts'
import { Refusal, type Sentence } from './errors.ts'
import type { Caller, ProgramToken } from './http-calls.ts'
import type { Limit } from './limits.ts'

export interface ProgramOptions {
  /** Undefined: the token is unknown or expired, or its customer is blocked. */
  readonly identify: (token: string, ip: string) => Promise<ProgramToken | undefined>
  /** Calls of one token. */
  readonly calls: Pick<Limit, 'take'>
}

/** Whether a bearer token is meant as one for programs, good or not. */
export const isProgramToken = (token: string): boolean => token.startsWith(tokenPrefix)

const said = (code: 'forbidden' | 'unauthenticated', token: Sentence): Refusal =>
  new Refusal(code, { fields: { token } })

const unknown: Sentence = {
  en: 'This token is unknown, revoked or expired.',
  vi: 'Token này không tồn tại, đã bị thu hồi hoặc đã hết hạn.',
}
const elsewhere: Sentence = {
  en: 'This token may not be used from this network address.',
  vi: 'Token này không được dùng từ địa chỉ mạng này.',
}
const sentences: Readonly<Record<'closed' | 'limit', Sentence>> = {
  closed: {
    en: 'No token opens this call. Only the customer can make it, signed in.',
    vi: 'Lệnh gọi này không mở cho token. Chỉ khách hàng đã đăng nhập mới thực hiện được.',
  },
  limit: {
    en: 'This token is limited to other servers or domains.',
    vi: 'Token này chỉ dùng được cho các máy chủ hoặc tên miền khác.',
  },
}

/**
 * Refuses with unauthenticated a token that is not good, with forbidden what it does not open, and
 * with rate_limited a token that calls too often.
 */
export function createProgramJudge(
  { identify, calls }: ProgramOptions,
  inTurn: <T>(token: string, ip: string, work: () => Promise<T>) => Promise<T>,
): (endpoint: Endpoint, request: FastifyRequest, token: string) => Promise<Caller> {
  return async (endpoint, request, token) => {
    const program = await inTurn(token, request.ip, () => identify(token, request.ip))
    if (!program) throw said('unauthenticated', unknown)
    // Checked before the call is counted: calls from other addresses must not use up the token's
    // limit.
    if (!program.fromHere) throw said('forbidden', elsewhere)
    await calls.take(program.id)
    const { id } = request.params as { readonly id?: string }
    const refusal = tokenRefusal(program.rights, endpoint, id?.toLowerCase())
    if (refusal === 'scope')
      throw said('forbidden', {
        en: `This token lacks the scope ${endpoint.scope ?? ''}.`,
        vi: `Token này thiếu quyền ${endpoint.scope ?? ''}.`,
      })
    if (refusal !== undefined) throw said('forbidden', sentences[refusal])
    return {
      customerId: program.customerId,
      sessionId: program.id,
      locked: false,
      heldBy: 'program',
      rights: program.rights,
      limits: program.rights,
    }
  }
}
