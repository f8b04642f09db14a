/** Settings of the SMTP driver. */
import * as z from 'zod/mini'

export const settings = z.object({
  /** smtp://user:password@host:587 or smtps://… Never printed, because it contains a password. */
  url: z.url({ protocol: /^smtps?$/, error: 'a URL that begins with smtp:// or smtps://' }),
  /** The sender: a plain address or "Name <address>". */
  from: z.string().check(
    z.regex(/^(?:[^<>\r\n]*<[^\s<>@,;]+@[^\s<>@,;]+>|[^\s<>@,;]+@[^\s<>@,;]+)$/, {
      error: 'an e-mail address, or "Name <address>"',
    }),
  ),
  /** Time limit of each step of the conversation, in milliseconds. */
  timeoutMs: z._default(z.int().check(z.gte(1)), 10_000),
  /**
   * Time limit of a whole conversation, in milliseconds. Below the limit of the jobs that send
   * (messages/index.ts) and the lease of a site's letter (wordpress/mail/send.ts): whoever takes
   * the letter over must find nobody who still sends it.
   */
  conversationMs: z._default(z.int().check(z.gte(1)), 40_000),
})
export type SmtpSettings = z.output<typeof settings>

/** The names of the settings in the environment. */
export const environment = { url: 'SMTP_URL', from: 'MAIL_FROM' } as const
