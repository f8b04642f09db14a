/**
 * Handles due certificates: orders missing ones, renews at two thirds of their life, and earlier if
 * the authority asks for it, as it does for one that it revokes.
 */
import { hours, later, minutes, type Clock } from '../platform/clock.ts'
import { transaction, type Database, type Tx } from '../platform/db.ts'
import type { Jobs } from '../platform/jobs.ts'
import type { Log } from '../platform/log.ts'
import type { Issued } from './acme/x509.ts'
import { orderJob } from './align.ts'
import type { CertifiableNames } from './names.ts'
import type { Authority, Ordering } from './order.ts'
import type { OrderLimits } from './limits.ts'
import { mayOtherIssue, NotIssued, ShareUsedUp, toldOnCall, waitAfter } from './problems.ts'
import { warningLevel } from './warning.ts'
import {
  claim,
  forget,
  noOrder,
  someDue,
  update,
  writeIssued,
  type CertificateRow,
} from './store.ts'
import { inTurn, type DueName } from './turns.ts'

export interface RenewDeps {
  readonly db: Database
  readonly clock: Clock
  readonly log: Log
  readonly jobs: Jobs
  readonly names: CertifiableNames
  readonly ordering: Ordering
  readonly limits: Pick<OrderLimits, 'asked'>
  /** The first authority, and its fallback, which is used if the first issues nothing. */
  readonly authorities: readonly Authority[]
  /** Tells the edges that certificates changed. */
  readonly onChange: () => void
  /** Tells the owner of a site that a certificate could not be renewed. */
  readonly warn: (
    tx: Tx,
    of: { siteId: string; name: string; until: Date; isOver: boolean; detail: string },
  ) => Promise<void>
}

/** Parallel orders; an authority takes some seconds for each. */
const together = 4
/** A name whose customer's share is used up is tried again after this time. */
const shareMs = minutes(5)
/** Names planned at once: few, so that new names are considered soon. */
const plannedAtOnce = 8
/** A run stops claiming before its time limit; the next run, a minute later, takes the rest. */
const [limitSeconds, roundSeconds] = [900, 600]
/**
 * The lease of a name: after it a name of a killed worker is due again. Longer than two orders may
 * take.
 */
const leaseMs = minutes(15)
/** Interval between queries whether the authority wants a certificate renewed. */
const askMs = hours(24)
/**
 * No certificate is renewed sooner after its issue. Otherwise one whose dates are far from our
 * clock's, as in the sandbox with a moved clock, would be renewed endlessly.
 */
const soonestMs = hours(6)

/** At two thirds of its life, with a random offset from others that were issued together. */
export function renewalTime({ notBefore, notAfter }: Issued, random = Math.random()): Date {
  const lifeMs = notAfter.getTime() - notBefore.getTime()
  return later(notBefore, lifeMs * (2 / 3 - random / 100))
}

export function defineRenewing(deps: RenewDeps): { due(signal: AbortSignal): Promise<void> } {
  const { db, clock, log } = deps

  async function keep(
    row: CertificateRow,
    authority: Authority,
    issued: Issued & { readonly keySealed: Buffer },
  ): Promise<void> {
    const now = clock.now()
    const soonest = later(now, soonestMs)
    const due = renewalTime(issued)
    const renewAt = due > soonest ? due : soonest
    const nextAt = new Date(Math.min(renewAt.getTime(), later(now, askMs).getTime()))
    const { directory } = authority
    if (await writeIssued(db, row.id, { ...issued, directory, renewAt, nextAt })) {
      log.info(
        { name: row.name, issuer: issued.issuer, until: issued.notAfter },
        'a certificate was issued',
      )
      deps.onChange()
    }
  }

  async function keepProblem(row: CertificateRow, problem: NotIssued): Promise<void> {
    const now = clock.now()
    const attempts = row.attempts + 1
    const { not_before: notBefore, not_after: notAfter } = row
    const level = notBefore && notAfter ? warningLevel({ notBefore, notAfter }, now) : 0
    const detail = problem.message.slice(0, 500)
    await transaction(db, async (tx) => {
      const isThere = await update(tx, row.id, {
        attempts,
        problem: problem.code,
        problem_detail: detail,
        problem_at: now,
        next_at: later(now, waitAfter(problem, attempts)),
        ...(level > row.warned && { warned: level }),
      })
      if (!isThere || level <= row.warned || !notAfter || row.site_id === null) return
      const isOver = level === 3
      const of = { siteId: row.site_id, name: row.name, until: notAfter, isOver, detail }
      await deps.warn(tx, of)
    })
    log.warn(
      { name: row.name, problem: problem.code, detail: problem.message, attempts },
      'no certificate was issued',
    )
  }

  /** Uses the first authority that issues; if none does, the first one's message is kept. */
  async function issue(row: CertificateRow, signal: AbortSignal): Promise<void> {
    let first: NotIssued | undefined
    let present = row
    for (const authority of deps.authorities) {
      try {
        await keep(row, authority, await deps.ordering.order(present, authority, signal))
        return
      } catch (error) {
        // Stopped, not failed: the next process continues the order.
        if (signal.aborted || error instanceof ShareUsedUp) throw error
        const problem = toldOnCall(error)
        first ??= problem
        if (!mayOtherIssue(problem)) break
        // An order with one authority is useless to the other.
        present = { ...present, ...noOrder }
      }
    }
    if (first) await keepProblem(row, first)
  }

  /** Queries whether the authority wants it renewed now. Answers the next query's time. */
  async function askRenewal(row: CertificateRow): Promise<{ renewAt: Date; nextAt: Date }> {
    const now = clock.now()
    const planned = row.renew_at ?? now
    const window = await deps.ordering.renewalWindow(row).catch(() => undefined)
    const inWindow =
      window && later(window.start, Math.random() * (window.end.getTime() - window.start.getTime()))
    const renewAt = inWindow && inWindow < planned ? inWindow : planned
    const ask = later(now, Math.max(hours(1), Math.min(window?.waitMs ?? askMs, askMs)))
    return { renewAt, nextAt: renewAt < ask ? renewAt : ask }
  }

  async function look(row: CertificateRow, signal: AbortSignal): Promise<void> {
    const standing = await deps.names.standing(row.name)
    if (standing.is === 'gone') {
      await forget(db, row.name, row.site_id)
      deps.onChange()
      return
    }
    if (standing.is === 'unknown') {
      await keepProblem(row, new NotIssued('dns', 'nobody answered a question about the name'))
      return
    }
    const isKept = row.renew_at !== null && row.renew_at > clock.now()
    if (isKept) {
      const { renewAt, nextAt } = await askRenewal(row)
      if (renewAt > clock.now()) {
        await update(db, row.id, { renew_at: renewAt, next_at: nextAt })
        return
      }
      log.info({ name: row.name }, 'the authority wants a certificate renewed')
    }
    if (standing.is === 'elsewhere') {
      const found = standing.found.slice(0, 5).join(', ')
      await keepProblem(row, new NotIssued('not_pointed', found))
      return
    }
    await issue(row, signal)
  }

  /** The queue of one run, in turns by customer; all workers share it. */
  function openLine(): () => Promise<CertificateRow | undefined> {
    const served = new Map<string, number>()
    let line: DueName[] = []
    let planning: Promise<void> | undefined
    const plan = async (): Promise<void> => {
      const [first] = deps.authorities
      const due = await someDue(db, clock.now(), plannedAtOnce)
      if (due.length === 0 || !first) return
      const asked = await deps.limits.asked(first.directory)
      line = inTurn(due, { served, asked, count: plannedAtOnce })
    }
    return async () => {
      for (;;) {
        if (line.length === 0) {
          planning ??= plan().finally(() => (planning = undefined))
          await planning
        }
        const next = line.shift()
        if (!next) return undefined
        const now = clock.now()
        const row = await claim(db, next.id, { now, until: later(now, leaseMs) })
        if (!row) continue
        if (next.holder !== null) served.set(next.holder, (served.get(next.holder) ?? 0) + 1)
        return row
      }
    }
  }

  async function due(signal: AbortSignal): Promise<void> {
    const until = performance.now() + roundSeconds * 1000
    const next = openLine()
    const take = async (): Promise<void> => {
      while (!signal.aborted && performance.now() < until) {
        const row = await next()
        if (!row) return
        try {
          await look(row, signal)
        } catch (error) {
          if (signal.aborted) {
            await update(db, row.id, { next_at: row.next_at })
            return
          }
          if (error instanceof ShareUsedUp) {
            // Other names of the same customer have used up the share. This name has no fault.
            await update(db, row.id, { next_at: later(clock.now(), shareMs) })
            continue
          }
          log.error({ err: error, name: row.name }, 'looking at a certificate failed')
        } finally {
          await update(db, row.id, { leased_until: null })
        }
      }
    }
    await Promise.all(Array.from({ length: together }, take))
  }

  deps.jobs.define({
    name: orderJob,
    cron: '* * * * *',
    retries: 0,
    limitSeconds,
    run: (_payload, { signal }) => due(signal),
  })
  return { due }
}
