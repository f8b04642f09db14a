/** Every file that ARCHITECTURE.md and CONTRIBUTING.md name exists. */
import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'

const repository = path.resolve(import.meta.dirname, '..')
const folders = [
  'bench',
  'contract',
  'packaging',
  'runtimes',
  'sandbox',
  'scripts',
  'server',
  'test',
  'web',
]
const files = folders.flatMap((folder) =>
  readdirSync(path.join(repository, folder), { recursive: true, encoding: 'utf8' })
    .filter((file) => !file.includes('node_modules'))
    .map((file) => `/${folder}/${file}`),
)

/** Names of files in a text; a pattern such as `*-acts.ts` is left out. */
const namesIn = (text: string): string[] =>
  [...text.matchAll(/(?<![*\w./-])\w[\w./-]*\.(?:tsx?|mjs|js|php)\b/g)].map(([name]) => name)

test.each(['ARCHITECTURE.md', 'CONTRIBUTING.md'])('of %s', (document) => {
  const text = readFileSync(path.join(repository, document), 'utf8')
  const missing = namesIn(text).filter((name) => !files.some((file) => file.endsWith(`/${name}`)))
  expect(missing).toEqual([])
})
