/**
 * Addresses of invoices that work without signing in. The token is computed from the invoice's id
 * and the portal's secret, so the database contains no token: the id's 16 bytes, and 8 bytes of
 * HMAC-SHA-256 over them (RFC 2104, truncated; 2^64 guesses over the network for an attacker who
 * knows the id), in base64url.
 */
import { createHash, createHmac } from 'node:crypto'
import type { Language } from '../../contract/errors.ts'
import { sameBytes } from '../platform/constant-time.ts'

export interface InvoiceLinks {
  /** The page of an invoice. */
  hosted(invoiceId: string): string
  /** Its PDF. */
  pdf(invoiceId: string, language: Language): string
  /** The invoice of a token; undefined: the token is not ours. */
  idOf(token: string): string | undefined
  /** Adds the hosted link to an event's payload that names an invoice. */
  complete(payload: object): object
}

const idBytes = 16
const macBytes = 8

/** The stored hash of a token from before tokens were derived from the invoice's id. */
export const hashOfToken = (token: string): Buffer => createHash('sha256').update(token).digest()

export function createInvoiceLinks(portalUrl: string, secret: string): InvoiceLinks {
  const macOf = (id: Buffer): Buffer =>
    createHmac('sha256', secret).update(id).digest().subarray(0, macBytes)
  const tokenOf = (invoiceId: string): string => {
    const id = Buffer.from(invoiceId.replaceAll('-', ''), 'hex')
    return Buffer.concat([id, macOf(id)]).toString('base64url')
  }
  const hosted = (invoiceId: string): string => `${portalUrl}/invoice/hosted/${tokenOf(invoiceId)}`
  return {
    hosted,
    pdf: (invoiceId, language) =>
      `${portalUrl}/api/invoices/${tokenOf(invoiceId)}/pdf?lang=${language}`,
    idOf(token) {
      const bytes = Buffer.from(token, 'base64url')
      // Another base64url spelling of the same bytes is refused.
      if (bytes.length !== idBytes + macBytes || bytes.toString('base64url') !== token)
        return undefined
      const id = bytes.subarray(0, idBytes)
      if (!sameBytes(bytes.subarray(idBytes), macOf(id))) return undefined
      return id.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
    },
    complete(payload) {
      const { payment } = payload as { payment?: { id?: unknown } }
      return typeof payment?.id === 'string'
        ? { ...payload, payment: { ...payment, hosted_invoice_url: hosted(payment.id) } }
        : payload
    },
  }
}
