/** Every test that docs/findings.md names is there, so that no guard goes unnoticed. */
import { existsSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'

const root = path.resolve(import.meta.dirname, '..')

test('every guard of a finding is a test that there is', () => {
  const text = readFileSync(path.join(root, 'docs/findings.md'), 'utf8')
  const guards = [...text.matchAll(/`([\w/-]+\.test\.ts)` — ([^\n]+)/g)]
  expect(guards.length).toBeGreaterThan(60)
  const missing = guards.filter(([, file = '', title = '']) => {
    const where = path.join(root, file)
    // A title may be broken over lines by quotes of another kind only.
    return !existsSync(where) || !readFileSync(where, 'utf8').includes(title.trim())
  })
  expect(missing.map(([all]) => all)).toEqual([])
})
