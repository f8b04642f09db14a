/**
 * `npm run bench [-- name …]`: each benchmark prints its figures and whether they stay within their
 * limits. Benchmarks are not tests, because machines are noisy.
 */
import { spawn } from 'node:child_process'
import path from 'node:path'
import {
  ensureServerBundle,
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
await ensureServerBundle()
const all = [
  'order',
  'neighbours',
  'posting',
  'renewals',
  'scale',
  'transactions',
  'pages',
  'interaction',
  'screens',
  'operator-day',
  'edge',
  'cache',
  'tls',
  'front-page',
  'hosting',
  'docker',
  'docker-faults',
  'idle',
  'upgrade',
  'rolling',
  'swarm',
  'full-disk',
  'processes',
  'dns',
  'dns-differential',
  'dns-loop',
  'zone-files',
  'plugins',
  'statements',
]
const wanted = process.argv.slice(2)
for (const name of wanted.length > 0 ? wanted : all) {
  process.stdout.write(`\n== ${name}\n`)
  const code = await new Promise((resolve) =>
    spawn(
      pinnedNode(),
      ['--disable-warning=ExperimentalWarning', path.join('bench', `${name}.ts`)],
      {
        cwd: root,
        env: environment(),
        stdio: 'inherit',
      },
    ).on('exit', resolve),
  )
  if (code !== 0) process.exitCode = 1
}
