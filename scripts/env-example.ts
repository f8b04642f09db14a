/**
 * Writes .env.example from the table in server/variables.ts. `--check` fails when the file is not
 * current.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { variables } from '../server/variables.ts'

const target = path.resolve(import.meta.dirname, '../.env.example')

/**
 * Every variable with what it is for. All are commented out: each stands for its default, and a
 * blank value would be a fault.
 */
export function envExample(): string {
  const rows = Object.entries(variables).map(
    ([name, { about, example }]) => `# ${about}\n#${name}=${example}\n`,
  )
  return (
    '# Copied to .env beside this file, it is read at the start; the environment goes before ' +
    'it.\n# What is shown after = is the default; nothing after it: there is none. Made by ' +
    `scripts/env-example.ts from server/variables.ts.\n\n${rows.join('\n')}`
  )
}

if (import.meta.main) {
  if (!process.argv.includes('--check')) writeFileSync(target, envExample())
  else if (readFileSync(target, 'utf8') !== envExample())
    throw new Error('.env.example is not current: node scripts/env-example.ts')
}
