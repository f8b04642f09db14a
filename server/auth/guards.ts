/** What stands between a guess and an account: attempt counters, shared by every process, and one-time codes. */
import type { Clock } from '../platform/clock.ts'
import type { Limit, Limits } from '../platform/limits.ts'
import type { Secrets } from '../platform/secrets.ts'
import { createCodes, type Codes } from './one-time-code.ts'

/** Failures in a quarter of an hour: wrong passwords per account and per address, wrong codes per account. */
const maxFailures = 10
const failureWindowSeconds = 15 * 60
/**
 * Wrong codes in that time from one address, whosever they are: who sprays guesses over many accounts. More than for one account, since a
 * mobile carrier's customers share an address, and a mistyped code would keep all of them from activating theirs.
 */
const maxWrongCodesOfAddress = 50
const resendSeconds = 60
/** Codes sent again for one account: who wants more of them wants the SMS, not the account. */
const resendsADay = 10

export interface Guards {
  readonly codes: Codes
  /** Wrong passwords, by email: at the sign-in and wherever the password is asked again. */
  readonly failuresOfAccount: Limit
  readonly failuresOfAddress: Limit
  /** Codes sent. */
  readonly resends: Pick<Limit, 'take'>
  /** By address. Undefined: as many as like. */
  readonly registrations: Limit | undefined
}

interface GuardNeeds {
  readonly clock: Clock
  readonly secrets: Secrets
  readonly limits: Limits
  /** From one address; 0: as many as like. */
  readonly registrationsAnHour: number
}

export function createGuards({ clock, secrets, limits, registrationsAnHour }: GuardNeeds): Guards {
  const [perMinute, perDay] = [limits.limit('code-send', 1, resendSeconds), limits.limit('code-send-day', resendsADay, 24 * 60 * 60)]
  return {
    codes: createCodes(clock, secrets, {
      ofAccount: limits.limit('code-account', maxFailures, failureWindowSeconds),
      ofAddress: limits.limit('code-address', maxWrongCodesOfAddress, failureWindowSeconds),
    }),
    failuresOfAccount: limits.limit('login-account', maxFailures, failureWindowSeconds),
    failuresOfAddress: limits.limit('login-address', maxFailures, failureWindowSeconds),
    resends: {
      async take(key) {
        await perMinute.take(key)
        await perDay.take(key)
      },
    },
    registrations: registrationsAnHour === 0 ? undefined : limits.limit('registration', registrationsAnHour, 60 * 60),
  }
}
