/**
 * Receives letters to the support by SMTP, from the mail server of their domain or from anywhere.
 * It relays nothing, and its only reply is a receipt to a proven customer.
 */
import type { SMTPServerDataStream } from 'smtp-server'
import { Refusal } from '../../platform/errors.ts'
import { createGate } from '../../platform/gate.ts'
import type { Log } from '../../platform/log.ts'
import {
  createSmtpListener,
  isSmtpRefusal,
  smtpRefusal,
  type SmtpListener,
} from '../../platform/smtp-listener.ts'
import type { Taken } from './intake.ts'
import type { ReplyAddresses } from './reply-address.ts'

/** The usual limit of large mailboxes. */
const mostBytes = 25_000_000
const mostConnections = 10
const idleMs = 60_000

export interface LetterListenerDeps {
  readonly log: Log
  readonly addresses: ReplyAddresses
  readonly listenOn: { readonly host: string; readonly port: number }
  /**
   * Refuses with rate_limited a network that sends too much, because each letter takes time to
   * parse.
   */
  readonly admit: (ip: string) => Promise<void>
  readonly take: (letter: { to: string; sender: string; ip: string; raw: Buffer }) => Promise<Taken>
}
async function wholeOf(stream: SMTPServerDataStream): Promise<Buffer> {
  const pieces: Buffer[] = []
  let size = 0
  for await (const piece of stream as AsyncIterable<Buffer>) {
    size += piece.length
    if (size <= mostBytes) pieces.push(piece)
    else pieces.length = 0
  }
  if (size > mostBytes) throw smtpRefusal(552, '5.3.4 A letter may have 25 MB at most')
  return Buffer.concat(pieces)
}

/** The response to a mail server whose letter was not accepted. */
function answerTo(error: unknown): Error {
  if (isSmtpRefusal(error)) return error
  if (error instanceof Refusal && error.code === 'invalid_input')
    return smtpRefusal(552, '5.2.2 This ticket is too long: write to the support address')
  if (error instanceof Refusal)
    return smtpRefusal(450, '4.7.1 Too many letters at once: try again later')
  return smtpRefusal(451, '4.3.0 Try again later')
}

export function createLetterListener(deps: LetterListenerDeps): SmtpListener {
  const { log, addresses, listenOn } = deps
  // One letter at a time is parsed: a large one takes memory and delays other calls.
  const reading = createGate({ atOnce: 1, waiting: mostConnections })

  return createSmtpListener({
    log,
    listenOn,
    options: {
      name: addresses.domain,
      banner: 'letters to the support',
      size: mostBytes,
      maxClients: mostConnections,
      socketTimeout: idleMs,
      onMailFrom(_sender, { remoteAddress }, done) {
        deps.admit(remoteAddress).then(
          () => done(),
          (error: unknown) => done(answerTo(error)),
        )
      },
      onRcptTo({ address }, session, done) {
        if (session.envelope.rcptTo.length > 0)
          return done(smtpRefusal(452, '4.5.3 One recipient at a time'))
        const small = address.toLowerCase()
        if (small === addresses.support || addresses.ticketOf(small) !== undefined) return done()
        return done(smtpRefusal(550, '5.1.1 There is no such address here'))
      },
      onData(stream, session, done) {
        const { mailFrom, rcptTo } = session.envelope
        const ip = session.remoteAddress
        const to = rcptTo[0]?.address ?? ''
        const sender = mailFrom ? mailFrom.address : ''
        const take = async (): Promise<void> => {
          const raw = await wholeOf(stream)
          const taken = await reading.run(() => deps.take({ to, sender, ip, raw }))
          log.info({ event: 'support_letter', taken, bytes: raw.length }, 'a letter to the support')
          if (taken === 'unreadable') throw smtpRefusal(550, '5.6.0 This letter has no one sender')
        }
        take().then(
          () => done(null, 'taken'),
          (error: unknown) => {
            const answer = answerTo(error)
            if (isSmtpRefusal(answer) && answer.responseCode === 451)
              log.error({ err: error }, 'a letter to the support was not taken')
            done(answer)
          },
        )
      },
    },
  })
}
