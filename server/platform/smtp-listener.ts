/**
 * A port that takes letters by SMTP and passes nothing on: the frame of what takes reports about
 * letters, and of what takes letters to the support.
 */
import { once } from 'node:events'
import type { SMTPServer, SMTPServerOptions } from 'smtp-server'
import type { Log } from './log.ts'

/** Time for open connections to finish when the listener closes, ms. */
const endMs = 2_000

export interface SmtpListener {
  start(): Promise<void>
  /** Takes no new connection. */
  stop(): void
  close(): Promise<void>
}

/** A refusal for the sending mail server (RFC 5321, 4.2; RFC 3463). */
export const smtpRefusal = (code: number, text: string): Error =>
  Object.assign(new Error(text), { responseCode: code })
/** Whether an error is such an answer. */
export const isSmtpRefusal = (error: unknown): error is Error & { responseCode: number } =>
  error instanceof Error && 'responseCode' in error

export function createSmtpListener(of: {
  readonly log: Log
  readonly listenOn: { readonly host: string; readonly port: number }
  readonly options: SMTPServerOptions &
    Required<Pick<SMTPServerOptions, 'name' | 'size' | 'maxClients' | 'onData'>>
}): SmtpListener {
  const { log, listenOn, options } = of
  let server: SMTPServer | undefined
  return {
    async start() {
      // Loaded where it is used: many portals take no letters.
      const { SMTPServer } = await import('smtp-server')
      const opened = new SMTPServer({
        // No STARTTLS: its certificate would be for no known name. No AUTH: nobody signs in.
        disabledCommands: ['AUTH', 'STARTTLS'],
        authOptional: true,
        disableReverseLookup: true,
        closeTimeout: endMs,
        logger: false,
        ...options,
      })
      server = opened
      // Without a listener, an error caused by a client would end the process.
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
