// How long a new site takes without the portal: copy WordPress, start the runtime with an
// installation, first page. The portal's time from order to first page is compared with it (limit:
// 1.2 times). Run: node bench/bare-runner.mjs [runs]
import { spawn } from 'node:child_process'
import fs from 'node:fs'
import http from 'node:http'
import os from 'node:os'
import path from 'node:path'
import readline from 'node:readline'
import { defaultFilesDir, defaultRuntimeDir, ensureWordpress } from '../scripts/wordpress-files.mjs'

const firstPage = (port) =>
  new Promise((resolve, reject) => {
    const request = http.get(
      { host: '127.0.0.1', port, path: '/', headers: { host: 'bare.localhost:8082' } },
      (response) => {
        response.resume()
        response.on('end', () => resolve(response.statusCode))
      },
    )
    request.on('error', reject)
  })

/**
 * Starts a site without a portal; returns its port, its process, its folder, and a function that
 * ends everything. `runtimeDir`: another version of the runtime, with its packages installed.
 */
export async function startBare({
  memoryMb = 512,
  phpMemoryMb = 128,
  runtimeDir = defaultRuntimeDir,
} = {}) {
  const dir = fs.mkdtempSync(path.join(os.tmpdir(), 'portal-bare-'))
  fs.cpSync(path.join(defaultFilesDir, 'wp'), path.join(dir, 'site'), {
    recursive: true,
    preserveTimestamps: true,
  })
  fs.cpSync(
    path.join(`${defaultFilesDir}-templates`, 'opcache'),
    path.join(dir, 'internal/shared/opcache'),
    {
      recursive: true,
      preserveTimestamps: true,
    },
  )
  const child = spawn(
    process.execPath,
    [path.join(runtimeDir, 'main.js'), '--site', 'bare', '--container', 'web-1'],
    {
      stdio: ['ignore', 'ignore', 'inherit', 'pipe'],
    },
  )
  const ended = new Promise((resolve) => child.once('close', resolve))
  const stop = async () => {
    child.kill('SIGTERM')
    await ended
    fs.rmSync(dir, { recursive: true, force: true })
  }
  try {
    const control = child.stdio[3]
    control.write(
      `${JSON.stringify({
        siteDir: path.join(dir, 'site'),
        internalDir: path.join(dir, 'internal'),
        sqliteDir: path.join(defaultFilesDir, 'sqlite-database-integration'),
        ticketsDir: path.join(dir, 'tickets'),
        url: 'http://bare.localhost:8082',
        memoryMb,
        phpMemoryMb,
        ssdBytes: 1e10,
        databaseBytes: 1e10,
        internalBytes: 5e8,
        internet: false,
        install: {
          user: 'boss',
          password: 'Another#1pass',
          email: 'boss@example.com',
          title: 'Bare',
          language: 'vi',
        },
      })}\n`,
    )
    const port = await new Promise((resolve, reject) => {
      readline.createInterface({ input: control }).on('line', (line) => {
        const said = JSON.parse(line)
        if (said.ev === 'listening') resolve(said.port)
      })
      child.once('close', (code) => reject(new Error(`the runtime ended with ${code}`)))
    })
    return { port, pid: child.pid, siteDir: path.join(dir, 'site'), stop }
  } catch (error) {
    await stop()
    throw error
  }
}

/** Seconds from nothing to the first page. */
export async function bareRun() {
  const started = performance.now()
  const { port, stop } = await startBare()
  try {
    const status = await firstPage(port)
    if (status !== 200) throw new Error(`the first page answers ${status}`)
    return (performance.now() - started) / 1000
  } finally {
    await stop()
  }
}

if (process.argv[1] === import.meta.filename) {
  await ensureWordpress()
  const runs = []
  for (let run = 0; run < Number(process.argv[2] ?? 3); run++) runs.push(await bareRun())
  runs.sort((a, b) => a - b)
  console.log(
    JSON.stringify({
      seconds: runs.map((one) => Number(one.toFixed(2))),
      median: Number(runs[runs.length >> 1].toFixed(2)),
    }),
  )
}
