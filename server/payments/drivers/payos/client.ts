/**
 * payOS's own SDK, with what it lacks: a time limit, no redirects, a limit on the response's size,
 * refusal of unsigned responses, and DriverFailure for its errors.
 */
import { APIError, InvalidSignatureError, PayOS } from '@payos/node'
import { DriverFailure } from '../../../platform/errors.ts'
import { tracedCall } from '../../../platform/http-client.ts'
import type { PayosSettings } from './settings.ts'
import { holds, isData } from './sign.ts'

const maxBytes = 1_048_576
const silent = {
  error: () => undefined,
  warn: () => undefined,
  info: () => undefined,
  debug: () => undefined,
}

/** An answer that a payOS with our key did not sign. */
class Unsigned extends Error {}

async function textOf(response: Response): Promise<string> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of response.body ?? []) {
    size += chunk.byteLength
    if (size > maxBytes) throw new Unsigned(`longer than ${maxBytes} bytes`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}

/**
 * Whether the answer reports success without a valid signature. Other text than JSON is left to the
 * SDK.
 */
function isUnsigned(text: string, checksumKey: string): boolean {
  try {
    const answer: unknown = JSON.parse(text)
    if (!isData(answer) || answer['code'] !== '00') return false
    return !isData(answer['data']) || !holds(answer['data'], answer['signature'], checksumKey)
  } catch {
    return false
  }
}

export function createClient(settings: PayosSettings): PayOS {
  const { clientId, apiKey, checksumKey, baseUrl, timeoutMs } = settings
  return new PayOS({
    clientId,
    apiKey,
    checksumKey,
    partnerCode: '',
    baseURL: baseUrl,
    timeout: timeoutMs,
    maxRetries: 0,
    logger: silent,
    logLevel: 'off',
    fetch: async (url, init) => {
      const { response, text } = await tracedCall('payos', async () => {
        const answer = await fetch(url, { ...init, redirect: 'manual' })
        return { response: answer, text: await textOf(answer) }
      })
      if (response.ok && isUnsigned(text, checksumKey)) throw new Unsigned('no valid signature')
      return new Response(text === '' ? null : text, {
        status: response.status,
        headers: response.headers,
      })
    },
  })
}

/** payOS's own code of a refusal, if it gave one. payOS answers most refusals with status 200. */
export const codeOf = (error: unknown): string | undefined =>
  error instanceof APIError ? (error.code ?? undefined) : undefined

/**
 * Converts an error of the SDK to ours. Every call of this driver may be repeated (an order code
 * begins one payment link), so a lost answer is `unavailable` and never `unclear`. We leave out the
 * vendor's own sentence: it may repeat what was sent.
 */
export function failureOf(call: string, error: unknown): DriverFailure {
  const unavailable = (why: string): DriverFailure =>
    new DriverFailure('unavailable', `payos: ${call}: ${why}`)
  if (error instanceof DriverFailure) return error
  if (error instanceof InvalidSignatureError)
    return unavailable('the answer is not signed by payOS')
  if (error instanceof APIError) {
    const { status } = error
    // the SDK keeps no cause of a broken connection
    if (status === undefined)
      return unavailable(
        error.name === 'ConnectionTimeoutError' ? 'no answer in time' : 'no answer to be believed',
      )
    const code = codeOf(error)
    const detail = `status ${status}${code === undefined ? '' : `, code ${code.slice(0, 20)}`}`
    return status >= 500 || status === 408 || status === 429
      ? unavailable(detail)
      : new DriverFailure('rejected', `payos: ${call}: ${detail}`)
  }
  return unavailable(
    error instanceof SyntaxError ? 'an answer that is not JSON' : 'the connection broke',
  )
}
