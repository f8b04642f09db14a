/**
 * Which test files are fast: those that open no portal, no browser and no process of ours. This is
 * decided by a file's imports, so a new file is in the right tier by itself.
 */
import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { root } from './bootstrap.mjs'

const folders = ['contract', 'server', 'sandbox', 'web', 'test', 'scripts']
/** Imports that take seconds to open. */
const slow = new RegExp(
  `from '[^']*/(?:${[
    'portal',
    'embedded-wordpress',
    'docker-wordpress',
    'page-cache-world',
    'portal-process',
    'browser',
    'payers',
    'kill-journey',
    'powerdns-server',
  ].join('|')})\\.ts'`,
)
/**
 * Tests that are slow by themselves: thousands of runs, a race with another process, builds of
 * pages, programs of ours.
 */
const slowByThemselves = new Set([
  'server/billing/simulation.test.ts',
  'server/wordpress/drivers/machine/updates.test.ts',
  'test/env-file.test.ts',
  'test/page-bytes.test.ts',
])

/** Lists of paths, relative to the repository's root. */
export function testsByTier() {
  const fast = []
  const rest = []
  for (const folder of folders)
    for (const name of readdirSync(path.join(root, folder), { recursive: true })) {
      const file = path.join(folder, name).split(path.sep).join('/')
      if (!/\.test\.tsx?$/.test(file)) continue
      const isSlow =
        slowByThemselves.has(file) || slow.test(readFileSync(path.join(root, file), 'utf8'))
      ;(isSlow ? rest : fast).push(file)
    }
  return { fast, rest }
}
