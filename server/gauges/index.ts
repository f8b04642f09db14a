/**
 * The operator's gauges (docs/operate.md, "Health"), read at each /metrics. Names without `portal_`
 * are older than that rule, and stay for the alerts that use them.
 */
import { diskSpaceOf } from '../platform/disk-space.ts'
import { countGivenUp, messageChannels } from '../messages/index.ts'
import { overdueRequests } from '../privacy/index.ts'
import * as wallet from '../wallet/index.ts'
import { defineJobGauges } from './jobs.ts'
import { defineMoneyGauges } from './money.ts'
import { defineCertificateGauges } from './certificates.ts'
import type { GaugeParts } from './parts.ts'
import { defineDeskGauges } from './desk.ts'
import { defineProcessGauges } from './processes.ts'
import { defineSiteGauges } from './sites.ts'

export { createMeters } from './meters.ts'

export function defineGauges(parts: GaugeParts): void {
  const { db, metrics } = parts
  metrics.source(
    {
      ledger_findings: {
        type: 'gauge',
        help: 'Invariants of the ledger that the last finished check found broken',
      },
      ledger_check_failed: {
        type: 'gauge',
        help: '1 when the newest check of the ledger could not be carried out',
      },
      ledger_check_good_timestamp_seconds: {
        type: 'gauge',
        help: 'When a check of the ledger last found nothing broken; 0 for never',
      },
    },
    async () => {
      const { findings, failed, goodAt } = await wallet.lastCheck(db)
      return {
        ledger_findings: findings,
        ledger_check_failed: Number(failed),
        ledger_check_good_timestamp_seconds: goodAt,
      }
    },
  )
  metrics.gauge(
    'portal_data_requests_overdue',
    'Requests about personal data that are open after the day by which the law wants an answer',
    () => overdueRequests(db, parts.clock),
  )
  metrics.gauge(
    'billing_waiting',
    'Subscriptions that should have been looked at more than five minutes ago',
    parts.waitingSubscriptions,
  )
  metrics.source(
    {
      portal_disk_free_bytes: { type: 'gauge', help: 'Room that is left on the disk of DATA_DIR' },
      portal_disk_size_bytes: { type: 'gauge', help: 'Size of the disk of DATA_DIR' },
    },
    async () => {
      const { free, size } = await diskSpaceOf(parts.dataDir)
      return { portal_disk_free_bytes: free, portal_disk_size_bytes: size }
    },
  )
  metrics.gauge('messages_waiting', 'Mails and SMS that are not sent yet', parts.waitingMessages)
  metrics.source(
    {
      portal_messages_given_up: {
        type: 'gauge',
        help: 'Mails and SMS that were given up within the last 24 hours and not sent again',
        labels: ['channel'],
      },
    },
    async () => {
      const counts = await countGivenUp(db, parts.clock)
      return {
        portal_messages_given_up: messageChannels.map((channel) => ({
          of: { channel },
          value: counts.get(channel) ?? 0,
        })),
      }
    },
    'costly',
  )
  metrics.gauge('realtime_connections', 'Open realtime connections', parts.connections)
  defineSiteGauges(parts)
  defineCertificateGauges(parts)
  defineJobGauges(parts)
  defineMoneyGauges(parts)
  defineDeskGauges(parts)
  defineProcessGauges(parts)
}
