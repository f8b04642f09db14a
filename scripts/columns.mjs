/**
 * `node scripts/columns.mjs`: lists every line of more than 100 columns in the tracked text files.
 * The formatter wraps code; strings, comments, SQL and tables must be wrapped by hand.
 */
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { root } from './bootstrap.mjs'

const maxColumns = 100
/**
 * The last migration that was applied before this rule. Its recorded checksum forbids any change.
 */
const lastFreeMigration = 47

/** What may be longer, and why: a file, or the matching lines of a file. */
const exceptions = [
  { file: /\.json$/, reason: 'JSON cannot break a string: lockfiles, vectors, recorded requests' },
  { file: /^server\/platform\/db-types\.ts$/, reason: 'generated from the database' },
  { file: /^server\/migrations\//, reason: 'applied: checksums are recorded', unless: isNew },
  { file: /^bench\/fixtures\/zones\//, reason: 'zone files as other programs write them' },
  { file: /\.svg$/, reason: 'a path of a drawing' },
  { file: /^web\/look\.css$/, line: /url\("data:image\/svg\+xml,/, reason: 'a URL is one token' },
  {
    file: /^catalog\.yaml$/,
    line: /^ {6}\S/,
    reason: 'a paragraph of a legal text: a line break would change the value',
  },
]

/** @param {string} file */
function isNew(file) {
  return Number(path.basename(file).slice(0, 4)) > lastFreeMigration
}

/**
 * @param {string} file
 * @param {string} line
 */
const mayBeLonger = (file, line) =>
  exceptions.some(
    (one) => one.file.test(file) && (one.line?.test(line) ?? true) && !one.unless?.(file),
  )

const files = execFileSync('git', ['ls-files', '-z'], { cwd: root, encoding: 'utf8' })
  .split('\0')
  .filter((file) => file !== '')
let found = 0
for (const file of files) {
  let text
  try {
    text = readFileSync(path.join(root, file), 'utf8')
  } catch {
    // The file was removed, but the removal is not committed yet.
    continue
  }
  if (text.includes('\0')) continue
  for (const [index, line] of text.split('\n').entries()) {
    const columns = Array.from(line).length
    if (columns <= maxColumns || mayBeLonger(file, line)) continue
    found++
    process.stdout.write(`${file}:${index + 1}: ${columns} columns\n`)
  }
}
process.exitCode = found === 0 ? 0 : 1
