/**
 * `npm run check`: types, lint, format, columns, packages, dead code, generated files, and every
 * test (the walls among them). Says all that is wrong, not only the first.
 */
import { spawn } from 'node:child_process'
import path from 'node:path'
import { ensurePackages, environment, pinnedNode, root } from './bootstrap.mjs'

await ensurePackages()
const tool = (...parts) => path.join(root, 'node_modules', ...parts)
const steps = [
  ['types', [tool('typescript', 'bin', 'tsc'), '-b']],
  ['lint', [tool('oxlint', 'bin', 'oxlint'), '--type-aware', '--deny-warnings']],
  ['format', [tool('oxfmt', 'bin', 'oxfmt'), '--check', '.']],
  ['columns', ['scripts/columns.mjs']],
  ['packages', ['scripts/packages.ts']],
  ['dead code', [tool('knip', 'bin', 'knip.js')]],
  ['migrations', ['scripts/migrations.ts']],
  ['database types', ['scripts/db-types.ts', '--check']],
  ['.env.example', ['scripts/env-example.ts', '--check']],
  ...(process.argv.includes('--no-tests') ? [] : [['tests', ['scripts/test.mjs']]]),
]

const failed = []
for (const [name, args] of steps) {
  process.stdout.write(`\n== ${String(name)}\n`)
  const code = await new Promise((resolve) =>
    spawn(pinnedNode(), args, { cwd: root, env: environment(), stdio: 'inherit' }).on(
      'exit',
      resolve,
    ),
  )
  if (code !== 0) failed.push(name)
}
process.stdout.write(
  failed.length === 0 ? '\nEverything holds.\n' : `\nFails: ${failed.join(', ')}\n`,
)
process.exit(failed.length === 0 ? 0 : 1)
