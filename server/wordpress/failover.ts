/**
 * Brings servers with a mirror up elsewhere by rule, when their node is silent (decision 135).
 * Every process of the portal asks such nodes every few seconds, which lets them take writes for a
 * while longer. A node that hears nothing stops taking writes by itself. Then the first process
 * that has found it silent for long enough brings the servers up, in one transaction, once.
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
  /** How long a node is silent before its mirrored servers come up elsewhere, ms. */
  readonly afterMs: number
  /** The node of this machine: its answer proves nothing about the network. */
  readonly own: string | null
  /** host:port that answers while this machine's network works; null: none is set. */
  readonly witness: string | null
}

/** Most that is waited beyond the promised time: clocks differ, and requests under way end. */
const mostMarginMs = seconds(5)
const mostLookMs = seconds(3)
const mostAskMs = seconds(2)

const marginOf = (afterMs: number): number => Math.min(mostMarginMs, Math.floor(afterMs / 3))

/** How long a node that hears from no portal may take writes for mirrored servers, ms. */
export const mirroredLeaseMs = (afterMs: number): number => afterMs - marginOf(afterMs)

/** Whether something listens at the address within `ms`. */
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
  /** Looks now; where a look is under way, waits for its end. */
  look(): Promise<void>
  stop(): void
}

export function createFailover(deps: FailoverDeps): Failover {
  const { db, log, nodes, afterMs } = deps
  const lookMs = Math.min(mostLookMs, afterMs / 5)
  const askMs = Math.min(mostAskMs, lookMs)
  /** When each node was first found silent by looks that all failed since (performance.now). */
  const silentSince = new Map<string, number>()
  const told = new Set<string>()
  const reopened = new Set<string>()
  let asked: readonly AskedNode[] = []
  let lookedAt = performance.now()
  let timer: NodeJS.Timeout | undefined
  let stopped = false

  /** Whether the node answered. */
  async function ask({ id }: AskedNode): Promise<boolean> {
    const began = performance.now()
    try {
      await within(askMs, 'it does not answer in time', nodes.tell(id))
      return true
    } catch {
      // The node may have answered although the database did not.
      return (nodes.heardAt(id) ?? 0) >= began
    }
  }

  /** Whether another machine answers, so that it is not this one that is cut off. */
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
      // Logged once, after the time that another portal may still have promised: by then it will
      // not change.
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
    // This process stood still, so its measured silence means nothing.
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
          // One connection may be stuck while the machine answers on another.
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
