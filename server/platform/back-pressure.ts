/**
 * Back-pressure: refuses a call early that could only be answered late. It measures two signs of
 * load: the delay of the event loop, and the number of calls that wait for a database connection.
 */
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { Refusal } from './errors.ts'

/** How busy the process is. */
export interface Load {
  /** Mean delay of a turn of the event loop, milliseconds: the least of four half seconds. */
  readonly loopDelayMs: number
  /** Calls that wait for a database connection. */
  readonly waiting: number
}

/**
 * Webhooks and sign-ins are refused last: money must be recorded, and a customer who cannot sign in
 * can do nothing.
 */
export type Importance = 'ordinary' | 'last'

/**
 * Limits above which an ordinary call is refused. For `last` they are multiplied by `lastFactor`.
 */
const limits: Load = { loopDelayMs: 500, waiting: 60 }
const lastFactor = 4
const retryAfterSeconds = 5
const sampleMs = 500
/** One slow step is not overload: all of these samples must exceed the limit. */
const samples = 4

/** Whether a call is refused under this load. */
export function isTooMuch(load: Load, importance: Importance): boolean {
  const factor = importance === 'last' ? lastFactor : 1
  return load.loopDelayMs > limits.loopDelayMs * factor || load.waiting > limits.waiting * factor
}

const late = [
  '/api/webhooks/',
  '/api/v1/auth/login',
  '/api/v1/auth/logout',
  '/api/v1/auth/unlock',
  // The second steps of a sign-in, and other ways to sign in.
  '/api/v1/auth/second-factor',
  '/api/v1/auth/passkey',
  '/api/operator/sign-in',
] as const
/** The importance of a call, by its address with or without its query. */
export const importanceOf = (url: string): Importance =>
  late.some((start) => url.startsWith(start)) ? 'last' : 'ordinary'

export interface BackPressure {
  /** Refuses a call with unavailable and a time to wait while there is too much to do. */
  judge(url: string): void
  stop(): void
}

/** `waiting`: how many wait for a connection now. Watches until it is stopped. */
export function watchLoad(waiting: () => number): BackPressure {
  const histogram = monitorEventLoopDelay({ resolution: 10 })
  histogram.enable()
  const delays: number[] = Array.from({ length: samples }, () => 0)
  const timer = setInterval(() => {
    // The mean is in nanoseconds. It is NaN if the event loop made no turn.
    delays.push(Number.isFinite(histogram.mean) ? histogram.mean / 1e6 : 0)
    delays.shift()
    histogram.reset()
  }, sampleMs)
  timer.unref()
  return {
    judge(url) {
      if (isTooMuch({ loopDelayMs: Math.min(...delays), waiting: waiting() }, importanceOf(url)))
        throw new Refusal('unavailable', { retryAfterSeconds })
    },
    stop() {
      clearInterval(timer)
      histogram.disable()
    },
  }
}
