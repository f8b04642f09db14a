/**
 * Deletes the auth module's expired rows. Each step runs separately, so that one failure does not
 * stop the others.
 */
import type { Clock } from '../platform/clock.ts'
import type { Database } from '../platform/db.ts'
import type { Accounts } from './accounts.ts'
import { dropOldActing } from './acting.ts'
import { dropOldChallenges } from './challenges.ts'
import { dropExpired } from './expired-sessions.ts'
import { dropOldOrigins } from './known-origins.ts'
import { dropOldCodes } from './one-time-code.ts'
import type { EndLive } from './session.ts'
import { dropOldFailures } from './sign-in-delays.ts'
import { dropOldDenials } from './sign-in-letter.ts'
import { dropOldSignIns } from './sign-ins.ts'
import { dropOldSmsCounts } from './sms-allowance.ts'
import { dropOldDevices } from './trusted-devices.ts'
import { dropOldViews } from './views.ts'

export const tidyAuth = (
  db: Database,
  clock: Clock,
  accounts: Accounts,
  endLive: EndLive,
): Record<string, () => Promise<void>> => ({
  sessions: () => dropExpired(db, { clock, endLive }),
  views: () => dropOldViews(db, clock),
  acting: () => dropOldActing(db, clock),
  signIns: () => dropOldSignIns(db, clock),
  codes: () => dropOldCodes(db, clock),
  failures: () => dropOldFailures(db, clock),
  challenges: () => dropOldChallenges(db, clock),
  devices: () => dropOldDevices(db, clock),
  denials: () => dropOldDenials(db, clock),
  origins: () => dropOldOrigins(db, clock),
  smsCounts: () => dropOldSmsCounts(db, clock),
  registrations: () => accounts.registration.dropNeverActivated(),
})
