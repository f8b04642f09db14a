import { lock } from '../../contract/lock.ts'
import { ApiError, call } from '../api.ts'
import { session } from '../session.ts'

const againMs = 5_000

/**
 * Locks this session on the server, so that its token opens nothing until the password is given.
 * Without a connection the screen is locked at once, and the session as soon as the server answers.
 */
export async function tellLock(): Promise<void> {
  const under = session.credential()
  if (under === null) return
  try {
    await call(lock, {})
  } catch (error) {
    const passes = error instanceof ApiError && (error.status === 0 || error.status >= 429)
    if (passes)
      setTimeout(() => {
        if (session.locked() && session.credential() === under) void tellLock()
      }, againMs)
  }
}
