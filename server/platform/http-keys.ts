/** The scope in which calls are counted, and the key under which a response is kept. */
import type { FastifyRequest } from 'fastify'
import { fieldMessage } from '../../contract/index.ts'
import { Refusal } from './errors.ts'
import type { From } from './http-calls.ts'
import { anonymous, type KeyedCall } from './idempotency.ts'
import { networkOf } from './network.ts'

/**
 * The scope in which writes are counted: a customer, all programs of a customer, or a member of
 * staff.
 */
export const callerScope = ({
  customerId,
  staff,
  caller,
}: Pick<From, 'customerId' | 'staff' | 'caller'>): string => {
  if (staff) return `staff:${staff.staffId}`
  // Each member is counted alone and holds up nobody else in the account.
  if (caller?.member) return `member:${caller.member.memberId}`
  // Programs of one customer are counted together, and never in the customer's own way.
  return caller?.rights ? `programs:${customerId}` : customerId
}

/** Refuses with invalid_input a key that is empty or longer than 255 characters. */
export const keyedCall = (
  key: string,
  call: Pick<From, 'customerId' | 'staff' | 'caller' | 'language'>,
  request: FastifyRequest,
  body: unknown = request.body,
): KeyedCall => {
  if (key.length === 0 || key.length > 255) {
    const fault =
      key.length === 0 ? { code: 'too_small', minimum: 1 } : { code: 'too_big', maximum: 255 }
    throw new Refusal('invalid_input', {
      fields: { 'Idempotency-Key': fieldMessage({ ...fault, origin: 'string' }, call.language) },
    })
  }
  // A stored response is replayed only to the same token or member: another one may be allowed to
  // see more.
  const { rights, member, sessionId } = call.caller ?? {}
  const own = member ? `member:${member.memberId}` : rights && `token:${sessionId}`
  const scope = own ?? (callerScope(call) || `${anonymous}${networkOf(request.ip)}`)
  return {
    scope,
    key,
    fingerprint: { method: request.method, url: request.url, body },
  }
}
