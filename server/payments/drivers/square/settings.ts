/** Settings of the Square driver. */
import * as z from 'zod/mini'

const notBlank = z.string().check(z.regex(/^\S+$/, { error: 'must not be blank' }))

export const settings = z.object({
  /** Never printed. */
  accessToken: notBlank,
  /** Sent to every browser. */
  applicationId: notBlank,
  /** The seller's location at Square; its currency is the currency of the payments. */
  locationId: notBlank,
  /** The signature key of the webhook subscription. Never printed. */
  webhookKey: notBlank,
  apiUrl: z.url({ protocol: /^https?$/, error: 'a URL that begins with https://' }),
  /** Time limit of one call, in milliseconds. */
  timeoutMs: z._default(z.int().check(z.gte(1)), 10_000),
})
export type SquareSettings = z.output<typeof settings>

/** The names of the settings in the environment. */
export const environment = {
  accessToken: 'SQUARE_ACCESS_TOKEN',
  applicationId: 'SQUARE_APPLICATION_ID',
  locationId: 'SQUARE_LOCATION_ID',
  webhookKey: 'SQUARE_WEBHOOK_KEY',
  apiUrl: 'SQUARE_API_URL',
} as const

export const defaults = { apiUrl: 'https://connect.squareup.com' } as const

export const sandboxKeys = (derive: (purpose: string) => string) => ({
  accessToken: derive('sandbox-square-token').replaceAll(/\s/g, ''),
  applicationId: 'sandbox-sq0idb-portal',
  locationId: 'LSANDBOXAUD01',
  webhookKey: derive('sandbox-square-webhook').replaceAll(/\s/g, ''),
})
export const inSandbox = (url: string, keys: Readonly<Record<string, string>>) => ({
  ...keys,
  apiUrl: `${url}/square`,
})
