/** Certificates of host names: how many, and which an operator has to look after. */
import { countCertificates } from '../certificates/index.ts'
import type { GaugeParts } from './parts.ts'

export function defineCertificateGauges({
  db,
  clock,
  metrics,
}: Pick<GaugeParts, 'db' | 'clock' | 'metrics'>): void {
  metrics.source(
    {
      portal_certificates: {
        type: 'gauge',
        help:
          'Host names by their certificate: issued; pending; failed (there is none, and the last ' +
          'try came to nothing); expired (it has ended, and the name still leads here); ' +
          'not_renewed (valid, and its renewal failed)',
        labels: ['state'],
      },
      portal_certificates_operator: {
        type: 'gauge',
        help:
          'Host names without a new certificate whose cause only the operator can mend: ' +
          "the portal's own, and those of a refused account",
      },
      portal_certificate_first_end_seconds: {
        type: 'gauge',
        help:
          'Time until the first certificate ends that was not renewed, of a name that leads ' +
          'here; negative for a week after its end; a month when none waits',
      },
    },
    async () => {
      const counts = await countCertificates(db, clock.now())
      const { firstEnd } = counts
      const monthSeconds = 30 * 86_400
      const leftMs = firstEnd === undefined ? Infinity : firstEnd.getTime() - clock.now().getTime()
      return {
        portal_certificates: [
          { of: { state: 'issued' }, value: counts.issued },
          { of: { state: 'pending' }, value: counts.pending },
          { of: { state: 'failed' }, value: counts.failed },
          { of: { state: 'expired' }, value: counts.expired },
          { of: { state: 'not_renewed' }, value: counts.notRenewed },
        ],
        portal_certificates_operator: counts.operators,
        portal_certificate_first_end_seconds: Math.min(monthSeconds, leftMs / 1000),
      }
    },
    'costly',
  )
}
