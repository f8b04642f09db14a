/** Settings of the payOS driver. */
import * as z from 'zod/mini'

const key = z.string().check(z.regex(/\S/, { error: 'must not be blank' }))
const address = z
  .url({ protocol: /^https?$/, error: 'a URL that begins with https://' })
  .check(z.refine((url) => !/[?#]/.test(url), { error: 'a URL without a query' }))

export const settings = z.object({
  /**
   * The payment channel's client id, API key and checksum key; the last is never sent. Never
   * printed.
   */
  clientId: key,
  apiKey: key,
  checksumKey: key,
  /** The address of payOS's API. The SDK uses the host only. */
  baseUrl: address.check(
    z.refine((url) => new URL(url).pathname === '/', { error: 'a URL without a path' }),
  ),
  /** The address of a payment link's page, without the link's id. */
  pageUrl: address,
  /** Time limit of one call, in milliseconds. */
  timeoutMs: z._default(z.int().check(z.gte(1)), 10_000),
})
export type PayosSettings = z.output<typeof settings>

/** The names of the settings in the environment. */
export const environment = {
  clientId: 'PAYOS_CLIENT_ID',
  apiKey: 'PAYOS_API_KEY',
  checksumKey: 'PAYOS_CHECKSUM_KEY',
  baseUrl: 'PAYOS_BASE_URL',
  pageUrl: 'PAYOS_PAGE_URL',
} as const

/** payOS's public addresses; payOS has no test environment. */
export const defaults = {
  baseUrl: 'https://api-merchant.payos.vn',
  pageUrl: 'https://pay.payos.vn/web',
} as const

export const sandboxKeys = (derive: (purpose: string) => string) => ({
  clientId: 'sandbox',
  apiKey: derive('sandbox-payos-api'),
  checksumKey: derive('sandbox-payos'),
})
export const inSandbox = (url: string, keys: Readonly<Record<string, string>>) => ({
  ...keys,
  baseUrl: url,
  pageUrl: `${url}/payos/web`,
})
