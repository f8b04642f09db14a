/** Mail through any SMTP server (RFC 5321), by nodemailer. */
import { createHash } from 'node:crypto'
import net from 'node:net'
import { createTransport, type SendMailOptions } from 'nodemailer'
import { DriverFailure } from '../../../platform/errors.ts'
import type { MailDriver, RelayOutcome } from '../../driver.ts'
import type { SmtpSettings } from './settings.ts'

/** Converts nodemailer's error. Its message may quote the server, so only codes are passed on. */
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
  // a connection that was never made transmitted nothing; for a broken one nodemailer does not
  // report how far it got
  const unsent =
    detail.syscall === 'connect' ||
    detail.syscall === 'getaddrinfo' ||
    code === 'EDNS' ||
    code === 'ETLS'
  return new DriverFailure(status !== 0 || unsent ? 'unavailable' : 'unclear', summary)
}

/**
 * The outcome of another sender's letter. Only a response to the recipient or the text (RFC 5321,
 * 4.2.1) is about the letter; other errors are about us as the server's client.
 */
function outcomeOf(error: unknown): RelayOutcome {
  const { responseCode, command, response } = (error ?? {}) as {
    responseCode?: unknown
    command?: unknown
    response?: unknown
  }
  if (typeof responseCode !== 'number' || typeof response !== 'string')
    return { outcome: 'later', why: failureOf(error).message }
  const why = response.replace(/[^\x20-\x7e]+/g, ' ').trim()
  const isAboutLetter = command === 'RCPT TO' || command === 'DATA'
  return { outcome: responseCode >= 500 && isAboutLetter ? 'refused' : 'later', why }
}

/**
 * Opens the driver. SMTP cannot tell a repeated mail; the Message-ID made from the idempotency key
 * lets the mailboxes recognise it.
 */
export function createSmtp(settings: SmtpSettings): MailDriver {
  const { timeoutMs, conversationMs } = settings

  /** One conversation with the server, cut off when it takes too long. */
  async function converse(mail: SendMailOptions): Promise<void> {
    const socket = new net.Socket()
    const transport = createTransport({
      url: settings.url,
      socket,
      connectionTimeout: timeoutMs,
      greetingTimeout: timeoutMs,
      socketTimeout: timeoutMs,
      disableFileAccess: true,
      disableUrlAccess: true,
    })
    const cut = setTimeout(() => {
      // Before it is connected, nobody may listen for the error yet.
      socket.once('error', () => undefined)
      socket.destroy(new Error('the conversation takes too long'))
    }, conversationMs)
    try {
      await transport.sendMail(mail)
    } finally {
      clearTimeout(cut)
      transport.close()
    }
  }
  const domain = /@([^\s<>@]+)>?$/.exec(settings.from)?.[1] ?? 'localhost'
  return {
    name: 'smtp',
    async relay({ from, to, raw, signKey }) {
      try {
        await converse({
          envelope: { from, to: [to] },
          raw,
          ...(signKey && {
            dkim: {
              domainName: signKey.domain,
              keySelector: signKey.selector,
              privateKey: signKey.privateKey,
            },
          }),
        })
        return { outcome: 'sent' }
      } catch (error) {
        return outcomeOf(error)
      }
    },
    async send({ to, subject, text, idempotencyKey, replyTo, isOfConversation }) {
      if (!/^[^\s<>()[\]\\,;:"@]+@[^\s<>()[\]\\,;:"@]+$/.test(to))
        throw new DriverFailure('rejected', 'smtp: the receiver is no e-mail address')
      const digest = createHash('sha256').update(idempotencyKey).digest('hex')
      const messageId = `<${digest.slice(0, 40)}@${domain}>`
      try {
        await converse({
          from: settings.from,
          to: { name: '', address: to },
          subject,
          text,
          messageId,
          // A letter that all of them refer to: mail programs show them as one conversation.
          ...(replyTo !== undefined && { replyTo }),
          ...(isOfConversation && { references: `<${replyTo}>` }),
        })
      } catch (error) {
        throw failureOf(error)
      }
    },
  }
}
