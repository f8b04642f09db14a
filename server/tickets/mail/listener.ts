/**
 * Takes letters to the support by SMTP, from the mail server of their domain or from anywhere. It
 * passes nothing on, and no letter is answered by it but with a receipt to a proven customer.
 */
import { once } from 'node:events'
import type { SMTPServer, SMTPServerDataStream } from 'smtp-server'
import { Refusal } from '../../platform/errors.ts'
import { createGate } from '../../platform/gate.ts'
import type { Log } from '../../platform/log.ts'
import type { Taken } from './intake.ts'
import type { ReplyAddresses } from './reply-address.ts'

/** As much as the large mailboxes send. */
const mostBytes = 25_000_000
const mostConnections = 10
const idleMs = 60_000
/** Connections that are open when it ends have so long. */
const endMs = 2_000

export interface LetterListenerDeps {
  readonly log: Log
  readonly addresses: ReplyAddresses
  readonly listenOn: { readonly host: string; readonly port: number }
  /** Refuses with rate_limited where a network sends too much; each letter takes time to read. */
  readonly admit: (ip: string) => Promise<void>
  readonly take: (letter: { to: string; sender: string; ip: string; raw: Buffer }) => Promise<Taken>
}
export interface LetterListener {
  start(): Promise<void>
  /** Takes no new connection. */
  stop(): void
  close(): Promise<void>
}

const refusal = (code: number, text: string): Error =>
  Object.assign(new Error(text), { responseCode: code })

async function wholeOf(stream: SMTPServerDataStream): Promise<Buffer> {
  const pieces: Buffer[] = []
  let size = 0
  for await (const piece of stream as AsyncIterable<Buffer>) {
    size += piece.length
    if (size <= mostBytes) pieces.push(piece)
    else pieces.length = 0
  }
  if (size > mostBytes) throw refusal(552, '5.3.4 A letter may have 25 MB at most')
  return Buffer.concat(pieces)
}

/** What a mail server is told of a letter that was not taken. */
function answerTo(error: unknown): Error {
  if (error instanceof Error && 'responseCode' in error) return error
  if (error instanceof Refusal && error.code === 'invalid_input')
    return refusal(552, '5.2.2 This ticket is too long: write to the support address')
  if (error instanceof Refusal)
    return refusal(450, '4.7.1 Too many letters at once: try again later')
  return refusal(451, '4.3.0 Try again later')
}

export function createLetterListener(deps: LetterListenerDeps): LetterListener {
  const { log, addresses, listenOn } = deps
  let server: SMTPServer | undefined
  // One letter is read at a time: a large one takes memory, and others' calls wait meanwhile.
  const reading = createGate({ atOnce: 1, waiting: mostConnections })

  async function open(): Promise<SMTPServer> {
    // Loaded where it is used: many portals take no letters.
    const { SMTPServer } = await import('smtp-server')
    return new SMTPServer({
      name: addresses.domain,
      banner: 'letters to the support',
      disabledCommands: ['AUTH', 'STARTTLS'],
      authOptional: true,
      disableReverseLookup: true,
      size: mostBytes,
      maxClients: mostConnections,
      socketTimeout: idleMs,
      closeTimeout: endMs,
      logger: false,
      onMailFrom(_sender, { remoteAddress }, done) {
        deps.admit(remoteAddress).then(
          () => done(),
          (error: unknown) => done(answerTo(error)),
        )
      },
      onRcptTo({ address }, session, done) {
        if (session.envelope.rcptTo.length > 0)
          return done(refusal(452, '4.5.3 One recipient at a time'))
        const small = address.toLowerCase()
        if (small === addresses.support || addresses.ticketOf(small) !== undefined) return done()
        return done(refusal(550, '5.1.1 There is no such address here'))
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
          if (taken === 'unreadable') throw refusal(550, '5.6.0 This letter has no one sender')
        }
        take().then(
          () => done(null, 'taken'),
          (error: unknown) => {
            const answer = answerTo(error)
            if ((answer as { responseCode?: number }).responseCode === 451)
              log.error({ err: error }, 'a letter to the support was not taken')
            done(answer)
          },
        )
      },
    })
  }
  return {
    async start() {
      const opened = await open()
      server = opened
      // What a client breaks is its own affair; without a listener it would end the process.
      opened.on('error', (error) => log.debug({ err: error }, 'a connection with a letter broke'))
      opened.server.listen(listenOn.port, listenOn.host)
      await once(opened.server, 'listening')
    },
    stop: () => void server?.server.close(),
    async close() {
      const opened = server
      server = undefined
      if (opened) await new Promise<void>((resolve) => opened.close(() => resolve()))
    },
  }
}
