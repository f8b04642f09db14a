/** Removes what interrupted or failed removals, and proofs of backups, have left of sites. */
import { existsSync, readdirSync } from 'node:fs'
import fs from 'node:fs/promises'
import path from 'node:path'
import { copyIdOf, loadingIn } from './content.ts'
import { scratchPrefix } from './copies.ts'
import type { Engine } from './engine.ts'
import { sweepDoomed } from './files.ts'

export interface SweepParts {
  readonly sitesDir: string
  /** Whether a folder of `sitesDir` is a site's, by its name. */
  readonly isSite: (name: string) => boolean
  readonly engine: Pick<Engine, 'endLeftovers'> | null
  /** How often, ms, and at once. */
  readonly everyMs: number
  readonly log: { warn(detail: object, message: string): void }
}

export interface Sweeps {
  /** Folders that the last sweep could not remove. */
  unremoved(): number
  /** Resolves when none is under way any more. */
  close(): Promise<void>
}

/** Begins to sweep. What keeps a sweep from its end is told to the log, once until it changes. */
export function startSweeps({ sitesDir, isSite, engine, everyMs, log }: SweepParts): Sweeps {
  let unremoved = 0
  /** What the last sweep failed of. */
  let fault: string | null = null
  // Of an earlier life; what this life makes is in use.
  const oldScratch = new Set(
    existsSync(sitesDir)
      ? readdirSync(sitesDir).filter((name) => name.startsWith(scratchPrefix))
      : [],
  )
  async function sweep(): Promise<void> {
    for (const name of oldScratch)
      await engine?.endLeftovers(copyIdOf(name), loadingIn(path.join(sitesDir, name)))
    let left = await sweepDoomed(sitesDir, (name) => oldScratch.has(name))
    const entries = existsSync(sitesDir) ? await fs.readdir(sitesDir, { withFileTypes: true }) : []
    for (const entry of entries)
      if (entry.isDirectory() && isSite(entry.name))
        left += await sweepDoomed(path.join(sitesDir, entry.name))
    if (left > unremoved)
      log.warn({ left }, 'folders of removed sites or of their copies cannot be removed')
    unremoved = left
  }
  async function sweepAndTell(): Promise<void> {
    try {
      await sweep()
      fault = null
    } catch (error) {
      const text = String(error)
      if (text !== fault) log.warn({ err: error }, 'what removed sites left is not swept')
      fault = text
    }
  }

  let sweeping = sweepAndTell()
  const timer = setInterval(() => void (sweeping = sweeping.then(sweepAndTell)), everyMs)
  timer.unref()
  return {
    unremoved: () => unremoved,
    async close() {
      clearInterval(timer)
      await sweeping
    },
  }
}
