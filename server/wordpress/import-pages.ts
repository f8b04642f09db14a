/** Compares the pages of a copy with those of its original, one after another. */
import type { ImportPage } from '../../contract/wordpress-import.ts'
import { DriverFailure } from '../platform/errors.ts'
import { comparePage, type SeenPage } from './compare-pages.ts'
import type { SiteSpec, WordpressDriver } from './driver.ts'
import type { Originals } from './original.ts'

/** After so many unanswered pages in a row the original is asked for no more. */
const mostMisses = 2

/**
 * A page of the copy; its redirects are followed as long as they stay on the copy. Null: no page
 * came.
 */
async function pageOfCopy(
  driver: WordpressDriver,
  spec: SiteSpec,
  path: string,
): Promise<SeenPage | null> {
  let target = path
  const own = new URL(spec.url)
  for (let step = 0; step < 5; step++) {
    const { status, location, text } = await driver.importPage(spec, target)
    if (location === null || status < 300 || status > 399) return { status, text }
    if (!URL.canParse(location, own.href)) return { status, text }
    const next = new URL(location, own.href)
    if (next.host !== own.host) return { status, text }
    target = next.pathname + next.search
  }
  return null
}

/** `base`: the address of the original; undefined: unknown. */
export async function comparePages(
  from: {
    readonly driver: WordpressDriver
    readonly originals: Originals
    readonly spec: SiteSpec
    readonly signal: AbortSignal
  },
  base: string | undefined,
  paths: readonly string[],
): Promise<ImportPage[]> {
  const pages: ImportPage[] = []
  let misses = 0
  for (const path of paths) {
    from.signal.throwIfAborted()
    const original =
      base === undefined || misses >= mostMisses
        ? null
        : await from.originals.page(base + path).catch(() => null)
    misses = original ? 0 : misses + 1
    const copy = await pageOfCopy(from.driver, from.spec, path).catch((error: unknown) => {
      if (error instanceof DriverFailure && error.kind === 'unavailable') return null
      throw error
    })
    pages.push(comparePage(path, original, copy))
  }
  return pages
}
