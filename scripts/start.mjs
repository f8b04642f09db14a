/** `npm start`: from a bare clone to a running portal. */
import { spawn } from 'node:child_process'
import { environment, pinnedNode, prepare, root, serverProgram } from './bootstrap.mjs'

try {
  await prepare()
} catch (error) {
  process.stderr.write(`\nThe portal cannot be prepared: ${error.message}\n`)
  process.exit(1)
}

// Ctrl-C in a terminal reaches the whole process group; a signal to this process alone is
// forwarded. Either way the portal shuts itself down.
const portal = spawn(
  pinnedNode(),
  ['--disable-warning=ExperimentalWarning', serverProgram('main')],
  {
    cwd: root,
    env: environment(),
    stdio: 'inherit',
  },
)
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => portal.kill(signal))
// npm sends SIGTERM to the shell between npm and this process, and the shell dies without
// forwarding it. So under npm the loss of the parent means a stop.
if (process.env.npm_lifecycle_event) {
  const parent = process.ppid
  const watching = setInterval(() => {
    if (process.ppid === parent) return
    // Once: a later signal means "at once", and would cut off what is under way.
    clearInterval(watching)
    portal.kill('SIGTERM')
  }, 250).unref()
}
portal.on('exit', (code, signal) => process.exit(signal ? 128 : (code ?? 1)))
