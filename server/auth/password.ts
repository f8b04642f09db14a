/** Passwords are hashed and verified: argon2id. */
import { hash, verify } from '@node-rs/argon2'
import { createGate } from '../platform/gate.ts'

/** OWASP's argon2id minimum: 19 MiB, 2 passes, 1 lane. */
const cost = { memoryCost: 19_456, timeCost: 2, parallelism: 1 }

/**
 * argon2 uses the thread pool that files and DNS lookups need as well, some 30 ms and 19 MiB each.
 * Two at a time leave threads for those. A caller who would wait for more than about a second is
 * refused.
 */
const gate = createGate({ atOnce: 2, waiting: 48 })

/** Slow: never inside of a transaction. Refuses with unavailable when too many wait for it. */
export const hashPassword = (password: string): Promise<string> =>
  gate.run(() => hash(password, cost))
/** Slow: never inside of a transaction. Refuses with unavailable when too many wait for it. */
export const verifyPassword = (stored: string, password: string): Promise<boolean> =>
  gate.run(() => verify(stored, password))

let decoy: string | undefined
/**
 * Spends the time of one verification, so that an unknown email takes as long as a wrong password.
 */
export async function spendVerification(password: string): Promise<void> {
  decoy ??= await hashPassword('no account has this password')
  await verifyPassword(decoy, password)
}
