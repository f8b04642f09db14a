/** Whether visitors reach a name by HTTPS now, for code that shows its address. */
import type { Clock } from '../platform/clock.ts'
import type { Database } from '../platform/db.ts'
import type { Log } from '../platform/log.ts'
import { certificateOf } from './store.ts'

export interface Coverage {
  /** The last known state, which is read often and refreshed rarely. */
  isCovered(): boolean
  /** Looks now. */
  look(): Promise<void>
}

/** After this long a certificate from another process is seen, ms. */
const lookMs = 2_000

/** @param name undefined: no certificate is needed, and none is looked up */
export function createCoverage(
  { db, clock, log }: { readonly db: Database; readonly clock: Clock; readonly log: Log },
  name: string | undefined,
): Coverage {
  let until: Date | null = null
  let lookedAt = -Infinity

  async function look(): Promise<void> {
    if (name === undefined) return
    lookedAt = performance.now()
    until = (await certificateOf(db, name))?.not_after ?? null
  }
  const isValid = (): boolean => until !== null && until > clock.now()
  return {
    look,
    isCovered() {
      if (name === undefined) return true
      // A valid certificate is not looked up again until it ends, because its successor comes
      // earlier.
      if (!isValid() && performance.now() - lookedAt > lookMs)
        look().catch((error: unknown) =>
          log.warn({ err: error, name }, 'looking for a certificate'),
        )
      return isValid()
    },
  }
}
