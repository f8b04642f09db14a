/** Settings of the Alepay driver. */
import * as z from 'zod/mini'

const key = z.string().check(z.regex(/\S/, { error: 'must not be blank' }))

export const settings = z.object({
  /** Says which merchant asks. Sent with every call. */
  tokenKey: key,
  /** The merchant's HMAC key. Never sent, never printed. */
  checksumKey: key,
  /** The address before /request-payment: .../api/v3/checkout */
  baseUrl: z
    .url({ protocol: /^https?$/, error: 'a URL that begins with https://' })
    .check(z.refine((url) => !/[?#]/.test(url), { error: 'a URL without a query' })),
  /** Time limit of one call, in milliseconds. */
  timeoutMs: z._default(z.int().check(z.gte(1)), 10_000),
})
export type AlepaySettings = z.output<typeof settings>

/** The names of the settings in the environment. */
export const environment = {
  tokenKey: 'ALEPAY_TOKEN_KEY',
  checksumKey: 'ALEPAY_CHECKSUM_KEY',
  baseUrl: 'ALEPAY_BASE_URL',
} as const

/**
 * Alepay's public address; its test environment is
 * https://alepay-v3-sandbox.nganluong.vn/api/v3/checkout.
 */
export const defaults = { baseUrl: 'https://alepay-v3.nganluong.vn/api/v3/checkout' } as const

export const sandboxKeys = (derive: (purpose: string) => string) => ({
  tokenKey: derive('sandbox-alepay-token'),
  checksumKey: derive('sandbox-alepay'),
})
export const inSandbox = (url: string, keys: Readonly<Record<string, string>>) => ({
  ...keys,
  baseUrl: `${url}/alepay/api/v3/checkout`,
})
