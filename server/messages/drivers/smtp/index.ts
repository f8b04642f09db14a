/** Mail through any SMTP server (RFC 5321), by nodemailer. */
import { createHash } from 'node:crypto'
import { createTransport } from 'nodemailer'
import { DriverFailure } from '../../../platform/errors.ts'
import type { MailDriver } from '../../driver.ts'
import type { SmtpSettings } from './settings.ts'

/**
 * What nodemailer tells of a failure; its message may quote the server, so only codes are passed
 * on.
 */
function failureOf(error: unknown): DriverFailure {
  const detail = (typeof error === 'object' && error !== null ? error : {}) as {
    code?: unknown
    responseCode?: unknown
    syscall?: unknown
  }
  const status = typeof detail.responseCode === 'number' ? detail.responseCode : 0
  const code =
    typeof detail.code === 'string' && /^[A-Z_]+$/.test(detail.code) ? detail.code : 'trouble'
  const summary = `smtp: ${code}${status === 0 ? '' : ` ${status}`}`
  // a wrong password is the operator's to mend: the same mail may pass later
  if (code === 'EAUTH') return new DriverFailure('unavailable', summary)
  if (status >= 500) return new DriverFailure('rejected', summary)
  // a connection that was never made carried nothing; of one that broke without a word nodemailer
  // does not tell how far it got
  const unsent =
    detail.syscall === 'connect' ||
    detail.syscall === 'getaddrinfo' ||
    code === 'EDNS' ||
    code === 'ETLS'
  return new DriverFailure(status !== 0 || unsent ? 'unavailable' : 'unclear', summary)
}

/**
 * Opens the driver. SMTP cannot tell a repeated mail; the Message-ID made from the idempotency key
 * lets the mailboxes recognise it.
 */
export function createSmtp(settings: SmtpSettings): MailDriver {
  const { timeoutMs } = settings
  const transport = createTransport({
    url: settings.url,
    connectionTimeout: timeoutMs,
    greetingTimeout: timeoutMs,
    socketTimeout: timeoutMs,
    disableFileAccess: true,
    disableUrlAccess: true,
  })
  const domain = /@([^\s<>@]+)>?$/.exec(settings.from)?.[1] ?? 'localhost'
  return {
    name: 'smtp',
    async send({ to, subject, text, idempotencyKey }) {
      if (!/^[^\s<>()[\]\\,;:"@]+@[^\s<>()[\]\\,;:"@]+$/.test(to))
        throw new DriverFailure('rejected', 'smtp: the receiver is no e-mail address')
      const digest = createHash('sha256').update(idempotencyKey).digest('hex')
      const messageId = `<${digest.slice(0, 40)}@${domain}>`
      try {
        await transport.sendMail({
          from: settings.from,
          to: { name: '', address: to },
          subject,
          text,
          messageId,
        })
      } catch (error) {
        throw failureOf(error)
      }
    },
  }
}
