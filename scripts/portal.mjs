/** `npm run portal -- <command>`: an operator's commands for a portal, from the shell. */
import { spawn } from 'node:child_process'
import { ensurePackages, environment, pinnedNode, root } from './bootstrap.mjs'

await ensurePackages()
spawn(
  pinnedNode(),
  ['--disable-warning=ExperimentalWarning', 'server/command.ts', ...process.argv.slice(2)],
  {
    cwd: root,
    env: environment(),
    stdio: 'inherit',
  },
).on('exit', (code) => process.exit(code ?? 1))
