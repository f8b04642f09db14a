/**
 * Structured log lines on stderr. Secrets never reach them: what could hold one is redacted by
 * name.
 */
import pino from 'pino'

export type Log = pino.Logger

const redacted = ['password', 'token', 'ticket', 'authorization', 'secret', 'apiKey', 'pan']

/** `level`: pino's names, `silent` among them. Lines go to stderr unless a test asks for them. */
export const createLog = (
  level: string,
  destination: pino.DestinationStream = pino.destination({ dest: 2, sync: false }),
): Log =>
  pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      // Logs an error's own fields only: the database driver attaches its whole connection to the
      // error.
      serializers: {
        err: (error: Error & { code?: unknown }) => ({
          type: error.name,
          message: error.message,
          code: error.code,
          stack: error.stack,
          cause: error.cause instanceof Error ? error.cause.message : undefined,
        }),
      },
      redact: { paths: redacted.flatMap((name) => [name, `*.${name}`]), censor: '[redacted]' },
    },
    destination,
  )
