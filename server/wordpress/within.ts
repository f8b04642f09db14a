import { DriverFailure } from '../platform/errors.ts'

/**
 * The outcome of `work`. DriverFailure unavailable when it takes longer than `ms`; the signal's
 * reason once it is aborted (the portal does not wait for a boot or a backup before it stops). The
 * work itself goes on: a driver's acts are idempotent and may be asked for again meanwhile.
 */
export async function within<T>(
  ms: number,
  why: string,
  work: Promise<T>,
  signal?: AbortSignal,
): Promise<T> {
  const { promise: interrupted, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(() => reject(new DriverFailure('unavailable', why)), ms)
  const onAbort = (): void => reject(signal?.reason)
  signal?.addEventListener('abort', onAbort)
  try {
    return await Promise.race([work, interrupted])
  } finally {
    clearTimeout(timer)
    signal?.removeEventListener('abort', onAbort)
  }
}
