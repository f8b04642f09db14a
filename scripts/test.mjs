/**
 * `npm test`: everything, from a bare clone. `--fast` runs what opens no portal, no browser and no
 * process of ours (`npm run test:fast`). Other arguments are handed to Vitest.
 */
import { spawn } from 'node:child_process'
import path from 'node:path'
import { fastTests } from './tiers.mjs'
import {
  ensurePackages,
  ensureWebBuild,
  ensureWordpress,
  environment,
  pinnedNode,
  root,
} from './bootstrap.mjs'

await ensurePackages()
const fast = process.argv.includes('--fast')
const given = process.argv.slice(2).filter((argument) => argument !== '--fast')
if (!fast) {
  await ensureWordpress()
  await ensureWebBuild()
}
const vitest = spawn(
  pinnedNode(),
  [
    path.join(root, 'node_modules', 'vitest', 'vitest.mjs'),
    'run',
    ...(fast ? fastTests() : []),
    ...given,
  ],
  {
    cwd: root,
    env: environment(),
    stdio: 'inherit',
  },
)
vitest.on('exit', (code, signal) => process.exit(signal ? 1 : (code ?? 1)))
