/** Tests that need an engine: they are tried where the machine has one. */
import { describe, expect, inject, test } from 'vitest'
import { engineTrial } from './docker-engine.ts'
import { ensureImages } from './docker-wordpress.ts'

/** Why no engine runs here. A run tries it out once, before its tests (cluster.ts). */
async function whyNot(): Promise<string | undefined> {
  const trial = inject('engine') ?? (await engineTrial())
  if ('broken' in trial) throw new Error(trial.broken)
  return trial.fault
}

/**
 * Declares `tests` where an engine and its images are to be had. Elsewhere one test says why not,
 * which fails if `ALL_TESTS=1` says that nothing may be left out.
 */
export async function withEngine(name: string, tests: () => void): Promise<void> {
  // Making the images takes minutes, so it happens before the tests, which have less time.
  const why = (await whyNot()) ?? (await ensureImages())
  if (why === undefined) return tests()
  describe(name, () => {
    test(`none of its tests is tried here: ${why}`, () => {
      expect(process.env['ALL_TESTS'] ?? '', why).not.toBe('1')
    })
  })
}
