/** How a call is signed: Standard Webhooks, HMAC-SHA256 over id, timestamp and body. */
import { createHmac, randomBytes } from 'node:crypto'

const secretPrefix = 'whsec_'
const secretBytes = 32

export const newSecret = (): string => secretPrefix + randomBytes(secretBytes).toString('base64')

const signatureBy = (secret: string, signed: string): string =>
  createHmac('sha256', Buffer.from(secret.slice(secretPrefix.length), 'base64'))
    .update(signed)
    .digest('base64')

/** The headers of a call; each secret has its signature, so that the receiver may know either. */
export function signedHeaders(
  secrets: readonly string[],
  of: { readonly id: string; readonly at: Date; readonly body: string },
): Record<string, string> {
  const timestamp = String(Math.floor(of.at.getTime() / 1000))
  const signed = `${of.id}.${timestamp}.${of.body}`
  return {
    'webhook-id': of.id,
    'webhook-timestamp': timestamp,
    'webhook-signature': secrets.map((one) => `v1,${signatureBy(one, signed)}`).join(' '),
  }
}
