/** What stands between a guess and an account: attempt counters, shared by every process, and one-time codes. */
import type { Clock } from '../platform/clock.ts'
import type { Limit, Limits } from '../platform/limits.ts'
import type { Secrets } from '../platform/secrets.ts'
import { createCodes, type Codes } from './one-time-code.ts'

/** Failures in a quarter of an hour: wrong passwords per account and per address, wrong codes per account. */
const maxFailures = 10
const failureWindowSeconds = 15 * 60
const resendSeconds = 60

export interface Guards {
  readonly codes: Codes
  /** Wrong passwords, by email: at the sign-in and wherever the password is asked again. */
  readonly failuresOfAccount: Limit
  readonly failuresOfAddress: Limit
  /** Codes sent. */
  readonly resends: Limit
}

export const createGuards = ({ clock, secrets, limits }: { clock: Clock; secrets: Secrets; limits: Limits }): Guards => ({
  codes: createCodes(clock, secrets, limits.limit('code-account', maxFailures, failureWindowSeconds)),
  failuresOfAccount: limits.limit('login-account', maxFailures, failureWindowSeconds),
  failuresOfAddress: limits.limit('login-address', maxFailures, failureWindowSeconds),
  resends: limits.limit('code-send', 1, resendSeconds),
})
