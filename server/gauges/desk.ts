/** What waits for the staff at the desk, with a day of its own. */
import { soonestEvidence } from '../payments/index.ts'
import { oldestOpenTicketMs } from '../tickets/index.ts'
import type { GaugeParts } from './parts.ts'

/** Shown while no dispute waits. */
const monthSeconds = 30 * 86_400

export function defineDeskGauges({
  db,
  clock,
  metrics,
}: Pick<GaugeParts, 'db' | 'clock' | 'metrics'>): void {
  metrics.gauge(
    'portal_tickets_oldest_seconds',
    'How long the longest waiting ticket has waited for an answer of the staff; 0 when none waits',
    async () => (await oldestOpenTicketMs(db, clock)) / 1000,
  )
  metrics.gauge(
    'portal_dispute_evidence_seconds',
    'Time until evidence is due for the most urgent dispute that nobody has answered; a month ' +
      'when none waits',
    async () => {
      const due = await soonestEvidence(db, clock.now())
      const leftMs = due === null ? Infinity : due.getTime() - clock.now().getTime()
      return Math.min(monthSeconds, leftMs / 1000)
    },
  )
}
