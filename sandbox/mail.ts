/**
 * The mail server: accepts every mail to any address on a free loopback port and puts it into the
 * inbox. Addresses at two domains are refused, and mail to a third one bounces later, so that each
 * result can be tried.
 */
import { randomUUID } from 'node:crypto'
import type { AddressInfo } from 'node:net'
import { SMTPServer } from 'smtp-server'
import type { Database } from './database.ts'
import { deliver } from './inbox.ts'
import { comesBack, createReturns, type ReportsTo } from './mail-returns.ts'
import { readMail } from './mime.ts'

export interface MailServer {
  /** smtp://127.0.0.1:port */
  readonly url: string
  close(): Promise<void>
}

/** A site's largest letter (10 MB), with its envelope and encoding. */
const maxBytes = 16_000_000

/** The answer for a recipient's domain; every other domain is accepted. */
const refusals: Readonly<Record<string, { readonly code: number; readonly text: string }>> = {
  'bounce.example': { code: 550, text: '5.1.1 No such user here' },
  'later.example': { code: 451, text: '4.7.1 Try again later' },
}

/** @param reportsTo where the portal receives bounce reports */
export async function startMail(
  db: Database,
  log: (line: string) => void,
  reportsTo?: ReportsTo,
): Promise<MailServer> {
  const returns = reportsTo && createReturns(reportsTo, log)
  const server = new SMTPServer({
    disabledCommands: ['AUTH', 'STARTTLS'],
    authOptional: true,
    disableReverseLookup: true,
    size: maxBytes,
    closeTimeout: 500,
    logger: false,
    onRcptTo({ address }, _session, done) {
      const refusal = refusals[address.slice(address.lastIndexOf('@') + 1).toLowerCase()]
      if (!refusal) return done()
      return done(Object.assign(new Error(refusal.text), { responseCode: refusal.code }))
    },
    onData(stream, session, done) {
      const chunks: Buffer[] = []
      let size = 0
      stream.on('data', (chunk: Buffer) => {
        size += chunk.length
        if (size <= maxBytes) chunks.push(chunk)
      })
      stream.on('end', () => {
        if (size > maxBytes) {
          done(Object.assign(new Error('Message too large'), { responseCode: 552 }))
          return
        }
        const keep = async (): Promise<void> => {
          const raw = Buffer.concat(chunks)
          const mail = await readMail(raw)
          const id = mail.messageId === '' ? randomUUID() : mail.messageId
          const text = [mail.subject, mail.text].filter((part) => part !== '').join('\n\n')
          await Promise.all(
            session.envelope.rcptTo.map(({ address }) =>
              deliver(db, {
                channel: 'mail',
                to: address,
                text,
                key: `mail:${id}:${address}`,
                raw,
                replyTo: mail.replyTo,
                from: session.envelope.mailFrom ? session.envelope.mailFrom.address : '',
              }),
            ),
          )
        }
        keep()
          .then(() => {
            // The session forgets these after the answer.
            const { mailFrom, rcptTo } = session.envelope
            const sender = mailFrom ? mailFrom.address : ''
            done(null, 'Message accepted')
            for (const { address: recipient } of rcptTo)
              if (comesBack(recipient)) returns?.giveBack({ sender, recipient })
          })
          .catch((error: unknown) => {
            log(
              'sandbox: a mail could not be kept: ' +
                `${error instanceof Error ? error.message : 'unknown'}`,
            )
            done(Object.assign(new Error('Try again later'), { responseCode: 451 }))
          })
      })
    },
  })
  server.on('error', (error) => log(`sandbox: mail: ${error.message}`))
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(0, '127.0.0.1', () => {
      server.off('error', reject)
      resolve()
    })
  })
  return {
    url: `smtp://127.0.0.1:${(server.server.address() as AddressInfo).port}`,
    async close() {
      await returns?.close()
      await new Promise<void>((resolve) => server.close(() => resolve()))
    },
  }
}
