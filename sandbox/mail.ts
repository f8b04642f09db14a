/**
 * The mail server: takes every mail for everybody on a free loopback port and puts it into the
 * inbox.
 */
import { randomUUID } from 'node:crypto'
import type { AddressInfo } from 'node:net'
import { SMTPServer } from 'smtp-server'
import type { Database } from './database.ts'
import { deliver } from './inbox.ts'
import { readMail } from './mime.ts'

export interface MailServer {
  /** smtp://127.0.0.1:port */
  readonly url: string
  close(): Promise<void>
}

const maxBytes = 5_000_000

export async function startMail(db: Database, log: (line: string) => void): Promise<MailServer> {
  const server = new SMTPServer({
    disabledCommands: ['AUTH', 'STARTTLS'],
    authOptional: true,
    disableReverseLookup: true,
    size: maxBytes,
    closeTimeout: 500,
    logger: false,
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
          const mail = await readMail(Buffer.concat(chunks))
          const id = mail.messageId === '' ? randomUUID() : mail.messageId
          const text = [mail.subject, mail.text].filter((part) => part !== '').join('\n\n')
          await Promise.all(
            session.envelope.rcptTo.map(({ address }) =>
              deliver(db, { channel: 'mail', to: address, text, key: `mail:${id}:${address}` }),
            ),
          )
        }
        keep()
          .then(() => done(null, 'Message accepted'))
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
    close: () => new Promise((resolve) => server.close(() => resolve())),
  }
}
