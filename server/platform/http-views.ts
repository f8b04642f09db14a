/**
 * A call by a staff member's view of a customer: it may read what the contract says, and change
 * nothing (decision 104).
 */
import type { FastifyRequest } from 'fastify'
import type { Endpoint } from '../../contract/index.ts'
import { viewPrefix } from '../../contract/view.ts'
import { Refusal, type Sentence } from './errors.ts'
import type { Caller, Viewer } from './http-calls.ts'

/** Undefined: unknown, ended, or its member may not look any more. */
export type IdentifyView = (token: string, ip: string) => Promise<Viewer | undefined>

/** Whether a bearer token is meant as one of a view, good or not. */
export const isViewToken = (token: string): boolean => token.startsWith(viewPrefix)

const write: Sentence = {
  en: 'You see the portal as the customer does. Nothing can be changed.',
  vi: 'Bạn đang xem như khách hàng. Không thể thay đổi gì.',
}
const closed: Sentence = {
  en: 'Only the customer can open this.',
  vi: 'Chỉ khách hàng mới mở được nội dung này.',
}

/**
 * Refuses with unauthenticated when the view has ended, and with forbidden when the endpoint is
 * closed to views.
 */
export function createViewJudge(
  identify: IdentifyView,
  inTurn: <T>(token: string, ip: string, work: () => Promise<T>) => Promise<T>,
): (endpoint: Endpoint, request: FastifyRequest, token: string) => Promise<Caller> {
  return async (endpoint, request, token) => {
    const view = await inTurn(token, request.ip, () => identify(token, request.ip))
    if (!view) throw new Refusal('unauthenticated')
    if (endpoint.seen !== true) {
      const why = endpoint.method === 'GET' ? closed : write
      throw new Refusal('forbidden', { said: why })
    }
    return { customerId: view.customerId, sessionId: view.id, locked: false, heldBy: 'view' }
  }
}
