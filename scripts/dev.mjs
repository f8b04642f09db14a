/**
 * `npm run dev`: the server restarts and the page reloads when a file changes. Vite serves the
 * pages and forwards calls to the server.
 */
import { spawn } from 'node:child_process'
import path from 'node:path'
import {
  ensurePackages,
  ensureServerBundle,
  ensureWordpress,
  environment,
  pinnedNode,
  root,
} from './bootstrap.mjs'

try {
  process.loadEnvFile(path.join(root, '.env'))
} catch (error) {
  // Only for the ports, which this script needs; the server reads .env itself.
  if (error.code !== 'ENOENT') throw error
}
await ensurePackages()
await ensureWordpress()
// Copying sites and the owners' acts on files need the bundle (confined-program.ts).
await ensureServerBundle()
const port = process.env.PORT ?? '8080'
const pagesPort = process.env.WEB_PORT ?? '5173'
const origin = `http://127.0.0.1:${port}`
const children = [
  // Customers use Vite's address, so gateways must send the browser back to it.
  spawn(
    pinnedNode(),
    [
      '--watch-path=server',
      '--watch-path=contract',
      '--watch-path=sandbox',
      '--watch-preserve-output',
      '--disable-warning=ExperimentalWarning',
      'server/main.ts',
    ],
    {
      cwd: root,
      env: environment({ PORTAL_URL: process.env.PORTAL_URL ?? `http://127.0.0.1:${pagesPort}` }),
      stdio: 'inherit',
    },
  ),
  spawn(
    pinnedNode(),
    [
      path.join('node_modules', 'vite', 'bin', 'vite.js'),
      'web',
      '--host',
      '127.0.0.1',
      '--port',
      pagesPort,
      '--strictPort',
    ],
    { cwd: root, env: environment({ PORTAL_ORIGIN: origin }), stdio: 'inherit' },
  ),
]
const stop = (signal) => {
  for (const child of children) child.kill(signal)
}
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => stop(signal))
let left = children.length
for (const child of children) {
  child.on('exit', () => {
    stop('SIGTERM')
    if (--left === 0) process.exit(0)
  })
}
