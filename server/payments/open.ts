/** Opens the payments module: its parts, put together. */
import type { Catalog } from '../catalog/index.ts'
import type { Clock } from '../platform/clock.ts'
import type { Database } from '../platform/db.ts'
import type { Jobs } from '../platform/jobs.ts'
import type { Limit } from '../platform/limits.ts'
import type { Log } from '../platform/log.ts'
import type { Ledger } from '../wallet/index.ts'
import type { Billing } from '../billing/index.ts'
import { createAutoTopUps, type AutoTopUps } from './auto-top-up.ts'
import { defineAutoTopUp } from './auto-top-up-run.ts'
import { createCards, type Cards } from './cards.ts'
import { createCheckout, type Checkout } from './checkout.ts'
import { defineComparisons } from './differences.ts'
import { defineEvidenceReminders, type DisputeLetterDeps } from './dispute-letters.ts'
import {
  createDisputeAnswers,
  createDisputes,
  type DisputeAnswers,
  type Disputes,
} from './disputes.ts'
import type { Letters } from './letters.ts'
import type { PaymentDriver } from './driver.ts'
import { defineForgettingCards } from './forget-cards.ts'
import { createInquiry, type Inquiry } from './inquiry.ts'
import { defineSettlingMovements } from './movements.ts'
import { createOrders, type Orders } from './orders.ts'
import { definePayouts } from './payouts.ts'
import { createRefunds } from './refunds.ts'
import type { Refunds } from './refund-terms.ts'
import { createSettlement, type Settlement, type SettlementDeps } from './settle.ts'
import { defineReplays } from './webhooks.ts'

export interface Payments {
  readonly checkout: Checkout
  readonly cards: Cards
  readonly autoTopUps: AutoTopUps
  readonly orders: Orders
  readonly refunds: Refunds
  readonly settlement: Settlement
  readonly disputes: Disputes
  readonly disputeAnswers: DisputeAnswers
  readonly inquiry: Pick<Inquiry, 'askNow'>
}

/** The operator's tools for the shell. They settle nothing and begin no payment. */
export function openOperatorTools(deps: {
  db: Database
  clock: Clock
  ledger: Ledger
  jobs: Jobs
  log: Log
  catalog: Catalog
  drivers: ReadonlyMap<string, PaymentDriver>
  letters: Letters
  portalUrl: string
}): Pick<Payments, 'orders' | 'refunds' | 'disputeAnswers'> {
  const orders = createOrders({ ...deps, onOpened: async () => undefined })
  return {
    orders,
    refunds: createRefunds({ ...deps, orders }),
    disputeAnswers: createDisputeAnswers(deps),
  }
}

export function openPayments(
  deps: SettlementDeps &
    DisputeLetterDeps & {
      catalog: Catalog
      drivers: ReadonlyMap<string, PaymentDriver>
      portalUrl: string
      /** Gaps between the questions about a pending payment, seconds. */
      askGatewaySeconds?: readonly number[] | undefined
      /** Limit of card attempts per customer. */
      refusals: Limit
      /** The amount that renewals need from a wallet until a given time. */
      fundsOf: Billing['fundsOf']
    },
): Payments {
  const settlement = createSettlement(deps)
  // The two depend on each other: a new payment schedules a query, and a query needs the payment's
  // order.
  const orders: Orders = createOrders({
    ...deps,
    onOpened: (tx, made) => inquiry.schedule(tx, made),
  })
  const inquiry: Inquiry = createInquiry({
    ...deps,
    settlement,
    orders,
    gapsSeconds: deps.askGatewaySeconds,
  })
  defineSettlingMovements({ ...deps, settlement })
  defineForgettingCards(deps)
  definePayouts(deps)
  defineComparisons({ ...deps, orders, settlement })
  const disputes = createDisputes({ ...deps, settlement })
  defineEvidenceReminders(deps)
  defineAutoTopUp({ ...deps, orders, settlement })
  const cards = createCards({ ...deps, orders, settlement })
  defineReplays({ ...deps, orders, settlement, disputes })
  return {
    settlement,
    orders,
    checkout: createCheckout({ ...deps, orders }),
    cards,
    autoTopUps: createAutoTopUps({ ...deps, cards }),
    refunds: createRefunds({ ...deps, orders }),
    disputes,
    disputeAnswers: createDisputeAnswers(deps),
    inquiry,
  }
}
