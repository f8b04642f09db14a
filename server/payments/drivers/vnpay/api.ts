/**
 * VNPay's querydr and refund: signed JSON over POST. Source:
 * .../truy-van-hoan-tien/querydr&refund.html
 */
import { sameHash } from '../../../platform/constant-time.ts'
import { DriverFailure, type DriverFailureKind } from '../../../platform/errors.ts'
import { callHttp, jsonOf } from '../../../platform/http-client.ts'
import type { VnpaySettings } from './settings.ts'
import { apiHash, type Fields } from './sign.ts'

export type ApiAnswer = Fields

/** The answer's vnp_ fields as text; some come as numbers. */
function fieldsOf(answer: unknown): Record<string, string> {
  if (typeof answer !== 'object' || answer === null) return {}
  return Object.fromEntries(
    Object.entries(answer).flatMap(([key, value]) =>
      key.startsWith('vnp_') && (typeof value === 'string' || Number.isSafeInteger(value))
        ? [[key, String(value)]]
        : [],
    ),
  )
}

/**
 * Answers a function that signs a question, posts it and verifies the answer. Asking changes
 * nothing and may be repeated; a refund whose answer is lost, unsigned or for another terminal is
 * `unclear`.
 */
export function createApi(
  settings: VnpaySettings,
): (kind: 'query' | 'refund', fields: Fields) => Promise<ApiAnswer> {
  const { tmnCode, secret } = settings
  return async (kind, fields) => {
    const failureKind: DriverFailureKind = kind === 'query' ? 'unavailable' : 'unclear'
    const answer = await callHttp({
      peer: 'vnpay',
      method: 'POST',
      url: settings.apiUrl,
      json: { ...fields, vnp_SecureHash: apiHash(`${kind}Request`, fields, secret) },
      timeoutMs: settings.timeoutMs,
      repeatable: kind === 'query',
      serverError: failureKind,
    })
    const read = fieldsOf(jsonOf(answer, 'vnpay', failureKind))
    if (!sameHash(apiHash(`${kind}Answer`, read, secret), read['vnp_SecureHash'])) {
      const claimed = /^\d\d$/.exec(read['vnp_ResponseCode'] ?? '')?.[0] ?? 'nothing'
      throw new DriverFailure(
        failureKind,
        `vnpay: ${kind} answered ${claimed} without a valid signature`,
      )
    }
    if (read['vnp_TmnCode'] !== tmnCode)
      throw new DriverFailure(failureKind, 'vnpay: the answer is for another terminal')
    return read
  }
}
