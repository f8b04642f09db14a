/** `npm run portal -- <command>`: runs an operator's command for a portal from the shell. */
import { spawn } from 'node:child_process'
import {
  ensurePackages,
  ensureServerBundle,
  environment,
  pinnedNode,
  root,
  serverProgram,
} from './bootstrap.mjs'

await ensurePackages()
await ensureServerBundle()
spawn(
  pinnedNode(),
  ['--disable-warning=ExperimentalWarning', serverProgram('command'), ...process.argv.slice(2)],
  {
    cwd: root,
    env: environment(),
    stdio: 'inherit',
  },
).on('exit', (code) => process.exit(code ?? 1))
