/** Settings of the Stripe driver. */
import * as z from 'zod/mini'

const address = z.url({ protocol: /^https?$/, error: 'a URL that begins with https://' })

export const settings = z.object({
  /**
   * The account's secret key, or a restricted one with the rights that README names. Never printed.
   */
  secretKey: z.string().check(
    z.regex(/^(sk|rk)_(test|live)_\w+$/, {
      error: 'begins with sk_test_, sk_live_, rk_test_ or rk_live_',
    }),
  ),
  /** Sent to every browser. */
  publishableKey: z
    .string()
    .check(z.regex(/^pk_(test|live)_\w+$/, { error: 'begins with pk_test_ or pk_live_' })),
  /** The signing secret of the webhook endpoint. Never printed. */
  webhookSecret: z.string().check(z.regex(/^whsec_\S+$/, { error: 'begins with whsec_' })),
  /** The address of Stripe's API; only host and port are used. */
  apiUrl: address,
  /** Stripe.js. Real keys work only with Stripe's own script. */
  scriptUrl: address,
  /** Time limit of one call, in milliseconds. */
  timeoutMs: z._default(z.int().check(z.gte(1)), 10_000),
})
export type StripeSettings = z.output<typeof settings>

/** The names of the settings in the environment. */
export const environment = {
  secretKey: 'STRIPE_SECRET_KEY',
  publishableKey: 'STRIPE_PUBLISHABLE_KEY',
  webhookSecret: 'STRIPE_WEBHOOK_SECRET',
} as const

/** The script's name goes with the API version that the SDK speaks. */
export const defaults = {
  apiUrl: 'https://api.stripe.com',
  scriptUrl: 'https://js.stripe.com/endive/stripe.js',
} as const

export const sandboxKeys = (derive: (purpose: string) => string) => {
  const key = (purpose: string): string => derive(purpose).replaceAll(/\W/g, '').slice(0, 32)
  return {
    secretKey: `sk_test_${key('sandbox-stripe-secret')}`,
    publishableKey: `pk_test_${key('sandbox-stripe-publishable')}`,
    webhookSecret: `whsec_${key('sandbox-stripe-webhook')}`,
  }
}
export const inSandbox = (url: string, keys: Readonly<Record<string, string>>) => ({
  ...keys,
  apiUrl: url,
  scriptUrl: `${url}/stripe/v3/stripe.js`,
})
