/**
 * Which image PHP's containers are made from. Its name stays while a newer one is built under it
 * (`npm run docker:images -- --update`); containers that run keep theirs, and are renewed by the
 * newer one. Where that does not come up the one before is used on, and the newer one is tried
 * again after a while.
 */
import { EngineError, type EngineApi } from './engine-api.ts'

const usualLookMs = 30_000
/** A container that did not come up may have had another reason than its image. */
const refusedMs = 10 * 60_000

export interface WebImage {
  /** What a container is to be made from now: an id, or the name while nothing is known. */
  wanted(): string
  /** The id of a newer image than this one, which may be tried; null: there is none. */
  newerThan(id: string): string | null
  /** A container of this image answered. */
  answered(id: string): void
  /** One that was to take the place of a container that works did not. */
  refuse(id: string): void
  close(): void
}

export function createWebImage(
  api: Pick<EngineApi, 'call'>,
  name: string,
  lookMs = usualLookMs,
): WebImage {
  /** What has the name now; null: nobody knows. */
  let named: string | null = null
  /** The newest that a container of has answered. */
  let good: string | null = null
  const known = new Set<string>()
  const refused = new Map<string, number>()

  async function look(): Promise<void> {
    try {
      const { Id } = (await api.call('GET', `/images/${encodeURIComponent(name)}/json`)) as {
        Id: string
      }
      named = Id
    } catch (error) {
      // An engine that is away says nothing of its images.
      if (error instanceof EngineError && error.status === 404) named = null
    }
  }
  const timer = setInterval(() => void look(), lookMs)
  timer.unref()

  const isRefused = (id: string): boolean => (refused.get(id) ?? 0) > Date.now()
  return {
    wanted: () => (named !== null && isRefused(named) && good !== null ? good : name),
    newerThan: (id) => (named !== null && named !== id && !isRefused(named) ? named : null),
    answered(id) {
      known.add(id)
      good = id
    },
    refuse(id) {
      if (!known.has(id)) refused.set(id, Date.now() + refusedMs)
    },
    close: () => clearInterval(timer),
  }
}
