/** `npm test`: everything, from a bare clone. Arguments are handed to Vitest. */
import { spawn } from 'node:child_process'
import path from 'node:path'
import {
  ensurePackages,
  ensureWebBuild,
  ensureWordpress,
  environment,
  pinnedNode,
  root,
} from './bootstrap.mjs'

await ensurePackages()
await ensureWordpress()
await ensureWebBuild()
const vitest = spawn(
  pinnedNode(),
  [path.join(root, 'node_modules', 'vitest', 'vitest.mjs'), 'run', ...process.argv.slice(2)],
  {
    cwd: root,
    env: environment(),
    stdio: 'inherit',
  },
)
vitest.on('exit', (code, signal) => process.exit(signal ? 1 : (code ?? 1)))
