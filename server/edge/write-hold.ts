// Requests that may write to a site wait here while it is switched to another node. Afterwards they
// go to its new node: a body that has not been read yet can be sent anywhere.
import type http from 'node:http'

/** A visitor waits at most this long, and is then told to come again. */
const longestWaitMs = 20_000
/** Beyond this number visitors are told at once. */
const mostWaiting = 256

/** Whether a request by this method may change something. */
export const mayWrite = (method: string | undefined): boolean =>
  method !== 'GET' && method !== 'HEAD' && method !== 'OPTIONS'

export interface WriteHolds {
  /**
   * Makes requests that may write wait, for at most `ms`; 0: they continue. Resolves when none of
   * the earlier ones is under way: true; false if one still is after `patienceMs`.
   */
  hold(site: string, ms: number, patienceMs?: number): Promise<boolean>
  /** Lets the waiting requests continue; does nothing if none are held. */
  release(site: string): void
  /**
   * Calls `go` when the request may continue, immediately if nothing is held; or `refuse` if the
   * visitor must come again. Counts the request as under way until its response has ended.
   */
  pass(
    site: string,
    request: Pick<http.IncomingMessage, 'method'>,
    response: http.ServerResponse,
    go: (waited: boolean) => void,
    refuse: () => void,
  ): void
}

interface Held {
  readonly waiting: Set<(passes: boolean) => void>
  readonly timer: NodeJS.Timeout
}

export function createWriteHolds(): WriteHolds {
  const held = new Map<string, Held>()
  /** Requests under way that may write, by site, and the callbacks that wait for their end. */
  const underWay = new Map<string, { count: number; readonly ended: Set<() => void> }>()

  function begin(site: string, response: http.ServerResponse): void {
    const of = underWay.get(site) ?? { count: 0, ended: new Set() }
    underWay.set(site, of)
    of.count++
    response.once('close', () => {
      if (--of.count > 0) return
      underWay.delete(site)
      for (const tell of of.ended) tell()
    })
  }

  function release(site: string): void {
    const one = held.get(site)
    if (!one) return
    held.delete(site)
    clearTimeout(one.timer)
    for (const leave of one.waiting) leave(true)
  }

  function drained(site: string, patienceMs: number): Promise<boolean> {
    const of = underWay.get(site)
    if (!of) return Promise.resolve(true)
    return new Promise((resolve) => {
      const end = (isDrained: boolean): void => {
        clearTimeout(timer)
        of.ended.delete(done)
        resolve(isDrained)
      }
      const done = (): void => end(true)
      const timer = setTimeout(() => end(false), patienceMs)
      of.ended.add(done)
    })
  }

  return {
    release,
    hold(site, ms, patienceMs = 0) {
      if (ms <= 0) {
        release(site)
        return Promise.resolve(true)
      }
      const waiting = held.get(site)?.waiting ?? new Set<(passes: boolean) => void>()
      clearTimeout(held.get(site)?.timer)
      const timer = setTimeout(() => release(site), ms)
      timer.unref()
      held.set(site, { waiting, timer })
      return drained(site, patienceMs)
    },
    pass(site, request, response, go, refuse) {
      if (!mayWrite(request.method)) return go(false)
      const one = held.get(site)
      const enter = (waited: boolean): void => {
        begin(site, response)
        go(waited)
      }
      if (!one) return enter(false)
      if (one.waiting.size >= mostWaiting) return refuse()
      const leave = (passes: boolean): void => {
        clearTimeout(timer)
        one.waiting.delete(leave)
        response.off('close', gone)
        if (response.destroyed) return
        if (passes) enter(true)
        else refuse()
      }
      const gone = (): void => leave(false)
      const timer = setTimeout(() => leave(false), longestWaitMs)
      response.once('close', gone)
      one.waiting.add(leave)
    },
  }
}
