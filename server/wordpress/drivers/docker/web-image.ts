/**
 * Which image PHP's containers are made from. Its name stays while a newer one is built under it
 * (`npm run docker:images -- --update`); containers that run keep theirs, and are renewed by the
 * newer one. Where that does not come up the one before is used on, and the newer one is tried
 * again after a while. Which one has answered last stands in a file: after a start of the machine
 * sites begin with it.
 */
import fs from 'node:fs/promises'
import { writeWhole } from '../machine/files.ts'
import { EngineError, type EngineApi } from './engine-api.ts'

const usualLookMs = 30_000
/** A container that did not come up may have had another reason than its image. */
const refusedMs = 10 * 60_000

export interface WebImage {
  /**
   * What a container is to be made from now: the image that has answered last, or the name.
   * @param isTry it is to take the place of one that works: the newer image is tried
   */
  wanted(isTry: boolean): Promise<string>
  /**
   * The id of a newer image than this one, which was seen `since` (ms of the system's clock) and
   * may be tried; null: there is none.
   */
  newerThan(id: string, since: number): string | null
  /** A container of this image answered. */
  answered(id: string): void
  /** One that was to take the place of a container that works did not. */
  refuse(id: string): void
  close(): void
}

export function createWebImage(
  api: Pick<EngineApi, 'call'>,
  { name, file }: { readonly name: string; readonly file: string },
  lookMs = usualLookMs,
): WebImage {
  /** What has the name now; null: nobody knows. */
  let named: string | null = null
  let lookedAt = 0
  /** The newest that a container of has answered. */
  let good: string | null = null
  const known = new Set<string>()
  const refused = new Map<string, number>()

  /** Null where there is none of that name or id. */
  async function idOf(image: string): Promise<string | null> {
    try {
      const path = `/images/${encodeURIComponent(image)}/json`
      return ((await api.call('GET', path)) as { Id: string }).Id
    } catch (error) {
      if (error instanceof EngineError && error.status === 404) return null
      throw error
    }
  }
  async function lookOnce(): Promise<void> {
    const began = Date.now()
    named = await idOf(name)
    // Somebody may have removed it, and it is used no more.
    if (good !== null && good !== named && (await idOf(good)) === null) good = null
    lookedAt = began
  }
  // An engine that is away says nothing of its images.
  const look = (): Promise<void> => lookOnce().catch(() => undefined)

  async function begin(): Promise<void> {
    const text = await fs.readFile(file, 'utf8').catch(() => null)
    // Of a release before it is another one.
    if (text?.startsWith(`${name} `)) good = text.slice(name.length + 1)
    await look()
  }
  let begun: Promise<void> | undefined
  function keep(id: string): void {
    // Without it the name counts at the next start.
    writeWhole(file, `${name} ${id}`).catch(() => undefined)
  }
  const timer = setInterval(() => void look(), lookMs)
  timer.unref()

  const isRefused = (id: string): boolean => (refused.get(id) ?? 0) > Date.now()
  return {
    async wanted(isTry) {
      await (begun ??= begin())
      const isKnown = named !== null && known.has(named)
      return isTry || isKnown || good === null ? name : good
    },
    newerThan: (id, since) =>
      lookedAt > since && named !== null && named !== id && !isRefused(named) ? named : null,
    answered(id) {
      known.add(id)
      // One of before, of a site that does not take the newer one.
      if (good === id || (named !== null && id !== named && known.has(named))) return
      good = id
      keep(id)
    },
    refuse(id) {
      if (!known.has(id)) refused.set(id, Date.now() + refusedMs)
    },
    close: () => clearInterval(timer),
  }
}
