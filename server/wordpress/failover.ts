/**
 * Servers with a mirror come up elsewhere by rule, when their node is silent (decision 135). Every
 * process of the portal asks such nodes every few seconds, which lets them take writes for a while
 * longer. One that does not answer stops to take writes by itself; then whichever process has found
 * it silent for long enough brings the servers up, in one transaction, once.
 */
import net from 'node:net'
import { readHostAndPort } from '../../contract/host-and-port.ts'
import { seconds, type Clock } from '../platform/clock.ts'
import { transaction, type Database } from '../platform/db.ts'
import type { Jobs } from '../platform/jobs.ts'
import type { Log } from '../platform/log.ts'
import { beginFailover, nodesToAsk, type AskedNode, type FailoverOutbox } from './failover-store.ts'
import type { Nodes } from './routed-driver.ts'
import { within } from './within.ts'

export interface FailoverDeps {
  readonly db: Database
  readonly clock: Clock
  readonly log: Log
  readonly jobs: Pick<Jobs, 'add'>
  readonly outbox: FailoverOutbox
  readonly nodes: Pick<Nodes, 'tell' | 'heardAt' | 'reachable' | 'reopen'>
  /** For so long a node is silent before its mirrored servers come up elsewhere, ms. */
  readonly afterMs: number
  /** The node of this machine: that it answers says nothing of the network. */
  readonly own: string | null
  /** host:port that answers while the network of this machine works; null: there is none. */
  readonly witness: string | null
}

/** Beyond the time that is promised: clocks run apart, and what is under way ends. */
const mostMarginMs = seconds(5)
const mostLookMs = seconds(3)
const mostAskMs = seconds(2)

const marginOf = (afterMs: number): number => Math.min(mostMarginMs, Math.floor(afterMs / 3))

/** For how long a node without a word of a portal may take writes for mirrored servers, ms. */
export const mirroredLeaseMs = (afterMs: number): number => afterMs - marginOf(afterMs)

/** Whether something listens there. */
function answers(address: string, ms: number): Promise<boolean> {
  const to = readHostAndPort(address)
  if (!to) return Promise.resolve(false)
  return new Promise((resolve) => {
    const socket = net.connect({ ...to, timeout: ms })
    const end = (is: boolean): void => {
      socket.destroy()
      resolve(is)
    }
    socket.once('connect', () => end(true))
    socket.once('error', () => end(false))
    socket.once('timeout', () => end(false))
  })
}

export interface Failover {
  start(): void
  /** Looks now; of a look that is under way, its end. */
  look(): Promise<void>
  stop(): void
}

export function createFailover(deps: FailoverDeps): Failover {
  const { db, log, nodes, afterMs } = deps
  const lookMs = Math.min(mostLookMs, afterMs / 5)
  const askMs = Math.min(mostAskMs, lookMs)
  /** Since when looks have found each node silent, one after the other (performance.now). */
  const silentSince = new Map<string, number>()
  const told = new Set<string>()
  const reopened = new Set<string>()
  let asked: readonly AskedNode[] = []
  let lookedAt = performance.now()
  let timer: NodeJS.Timeout | undefined
  let stopped = false

  /** Answers whether it said anything. */
  async function ask({ id }: AskedNode): Promise<boolean> {
    const began = performance.now()
    try {
      await within(askMs, 'it does not answer in time', nodes.tell(id))
      return true
    } catch {
      // It may have answered, and the database have not.
      return (nodes.heardAt(id) ?? 0) >= began
    }
  }

  /** Somebody else answers, so it is not this machine that is cut off. */
  async function isConnected(node: AskedNode): Promise<boolean> {
    const others = asked.filter(({ id }) => id !== node.id && id !== deps.own)
    if (others.some(({ id }) => !silentSince.has(id))) return true
    return deps.witness !== null && (await answers(deps.witness, askMs))
  }

  async function failOver(node: AskedNode): Promise<void> {
    const { id } = node
    if (!(await isConnected(node))) {
      if (!told.has(id))
        log.warn({ node: id }, 'a node is silent, and nobody else answers: its servers stay')
      told.add(id)
      return
    }
    const reachable = nodes.reachable().map((one) => one.node)
    const marginMs = marginOf(afterMs)
    const servers = await transaction(db, (tx) =>
      beginFailover(tx, { ...deps, marginMs }, id, reachable),
    )
    if (servers.length === 0) {
      // Once, after the time that a portal elsewhere may still have: it stays so.
      const since = silentSince.get(id) ?? performance.now()
      if (!told.has(id) && performance.now() - since > afterMs * 3) {
        log.error({ node: id }, 'a node is silent, and none of its mirrored servers may come up')
        told.add(id)
      }
    } else
      log.error({ node: id, servers }, 'a node is silent: its mirrored servers come up elsewhere')
  }

  async function lookOnce(): Promise<void> {
    const now = performance.now()
    // This process stood still, so nobody was silent.
    if (now - lookedAt > 2 * lookMs + askMs) silentSince.clear()
    lookedAt = now
    asked = await within(askMs, 'the database does not answer', nodesToAsk(db)).catch(() => asked)
    const homes = asked.filter(({ hasMirrored }) => hasMirrored)
    const silent = asked.filter(({ id }) => silentSince.has(id))
    const toAsk = homes.length > 0 ? asked : silent
    await Promise.all(
      toAsk.map(async (node) => {
        if (!(await ask(node))) {
          const since = silentSince.get(node.id)
          if (since === undefined) silentSince.set(node.id, now)
          // One line may be stuck while the machine answers on another.
          else if (now - since >= afterMs / 2 && !reopened.has(node.id)) {
            reopened.add(node.id)
            nodes.reopen(node.id)
          }
          return
        }
        silentSince.delete(node.id)
        told.delete(node.id)
        reopened.delete(node.id)
      }),
    )
    for (const node of homes) {
      const since = silentSince.get(node.id)
      if (since !== undefined && performance.now() - since >= afterMs) await failOver(node)
    }
  }

  let looking: Promise<void> | undefined
  const look = (): Promise<void> =>
    (looking ??= lookOnce().finally(() => {
      looking = undefined
    }))
  function next(): void {
    if (stopped) return
    const began = performance.now()
    look()
      .catch((error: unknown) => log.warn({ err: error }, 'looking for nodes that are silent'))
      .finally(() => {
        timer = setTimeout(next, Math.max(0, lookMs - (performance.now() - began)))
        timer.unref()
      })
  }
  return {
    start: next,
    look,
    stop() {
      stopped = true
      clearTimeout(timer)
    },
  }
}
