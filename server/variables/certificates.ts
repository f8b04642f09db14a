/** The variables of HTTPS and of the authorities that issue its certificates. */
import * as z from 'zod'
import { address, base64url, blankMeansFault, count, portNumber } from './rules.ts'

export const certificateVariables = {
  SITES_TLS_PORT: {
    about:
      "Port of HTTPS for customers' sites and for the host of PORTAL_URL. Certificates come from " +
      'ACME_DIRECTORY. Without it no HTTPS is spoken: a proxy in front may do so.',
    schema: portNumber('SITES_TLS_PORT').transform(Number).optional(),
    example: '',
  },
  ACME_DIRECTORY: {
    about:
      'The certificate authority: the address of its ACME directory, such as ' +
      'https://acme-v02.api.letsencrypt.org/directory. Naming it agrees to its terms. Without ' +
      "it: the sandbox's.",
    schema: address('ACME_DIRECTORY').optional(),
    example: '',
  },
  ACME_EMAIL: {
    about: 'Where the certificate authorities may write to.',
    schema: z
      .string()
      .regex(/^[^\s<>@,]+@[^\s<>@,]+$/, 'ACME_EMAIL must be an e-mail address.')
      .optional(),
    example: '',
  },
  ACME_EAB_KEY_ID: {
    about: 'Key id of the external account, where the authority wants one (ZeroSSL, Google).',
    schema: blankMeansFault('ACME_EAB_KEY_ID').optional(),
    example: '',
  },
  ACME_EAB_HMAC_KEY: {
    about: 'Key of the external account, base64url as the authority shows it.',
    schema: base64url('ACME_EAB_HMAC_KEY').optional(),
    example: '',
  },
  ACME_FALLBACK_DIRECTORY: {
    about:
      'A second authority, asked while the first one is away, refuses, or has issued as much as ' +
      'it allows.',
    schema: address('ACME_FALLBACK_DIRECTORY').optional(),
    example: '',
  },
  ACME_FALLBACK_EAB_KEY_ID: {
    about: 'Key id of the external account with the second authority.',
    schema: blankMeansFault('ACME_FALLBACK_EAB_KEY_ID').optional(),
    example: '',
  },
  ACME_FALLBACK_EAB_HMAC_KEY: {
    about: 'Key of that external account.',
    schema: base64url('ACME_FALLBACK_EAB_HMAC_KEY').optional(),
    example: '',
  },
  ACME_ORDERS_IN_3_HOURS: {
    about:
      'Most certificates asked for in three hours at one authority (Let’s Encrypt allows an ' +
      'account 300).',
    schema: count('ACME_ORDERS_IN_3_HOURS', 250),
    example: '250',
  },
  ACME_CERTIFICATES_A_WEEK: {
    about:
      'Most new certificates in a week for names of one registrable domain at one authority ' +
      '(Let’s Encrypt allows 50; renewals do not count).',
    schema: count('ACME_CERTIFICATES_A_WEEK', 45),
    example: '45',
  },
} as const
