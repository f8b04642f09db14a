/**
 * Every test that docs/findings.md names exists, so that no guard is lost, and every mend that `npm
 * run guards` removes occurs in its file.
 */
import { existsSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { mends } from './mends/index.ts'
import { guardsOf } from './mends/mend.ts'

const root = path.resolve(import.meta.dirname, '..')
const read = (file: string): string => readFileSync(path.join(root, file), 'utf8')
const guards = guardsOf(read('docs/findings.md'))

test('every guard of a finding is a test that there is', () => {
  expect(guards.length).toBeGreaterThan(60)
  const missing = guards.filter(({ file, title }) => {
    // The file must contain the title literally.
    return !existsSync(path.join(root, file)) || !read(file).includes(title)
  })
  expect(missing).toEqual([])
})

test('every mend that is taken out stands once in its file, and has a guard', () => {
  const wrong = mends.flatMap(({ finding, guard, title, edits }) => [
    ...(guards.some(
      (one) =>
        one.finding === finding &&
        (guard ?? one.file) === one.file &&
        (title ?? one.title) === one.title,
    )
      ? []
      : [`${finding}: no guard of this name`]),
    ...edits
      .filter(({ file, mended }) => read(file).split(mended).length !== 2)
      .map(({ file, mended }) => `${finding}: ${file} has not once: ${mended}`),
  ])
  expect(wrong).toEqual([])
})
