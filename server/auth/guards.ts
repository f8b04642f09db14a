/**
 * Protects accounts against guessing: attempt counters, shared by every process, and one-time
 * codes.
 */
import { Refusal } from '../platform/errors.ts'
import { widerNetworkOf } from '../platform/network.ts'
import type { Limit, Limits } from '../platform/limits.ts'
import type { Clock } from '../platform/clock.ts'
import type { Database } from '../platform/db.ts'
import type { Secrets } from '../platform/secrets.ts'
import { createCodes, type Codes, type Purpose } from './one-time-code.ts'
import { createDelays, type Delays } from './sign-in-delays.ts'

export interface Guards {
  readonly codes: Codes
  /**
   * Delays after wrong passwords of an account, at the sign-in and wherever the password is asked
   * again.
   */
  readonly delays: Delays
  readonly failuresOfNetwork: Limit
  /**
   * Counts a request for a code by an anonymous caller. False: do not send the code; the answer
   * must not reveal that. Refuses with rate_limited if this network alone exceeded its limit.
   */
  mayAsk(
    purpose: Purpose,
    email: string,
    by: { readonly network: string; readonly trusted: boolean },
  ): Promise<boolean>
  /** Per network; counted before the new password is hashed. */
  readonly resets: Limit
  /** Codes requested by a signed-in customer. */
  readonly resends: Pick<Limit, 'take'>
  /** Per network. Undefined: no limit. */
  readonly registrations: Limit | undefined
}

interface GuardNeeds {
  readonly db: Database
  readonly clock: Clock
  readonly secrets: Secrets
  readonly limits: Limits
  /** Per network; 0: no limit. */
  readonly registrationsPerHour: number
}

export function createGuards(needs: GuardNeeds): Guards {
  const { db, clock, secrets, limits, registrationsPerHour } = needs
  const [perMinute, perDay] = [limits.limit('code-send'), limits.limit('code-send-day')]
  const ofNetwork = limits.limit('code-send-network')
  const ofWiderNetwork = limits.limit('code-send-wider')
  const ofStrangers = limits.limit('code-send-strangers')
  return {
    codes: createCodes(clock, secrets, {
      ofAccount: limits.limit('code-account'),
      ofNetwork: limits.limit('code-address'),
    }),
    delays: createDelays(db, clock),
    failuresOfNetwork: limits.limit('login-address'),
    async mayAsk(purpose, email, { network, trusted }) {
      const own = `${purpose}:${email}:${network}`
      await ofNetwork.check(network)
      await perMinute.take(own)
      await perDay.take(own)
      await ofNetwork.take(network)
      if (trusted) return true
      try {
        await ofWiderNetwork.take(`${purpose}:${email}:${widerNetworkOf(network)}`)
        await ofStrangers.take(`${purpose}:${email}`)
        return true
      } catch (error) {
        if (error instanceof Refusal) return false
        throw error
      }
    },
    resets: limits.limit('reset'),
    resends: {
      async take(key) {
        await perMinute.take(key)
        await perDay.take(key)
      },
    },
    registrations:
      registrationsPerHour === 0 ? undefined : limits.limit('registration', registrationsPerHour),
  }
}
