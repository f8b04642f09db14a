/** Closing of a customer's account: what must be settled before, and what is erased. */
import type { Obstacle } from '../../contract/personal-data.ts'
import { eraseAccount, type EndLive } from '../auth/index.ts'
import { openInvoices, paidForAnother } from '../billing/index.ts'
import { forgetImported } from '../customer-import/index.ts'
import { forgetRecords, ownedDomains } from '../dns/index.ts'
import { forgetOffers } from '../hand-over/index.ts'
import { forgetLetters } from '../messages/index.ts'
import {
  forgetAddresses,
  forgetAutoTopUp,
  forgetCardsJob,
  paymentsUnderWay,
} from '../payments/index.ts'
import type { Clock } from '../platform/clock.ts'
import type { Queryable, Tx } from '../platform/db.ts'
import type { Jobs } from '../platform/jobs.ts'
import { forgetNotifications, type OperatorOutbox } from '../realtime/index.ts'
import { forgetTickets } from '../tickets/index.ts'
import { forgetTeam, type EndWork } from '../team/index.ts'
import { endTokens } from '../tokens/index.ts'
import { forgetRequests } from './requests.ts'
import { endCreditLine, owesAnything, type Ledger } from '../wallet/index.ts'
import { forgetEndpoints } from '../webhooks/index.ts'
import { forgetServers, ownedServers } from '../wordpress/index.ts'

export interface CloseNeeds {
  readonly clock: Clock
  readonly ledger: Pick<Ledger, 'balanceOf'>
  readonly jobs: Pick<Jobs, 'add'>
  readonly endLive: EndLive
  readonly endWork: EndWork
  /** Taken before the account, as every act of the staff does. */
  readonly holdTrail: (tx: Tx) => Promise<void>
  readonly outbox: OperatorOutbox
  /** Erases the staff's texts about a customer. */
  readonly forgetAtDesk: (tx: Tx, clock: Clock, customerId: string) => Promise<void>
}

/** What the customer must first end, delete, pay or take out. */
export async function obstaclesOf(
  db: Queryable,
  { clock, ledger }: Pick<CloseNeeds, 'clock' | 'ledger'>,
  customerId: string,
): Promise<Obstacle[]> {
  const found: readonly (readonly [Obstacle, boolean])[] = [
    ['servers', (await ownedServers(db, customerId)) > 0],
    ['domains', (await ownedDomains(db, customerId)) > 0],
    ['invoices', (await openInvoices(db, customerId)) > 0],
    ['payments', (await paymentsUnderWay(db, customerId)) > 0],
    ['debts', await owesAnything(db, customerId)],
    ['handedOver', (await paidForAnother(db, clock, customerId)) !== null],
    ['balance', (await ledger.balanceOf(db, customerId)).balance !== 0n],
  ]
  return found.flatMap(([obstacle, stands]) => (stands ? [obstacle] : []))
}

/**
 * Erases what is personal, in one transaction; answers where to say goodbye to. Cards are unlinked
 * at their provider by a job. Invoices and the ledger stay as the law asks.
 */
export async function closeAccount(
  tx: Tx,
  needs: CloseNeeds,
  of: { readonly customerId: string; readonly passwordHash: string },
): Promise<{ readonly email: string }> {
  const { customerId } = of
  await needs.jobs.add(tx, forgetCardsJob, { customerId })
  await endTokens(tx, customerId)
  await forgetOffers(tx, customerId)
  await forgetTeam(tx, needs.endWork, customerId)
  await forgetEndpoints(tx, customerId)
  await forgetNotifications(tx, customerId)
  await forgetServers(tx, customerId)
  await forgetRecords(tx, customerId)
  await forgetAddresses(tx, customerId)
  await forgetAutoTopUp(tx, customerId)
  await endCreditLine(tx, customerId)
  await needs.forgetAtDesk(tx, needs.clock, customerId)
  await forgetImported(tx, customerId)
  await forgetRequests(tx, needs.clock, customerId)
  const { email, phone, former } = await eraseAccount(tx, needs, of)
  await forgetTickets(tx, { customerId, email, former })
  await forgetLetters(tx, [email, phone], former)
  // The event names the customer by id only, and stays after the other events about them are
  // erased.
  const told = { event: 'customer.closed', customerId: null } as const
  await needs.outbox.tellOperator(tx, { ...told, payload: { customer_id: customerId } })
  return { email }
}
