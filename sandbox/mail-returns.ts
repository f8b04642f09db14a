/**
 * Bounces of letters after they were accepted: the final mail server reports to the envelope's
 * sender (RFC 3464).
 */
import { createTransport } from 'nodemailer'

export interface ReportsTo {
  readonly host: string
  readonly port: number
}

const domain = 'returns.example'
/** By the name before the @; every other name does not exist. */
const reasons: Readonly<Record<string, { action: string; status: string; text: string }>> = {
  full: { action: 'failed', status: '4.2.2', text: '452 4.2.2 The mailbox is full' },
  late: { action: 'delayed', status: '4.4.1', text: '421 4.4.1 No answer yet' },
  spam: { action: 'failed', status: '5.7.1', text: '550 5.7.1 This looks like spam' },
}
const unknown = { action: 'failed', status: '5.1.1', text: '550 5.1.1 No such user here' }

export const comesBack = (address: string): boolean => address.toLowerCase().endsWith(`@${domain}`)

/** A bounce report as Postfix writes it. */
function reportFor({ sender, recipient }: { sender: string; recipient: string }): string {
  const { action, status, text } = reasons[recipient.split('@')[0] ?? ''] ?? unknown
  return [
    `From: MAILER-DAEMON@${domain} (Mail Delivery System)`,
    `To: ${sender}`,
    'Subject: Undelivered Mail Returned to Sender',
    'Auto-Submitted: auto-replied',
    'MIME-Version: 1.0',
    'Content-Type: multipart/report; report-type=delivery-status; boundary="report"',
    '',
    '--report',
    'Content-Type: text/plain; charset=us-ascii',
    '',
    'Your message could not be delivered to one or more recipients.',
    '',
    '--report',
    'Content-Type: message/delivery-status',
    '',
    `Reporting-MTA: dns; mx.${domain}`,
    '',
    `Final-Recipient: rfc822; ${recipient}`,
    `Action: ${action}`,
    `Status: ${status}`,
    `Diagnostic-Code: smtp; ${text.replace(' The', '\r\n    The')}`,
    '',
    '--report--',
    '',
  ].join('\r\n')
}

const [firstMs, mostTries] = [20, 8]

/** Sends reports; one that is not accepted is sent again, with growing delays. */
export function createReturns(to: ReportsTo, log: (line: string) => void) {
  const transport = createTransport({ ...to, ignoreTLS: true, connectionTimeout: 2_000 })
  const timers = new Set<NodeJS.Timeout>()

  function later(of: { sender: string; recipient: string }, tries: number): void {
    const timer = setTimeout(
      () => {
        timers.delete(timer)
        transport
          .sendMail({ envelope: { from: '', to: [of.sender] }, raw: reportFor(of) })
          .catch((error: unknown) => {
            if (tries < mostTries) later(of, tries + 1)
            else
              log(`sandbox: a report was not taken: ${error instanceof Error ? error.message : ''}`)
          })
      },
      firstMs * 2 ** tries,
    )
    timers.add(timer)
  }
  return {
    giveBack: (of: { sender: string; recipient: string }) => later(of, 0),
    async close(): Promise<void> {
      for (const timer of timers) clearTimeout(timer)
      transport.close()
    },
  }
}
