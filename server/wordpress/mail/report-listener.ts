/**
 * Takes reports about letters of sites, by SMTP, from any mail server. It accepts nothing else,
 * relays nothing and answers no letter, so no letter can loop.
 */
import type { SMTPServerDataStream } from 'smtp-server'
import type { Log } from '../../platform/log.ts'
import {
  createSmtpListener,
  isSmtpRefusal,
  smtpRefusal,
  type SmtpListener,
} from '../../platform/smtp-listener.ts'
import type { DeliveryReport } from './report.ts'
import { readReport } from './report.ts'
import type { ReturnPaths } from './return-path.ts'

/** A report comes before the letter that it returns, so the rest is read and dropped. */
const readBytes = 256 * 1_024
const mostBytes = 16_000_000
const mostConnections = 50
const idleMs = 30_000
/** Most reports about one letter: a mail server sends three or four at most. */
const mostAboutOne = 20
const lettersRemembered = 10_000

export interface ReportListenerDeps {
  readonly log: Log
  readonly returnPaths: ReturnPaths
  readonly listenOn: { readonly host: string; readonly port: number }
  /** Handles a report about a letter; answers whether anything changed. */
  readonly take: (mailId: bigint, report: DeliveryReport) => Promise<boolean>
}

/** The first bytes of a letter. Rejects when it is longer than any report. */
async function beginningOf(stream: SMTPServerDataStream): Promise<Buffer> {
  const pieces: Buffer[] = []
  let size = 0
  for await (const piece of stream as AsyncIterable<Buffer>) {
    if (size < readBytes) pieces.push(piece.subarray(0, readBytes - size))
    size += piece.length
  }
  if (size > mostBytes) throw smtpRefusal(552, '5.3.4 This is longer than a report')
  return Buffer.concat(pieces)
}

export function createReportListener(deps: ReportListenerDeps): SmtpListener {
  const { log, returnPaths, listenOn } = deps
  /** Number of reports about each letter; the most recently reported letters come last. */
  const reported = new Map<bigint, number>()

  function isReportedTooOften(mailId: bigint): boolean {
    const times = (reported.get(mailId) ?? 0) + 1
    reported.delete(mailId)
    reported.set(mailId, times)
    const [oldest] = reported.keys()
    if (reported.size > lettersRemembered && oldest !== undefined) reported.delete(oldest)
    return times > mostAboutOne
  }

  async function take(stream: SMTPServerDataStream, address: string): Promise<void> {
    const raw = await beginningOf(stream)
    const mailId = returnPaths.mailOf(address)
    const report = mailId === undefined ? undefined : await readReport(raw)
    if (mailId === undefined || !report) {
      // An out-of-office answer, a notice of a delay, or no report at all: its sender needs no
      // answer.
      log.debug({ address }, 'a letter to the address of reports says of no failure')
      return
    }
    const changed = await deps.take(mailId, report)
    log.info({ mail: String(mailId), status: report.status, changed }, 'a letter of a site is back')
  }

  return createSmtpListener({
    log,
    listenOn,
    options: {
      name: returnPaths.domain,
      banner: 'reports about letters of sites',
      size: mostBytes,
      maxClients: mostConnections,
      socketTimeout: idleMs,
      onMailFrom({ address }, _session, done) {
        // A report has an empty sender (RFC 3464, 2), so that no report is sent about a report.
        if (address === '') return done()
        return done(smtpRefusal(550, '5.7.1 Only reports about letters are taken here'))
      },
      onRcptTo({ address }, session, done) {
        if (session.envelope.rcptTo.length > 0)
          return done(smtpRefusal(452, '4.5.3 A report is about one letter'))
        const mailId = returnPaths.mailOf(address)
        if (mailId === undefined)
          return done(smtpRefusal(550, '5.1.1 There is no such address here'))
        if (isReportedTooOften(mailId))
          return done(smtpRefusal(450, '4.7.1 This letter was reported about too often'))
        return done()
      },
      onData(stream, session, done) {
        take(stream, session.envelope.rcptTo[0]?.address ?? '').then(
          () => done(null, 'taken'),
          (error: unknown) => {
            if (isSmtpRefusal(error)) return done(error)
            log.error({ err: error }, 'a report about a letter was not taken')
            done(smtpRefusal(451, '4.3.0 Try again later'))
          },
        )
      },
    },
  })
}
