/**
 * `npm run check`: types, lint, format, columns, packages, dead code, generated files, and every
 * test (the walls among them). It reports all failures, not only the first.
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
  ['docs/retention.md', ['scripts/retention.ts', '--check']],
]
const withTests = !process.argv.includes('--no-tests')

/** Resolves with the exit code and the output; `stdio`: `inherit` prints the output at once. */
const run = (args, stdio) =>
  new Promise((resolve) => {
    let said = ''
    const child = spawn(pinnedNode(), args, {
      cwd: root,
      env: environment(),
      stdio: ['ignore', stdio, stdio],
    })
    for (const stream of [child.stdout, child.stderr])
      stream?.on('data', (chunk) => (said += chunk.toString()))
    child.on('close', (code) => resolve({ code, said }))
  })

const failed = []
const waiting = steps.values()
/** Two at a time, because most of them use one core; each prints its output when it has ended. */
const worker = async () => {
  for (const [name, args] of waiting) {
    const { code, said } = await run(args, 'pipe')
    process.stdout.write(`\n== ${String(name)}\n${said}`)
    if (code !== 0) failed.push(name)
  }
}
await Promise.all([worker(), worker()])
if (withTests) {
  process.stdout.write('\n== tests\n')
  if ((await run(['scripts/test.mjs'], 'inherit')).code !== 0) failed.push('tests')
}
process.stdout.write(
  failed.length === 0 ? '\nEverything holds.\n' : `\nFails: ${failed.join(', ')}\n`,
)
process.exit(failed.length === 0 ? 0 : 1)
