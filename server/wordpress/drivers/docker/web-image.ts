/**
 * Chooses the image of PHP's containers. A newer image is built under the same name (`npm run
 * docker:images -- --update`); running containers keep theirs until they are replaced by ones of
 * the newer image. If the newer image does not start, the former one stays in use, and the newer
 * one is tried again later. A file keeps which image last worked: after a start of the machine
 * sites begin with it.
 */
import fs from 'node:fs/promises'
import { writeWhole } from '../machine/files.ts'
import { EngineError, type EngineApi } from './engine-api.ts'

const usualLookMs = 30_000
/**
 * How long an image is not tried after a failure: the container may have failed for another reason.
 */
const refusedMs = 10 * 60_000

export interface WebImage {
  /**
   * The image for a new container: the one that last worked, or the name.
   * @param isTry the container is to replace one that works, so the newer image is tried
   */
  wanted(isTry: boolean): Promise<string>
  /**
   * The id of an image newer than this one, which was seen `since` (system clock, ms) and may be
   * tried; null: there is none.
   */
  newerThan(id: string, since: number): string | null
  /** Records that a container of this image answered. */
  answered(id: string): void
  /** Records that a container of this image, which was to replace a working one, did not answer. */
  refuse(id: string): void
  close(): void
}

export function createWebImage(
  api: Pick<EngineApi, 'call'>,
  { name, file }: { readonly name: string; readonly file: string },
  lookMs = usualLookMs,
): WebImage {
  /** The id of the image that has the name now; null: unknown. */
  let named: string | null = null
  let lookedAt = 0
  /** The newest image of which a container has answered. */
  let good: string | null = null
  const known = new Set<string>()
  const refused = new Map<string, number>()

  /** The image's id; null where no image has that name or id. */
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
    // Somebody may have removed the image; then it cannot be used any more.
    if (good !== null && good !== named && (await idOf(good)) === null) good = null
    lookedAt = began
  }
  // If the engine is away, its images stay as known.
  const look = (): Promise<void> => lookOnce().catch(() => undefined)

  async function begin(): Promise<void> {
    const text = await fs.readFile(file, 'utf8').catch(() => null)
    // The file is ignored where its name differs: then an earlier release has written it.
    if (text?.startsWith(`${name} `)) good = text.slice(name.length + 1)
    await look()
  }
  let begun: Promise<void> | undefined
  function keep(id: string): void {
    // If the file cannot be written, the next start uses the name.
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
      // An older image answered, for a site that does not accept the newer one.
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
