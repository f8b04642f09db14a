/** The variables of the gateways. */
import * as z from 'zod'
import { blankMeansFault, address } from './rules.ts'

export const paymentVariables = {
  VNPAY_TMN_CODE: {
    about: 'VNPay: terminal code (8 characters). With VNPAY_HASH_SECRET it replaces the sandbox.',
    schema: z
      .string()
      .regex(/^[A-Za-z0-9]{8}$/, 'VNPAY_TMN_CODE must have 8 letters or digits.')
      .optional(),
    example: '',
  },
  VNPAY_HASH_SECRET: {
    about: 'VNPay: secret of the terminal.',
    schema: blankMeansFault('VNPAY_HASH_SECRET').optional(),
    example: '',
  },
  VNPAY_PAY_URL: {
    about: 'VNPay: payment page, https://…/paymentv2/vpcpay.html. Must be set in production.',
    schema: address('VNPAY_PAY_URL').optional(),
    example: '',
  },
  VNPAY_API_URL: {
    about:
      'VNPay: address of querydr and refund, https://…/merchant_webapi/api/transaction. Must be ' +
      'set in production.',
    schema: address('VNPAY_API_URL').optional(),
    example: '',
  },
  BANK_ACCOUNT_NUMBER: {
    about:
      'Bank transfers: the account that customers transfer to. With the four below it ' +
      'replaces the sandbox.',
    schema: blankMeansFault('BANK_ACCOUNT_NUMBER').optional(),
    example: '',
  },
  BANK_ACCOUNT_NAME: {
    about: "Bank transfers: the account's name, capitals without marks.",
    schema: blankMeansFault('BANK_ACCOUNT_NAME').optional(),
    example: '',
  },
  BANK_NAME: {
    about: "Bank transfers: the bank's name.",
    schema: blankMeansFault('BANK_NAME').optional(),
    example: '',
  },
  BANK_BIN: {
    about: "Bank transfers: the bank's NAPAS number, six digits (Vietcombank 970436).",
    schema: z
      .string()
      .regex(/^\d{6}$/, 'BANK_BIN must have six digits.')
      .optional(),
    example: '',
  },
  SEPAY_WEBHOOK_SECRET: {
    about:
      'SePay: HMAC secret of the webhook <PORTAL_URL>/api/webhooks/bank. Either this or ' +
      'CASSO_WEBHOOK_SECRET tells what arrived.',
    schema: blankMeansFault('SEPAY_WEBHOOK_SECRET').optional(),
    example: '',
  },
  SEPAY_API_TOKEN: {
    about:
      'SePay: API token, to read the list of movements and find what a missed webhook would ' +
      'have reported.',
    schema: blankMeansFault('SEPAY_API_TOKEN').optional(),
    example: '',
  },
  SEPAY_API_URL: {
    about: 'SePay: address of its API, if not the public one.',
    schema: address('SEPAY_API_URL').optional(),
    example: '',
  },
  CASSO_WEBHOOK_SECRET: {
    about: 'Casso (V2): key of the webhook, the same address as for SePay.',
    schema: blankMeansFault('CASSO_WEBHOOK_SECRET').optional(),
    example: '',
  },
  ALEPAY_TOKEN_KEY: {
    about: 'Alepay: token key. With ALEPAY_CHECKSUM_KEY it replaces the sandbox.',
    schema: blankMeansFault('ALEPAY_TOKEN_KEY').optional(),
    example: '',
  },
  ALEPAY_CHECKSUM_KEY: {
    about: 'Alepay: checksum key.',
    schema: blankMeansFault('ALEPAY_CHECKSUM_KEY').optional(),
    example: '',
  },
  ALEPAY_BASE_URL: {
    about: 'Alepay: what stands before /request-payment, if not the public address.',
    schema: address('ALEPAY_BASE_URL').optional(),
    example: '',
  },
  PAYOS_CLIENT_ID: {
    about:
      'payOS: client id of the payment channel. With PAYOS_API_KEY and PAYOS_CHECKSUM_KEY it ' +
      'replaces the sandbox.',
    schema: blankMeansFault('PAYOS_CLIENT_ID').optional(),
    example: '',
  },
  PAYOS_API_KEY: {
    about: 'payOS: API key.',
    schema: blankMeansFault('PAYOS_API_KEY').optional(),
    example: '',
  },
  PAYOS_CHECKSUM_KEY: {
    about: 'payOS: checksum key.',
    schema: blankMeansFault('PAYOS_CHECKSUM_KEY').optional(),
    example: '',
  },
  PAYOS_BASE_URL: {
    about: 'payOS: address of its API without a path, if not the public one.',
    schema: address('PAYOS_BASE_URL')
      .refine(
        (text) => !URL.canParse(text) || new URL(text).pathname === '/',
        'PAYOS_BASE_URL must have no path.',
      )
      .optional(),
    example: '',
  },
  PAYOS_PAGE_URL: {
    about:
      "payOS: what stands before a payment link's id in the address of its page, if not the " +
      'public one.',
    schema: address('PAYOS_PAGE_URL').optional(),
    example: '',
  },
  STRIPE_SECRET_KEY: {
    about: 'Stripe (cards): secret key. With the two below it replaces the sandbox.',
    schema: blankMeansFault('STRIPE_SECRET_KEY').optional(),
    example: '',
  },
  STRIPE_PUBLISHABLE_KEY: {
    about: 'Stripe: publishable key, given to the browser.',
    schema: blankMeansFault('STRIPE_PUBLISHABLE_KEY').optional(),
    example: '',
  },
  STRIPE_WEBHOOK_SECRET: {
    about: 'Stripe: signing secret of the webhook <PORTAL_URL>/api/webhooks/stripe.',
    schema: blankMeansFault('STRIPE_WEBHOOK_SECRET').optional(),
    example: '',
  },
  SQUARE_ACCESS_TOKEN: {
    about: 'Square (tokens, AUD): access token. With the three below it replaces the sandbox.',
    schema: blankMeansFault('SQUARE_ACCESS_TOKEN').optional(),
    example: '',
  },
  SQUARE_APPLICATION_ID: {
    about: 'Square: application id, given to the browser.',
    schema: blankMeansFault('SQUARE_APPLICATION_ID').optional(),
    example: '',
  },
  SQUARE_LOCATION_ID: {
    about: 'Square: the location that sells. Its currency is AUD.',
    schema: blankMeansFault('SQUARE_LOCATION_ID').optional(),
    example: '',
  },
  SQUARE_WEBHOOK_KEY: {
    about: 'Square: signature key of the webhook <PORTAL_URL>/api/webhooks/square.',
    schema: blankMeansFault('SQUARE_WEBHOOK_KEY').optional(),
    example: '',
  },
  SQUARE_API_URL: {
    about:
      'Square: address of its API, if not the public one (Square’s own sandbox: ' +
      'https://connect.squareupsandbox.com).',
    schema: address('SQUARE_API_URL').optional(),
    example: '',
  },
} as const
