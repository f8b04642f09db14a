/** The variables of SMS and mail. */
import * as z from 'zod'
import { isHostName } from '../../contract/dns-records.ts'
import { blankMeansFault, portNumber, address } from './rules.ts'

export const messageVariables = {
  ESMS_API_KEY: {
    about: 'eSMS.vn: key for SMS to all countries. With ESMS_SECRET_KEY it replaces the sandbox.',
    schema: blankMeansFault('ESMS_API_KEY').optional(),
    example: '',
  },
  ESMS_SECRET_KEY: {
    about: 'eSMS.vn: secret.',
    schema: blankMeansFault('ESMS_SECRET_KEY').optional(),
    example: '',
  },
  ESMS_BRANDNAME: {
    about: 'eSMS.vn: sender, registered with the carriers. Without it PORTAL.',
    schema: blankMeansFault('ESMS_BRANDNAME').optional(),
    example: '',
  },
  ESMS_URL: {
    about: 'eSMS.vn: address, if not the public one.',
    schema: address('ESMS_URL').optional(),
    example: '',
  },
  SMTP_URL: {
    about: 'Mail server, such as smtps://user:password@mail.example.vn. It replaces the sandbox.',
    schema: z
      .string()
      .refine((text) => /^smtps?:\/\//.test(text), 'SMTP_URL must begin with smtp:// or smtps://.')
      .optional(),
    example: '',
  },
  MAIL_FROM: {
    about: 'Sender of mails, such as Portal <portal@example.vn>. In production SMTP_URL needs it.',
    schema: blankMeansFault('MAIL_FROM')
      .refine(
        (text) => /^(?:[^<>@]*<)?[^\s<>@]+@[^\s<>@]+>?$/.test(text),
        'MAIL_FROM must hold an e-mail address, such as Portal <portal@example.vn>.',
      )
      .default('portal@localhost'),
    example: 'portal@localhost',
  },
  SUPPORT_MAIL: {
    about:
      'E-mail address of the support, such as support@help.example.vn: a letter to it opens a ' +
      'ticket. Its whole domain is for letters to the portal. docs/operate.md, "Tickets".',
    schema: z
      .string()
      .transform((text) => text.toLowerCase())
      .refine((text) => {
        const at = text.lastIndexOf('@')
        return /^[a-z0-9._-]{1,64}$/.test(text.slice(0, at)) && isHostName(text.slice(at + 1))
      }, 'SUPPORT_MAIL must be an e-mail address such as support@help.example.vn.')
      .optional(),
    example: '',
  },
  SUPPORT_MAIL_PORT: {
    about:
      'Port where letters to the support are taken (SMTP), from the mail server of the domain of ' +
      'SUPPORT_MAIL or from anywhere. Without it 8026.',
    schema: portNumber('SUPPORT_MAIL_PORT').transform(Number).optional(),
    example: '',
  },
  SITE_MAIL_SPF: {
    about:
      "SPF's mechanism for the servers that mail leaves by, for the domains of customers' sites: " +
      'such as include:_spf.mail.example.vn. The host of SMTP_URL when empty.',
    schema: z
      .string()
      .regex(
        /^(?:include|a|mx|ip4|ip6|exists):[A-Za-z0-9._:/%{}-]{1,200}$/,
        'SITE_MAIL_SPF must be one mechanism of SPF, such as include:_spf.mail.example.vn.',
      )
      .optional(),
    example: '',
  },
  SITE_MAIL_REPORTS: {
    about:
      'Domain that reports about letters of sites go to, such as returned.example.vn: what comes ' +
      'back after it was sent is shown to its owner. Without it such reports go to the sender. ' +
      'docs/operate.md, "Mail of sites".',
    schema: z
      .string()
      .transform((text) => text.toLowerCase())
      .refine(
        (text) => isHostName(text),
        'SITE_MAIL_REPORTS must be a host name such as returned.example.vn.',
      )
      .optional(),
    example: '',
  },
  SITE_MAIL_REPORTS_PORT: {
    about:
      'Port where reports about letters are taken (SMTP), from the mail server of ' +
      'SITE_MAIL_REPORTS or from anywhere. Without it 8025.',
    schema: portNumber('SITE_MAIL_REPORTS_PORT').transform(Number).optional(),
    example: '',
  },
} as const
