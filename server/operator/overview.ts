/**
 * The first page of the desk, in one call. Each number is counted by an index of open items, or by
 * a list with a limit.
 */
import type { Overview } from '../../contract/operator-overview.ts'
import { countOverdue } from '../billing/index.ts'
import { failingNames } from '../certificates/index.ts'
import { countGivenUp } from '../messages/index.ts'
import {
  countOpenDisputes,
  moneyInSuspense,
  openQuestions,
  type PaymentDriver,
} from '../payments/index.ts'
import type { Clock } from '../platform/clock.ts'
import type { Database } from '../platform/db.ts'
import { givenUpByQueue } from '../platform/job-inspection.ts'
import { countOpenRequests } from '../privacy/index.ts'
import { countOpenTickets } from '../tickets/index.ts'
import { lastCheck } from '../wallet/index.ts'
import { countSites, countSilentNodes, failedBackups, stuckWork } from '../wordpress/index.ts'
import { countProposals } from './proposals.ts'

interface Needs {
  readonly db: Database
  readonly clock: Clock
  readonly drivers: ReadonlyMap<string, PaymentDriver>
}

const sum = (numbers: Iterable<number>): number => {
  let total = 0
  for (const one of numbers) total += one
  return total
}

async function faultsOf({ db, clock }: Needs): Promise<Overview['faults']> {
  const [check, nodes, sites, stuck, jobs, names, backups, letters] = await Promise.all([
    lastCheck(db),
    countSilentNodes(db),
    countSites(db),
    stuckWork(db),
    givenUpByQueue(db),
    failingNames(db),
    failedBackups(db),
    countGivenUp(db, clock),
  ])
  return {
    ledger: Math.max(check.findings, Number(check.failed)),
    nodes,
    serversDown: sites.down,
    stuck: stuck.length,
    jobs: sum(jobs.values()),
    certificates: names.length,
    // A server may appear for several nights: count it once.
    backups: new Set(
      backups.filter(({ provenSince }) => provenSince === null).map(({ serverId }) => serverId),
    ).size,
    letters: sum(letters.values()),
  }
}

async function waitingOf(needs: Needs): Promise<Overview['waiting']> {
  const { db, clock } = needs
  const now = clock.now()
  const [proposals, tickets, dataRequests, suspense, questions, disputes, overdue] =
    await Promise.all([
      countProposals(db, now),
      countOpenTickets(db),
      countOpenRequests(db),
      moneyInSuspense(db),
      openQuestions(needs, now),
      countOpenDisputes(db),
      countOverdue(db),
    ])
  return {
    proposals,
    tickets,
    dataRequests,
    suspense: sum(suspense.map(({ count }) => count)),
    differences: questions.items.filter(({ kind }) => kind !== 'suspense').length,
    disputes,
    overdueInvoices: overdue,
  }
}

/** In two steps, so that the page takes at most half of a small pool of connections. */
export async function overviewOf(needs: Needs): Promise<Overview> {
  const faults = await faultsOf(needs)
  return { faults, waiting: await waitingOf(needs) }
}
