/**
 * Writes .env.example from the table in server/variables/. `--check` fails when the file is not
 * current.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { variables } from '../server/variables/index.ts'

const target = path.resolve(import.meta.dirname, '../.env.example')

/** Lines of at most 100 columns that begin with #. */
function comment(text: string): string {
  const lines = ['#']
  for (const word of text.split(' ')) {
    const longer = `${lines.at(-1)} ${word}`
    if (longer.length > 100) lines.push(`# ${word}`)
    else lines[lines.length - 1] = longer
  }
  return `${lines.join('\n')}\n`
}

/**
 * Every variable with its description. All are commented out: each shows its default, and an empty
 * value would be an error.
 */
export function envExample(): string {
  const rows = Object.entries(variables).map(
    ([name, { about, example }]) => `${comment(about)}#${name}=${example}\n`,
  )
  const head =
    comment(
      'Copied to .env beside this file, it is read at the start; the environment goes before it.',
    ) +
    comment('What is shown after = is the default; nothing after it: there is none.') +
    comment('Made by scripts/env-example.ts from server/variables/.')
  return `${head}\n${rows.join('\n')}`
}

if (import.meta.main) {
  if (!process.argv.includes('--check')) writeFileSync(target, envExample())
  else if (readFileSync(target, 'utf8') !== envExample())
    throw new Error('.env.example is not current: node scripts/env-example.ts')
}
