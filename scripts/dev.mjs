/**
 * `npm run dev`: the server restarts and the page reloads when a file changes. The pages are served
 * by Vite, which hands calls on to the server.
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
  // The ports are needed here already; the server reads the rest by itself.
  if (error.code !== 'ENOENT') throw error
}
await ensurePackages()
await ensureWordpress()
// Copies of sites and owners' acts on files run bundled (confined-program.ts).
await ensureServerBundle()
const port = process.env.PORT ?? '8080'
const pagesPort = process.env.WEB_PORT ?? '5173'
const origin = `http://127.0.0.1:${port}`
const children = [
  // The address that customers see is Vite's, so that gateways send the browser back to it.
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
