/** Money that waits for a person, and how payments go. */
import { currencies } from '../../contract/money.ts'
import {
  moneyInSuspense,
  paymentStatuses,
  recentPayments,
  undecidedRefunds,
  type WaitingMoney,
} from '../payments/index.ts'
import type { Sample } from '../platform/metrics.ts'
import type { GaugeParts } from './parts.ts'

/** Every currency has a value, so that an alert sees the change from none. */
const byCurrency = (all: readonly WaitingMoney[], of: 'count' | 'amount'): Sample[] =>
  currencies.map((currency) => ({
    of: { currency },
    value: all.find((one) => one.currency === currency)?.[of] ?? 0,
  }))

export function defineMoneyGauges(
  parts: Pick<GaugeParts, 'db' | 'clock' | 'metrics' | 'gateways'>,
): void {
  const { db, clock, metrics, gateways } = parts
  metrics.source(
    {
      portal_suspense_payments: {
        type: 'gauge',
        help: 'Movements of money that match no payment (`npm run portal -- suspense`)',
        labels: ['currency'],
      },
      portal_suspense_minor_units: {
        type: 'gauge',
        help: 'Money that matches no payment, in minor units',
        labels: ['currency'],
      },
    },
    async () => {
      const waiting = await moneyInSuspense(db)
      return {
        portal_suspense_payments: byCurrency(waiting, 'count'),
        portal_suspense_minor_units: byCurrency(waiting, 'amount'),
      }
    },
  )
  metrics.source(
    {
      portal_refunds_undecided: {
        type: 'gauge',
        help: 'Refunds that the gateway has neither made nor refused yet',
        labels: ['currency'],
      },
      portal_refunds_undecided_minor_units: {
        type: 'gauge',
        help: 'Money of those refunds, in minor units',
        labels: ['currency'],
      },
    },
    async () => {
      const waiting = await undecidedRefunds(db)
      return {
        portal_refunds_undecided: byCurrency(waiting, 'count'),
        portal_refunds_undecided_minor_units: byCurrency(waiting, 'amount'),
      }
    },
  )
  metrics.source(
    {
      portal_payments_recent: {
        type: 'gauge',
        help:
          'Payments that were begun in the last hour, by gateway and how they stand: ' +
          `${paymentStatuses.join(', ')}`,
        labels: ['gateway', 'status'],
      },
    },
    async () => {
      const counts = await recentPayments(db, clock, gateways)
      return {
        portal_payments_recent: gateways.flatMap((gateway) =>
          paymentStatuses.map((status) => ({
            of: { gateway, status },
            value:
              counts.find((one) => one.gateway === gateway && one.status === status)?.count ?? 0,
          })),
        ),
      }
    },
  )
}
