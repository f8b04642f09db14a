/**
 * Settings for transfers to the provider's own account: the account, and the feed that reports
 * incoming transfers.
 */
import * as z from 'zod/mini'

const notBlank = (about: string) => z.string().check(z.regex(/\S/, { error: about }))
const address = z.url({ protocol: /^https?$/, error: 'a URL that begins with https://' })

export const settings = z
  .object({
    /** The bank's name for customers. */
    bankName: notBlank('the name of the bank'),
    /** NAPAS BIN. */
    bankBin: z.string().check(z.regex(/^\d{6}$/, { error: 'six digits' })),
    accountNumber: z
      .string()
      .check(z.regex(/^[0-9A-Za-z]{1,19}$/, { error: '1 to 19 letters and digits' })),
    /** In the bank's spelling: capitals without diacritics. */
    accountName: z
      .string()
      .check(
        z.regex(/^[A-Z0-9 .-]{1,50}$/, { error: 'capital letters without marks, 50 at most' }),
      ),
    /** SePay's secret of the webhook (HMAC-SHA256). Never printed. */
    sepaySecret: z.optional(notBlank('must not be blank')),
    /**
     * SePay's API token. It reads the list of movements, which contains those whose webhook was
     * missed. Never printed.
     */
    sepayToken: z.optional(notBlank('must not be blank')),
    /** SePay's API: .../userapi */
    sepayUrl: address,
    /** Casso's key of the webhook (V2, HMAC-SHA512). Never printed. */
    cassoSecret: z.optional(notBlank('must not be blank')),
    /**
     * A page that opens a banking app with the QR code's text behind `?qr=`; the sandbox has one.
     */
    appUrl: z.optional(address),
    /** Time limit of one call, in milliseconds. */
    timeoutMs: z._default(z.int().check(z.gte(1)), 10_000),
  })
  .check(
    z.refine((of) => of.sepaySecret !== undefined || of.cassoSecret !== undefined, {
      error: 'a feed: the secret of SePay or of Casso',
      path: ['sepaySecret'],
    }),
  )
export type BankSettings = z.output<typeof settings>

/** The names of the settings in the environment. */
export const environment = {
  accountNumber: 'BANK_ACCOUNT_NUMBER',
  accountName: 'BANK_ACCOUNT_NAME',
  bankName: 'BANK_NAME',
  bankBin: 'BANK_BIN',
  sepaySecret: 'SEPAY_WEBHOOK_SECRET',
  sepayToken: 'SEPAY_API_TOKEN',
  sepayUrl: 'SEPAY_API_URL',
  cassoSecret: 'CASSO_WEBHOOK_SECRET',
} as const

export const defaults = { sepayUrl: 'https://my.sepay.vn/userapi' } as const

export const sandboxKeys = (derive: (purpose: string) => string) => ({
  accountNumber: '0123499999',
  sepaySecret: derive('sandbox-sepay-secret'),
  sepayToken: derive('sandbox-sepay-token'),
  cassoSecret: derive('sandbox-casso'),
})
export const inSandbox = (url: string, keys: Readonly<Record<string, string>>) => ({
  ...keys,
  bankName: 'Vietcombank',
  bankBin: '970436',
  accountName: 'CONG TY LETS PANEL',
  sepayUrl: `${url}/sepay/userapi`,
  appUrl: `${url}/bank/app`,
})
