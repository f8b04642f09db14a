/** Leftovers that cannot be swept: the operator hears of it, once, and they go when it is over. */
import fs from 'node:fs'
import http from 'node:http'
import os from 'node:os'
import path from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { engineApi } from '../docker/engine-api.ts'
import { createEngine } from '../docker/engine.ts'
import { startSweeps } from './sweeps.ts'

test('a sweep that an engine keeps from its end is told, anew if the fault changes', async () => {
  const dir = fs.mkdtempSync(path.join(os.tmpdir(), 'portal-sweeps-'))
  onTestFinished(() => fs.rmSync(dir, { recursive: true, force: true }))
  const sitesDir = path.join(dir, 'sites')
  const doomed = path.join(sitesDir, '.removing-gone-1-x')
  fs.mkdirSync(doomed, { recursive: true })
  fs.mkdirSync(path.join(sitesDir, '.scratch-old', 'wordpress'), { recursive: true })
  const warned: string[] = []
  const socketPath = path.join(dir, 'engine.sock')
  const engine = createEngine({
    api: engineApi(socketPath),
    sitesDir,
    toolsDir: dir,
    images: { wordpress: 'none', mariadb: 'none' },
    pageMs: 1_000,
    cores: 1,
    warn: () => undefined,
  })
  let swept = 0
  const sweeps = startSweeps({
    sitesDir,
    isSite: () => false,
    engine: {
      endLeftovers: (id, of) => {
        swept += 1
        return engine.endLeftovers(id, of)
      },
    },
    everyMs: 5,
    log: {
      warn: (detail, message) =>
        void warned.push(`${message}: ${(detail as { err?: Error }).err?.message}`),
    },
  })
  onTestFinished(() => sweeps.close())
  // There is no engine yet.
  await expect.poll(() => swept).toBeGreaterThan(3)
  expect(warned).toEqual([expect.stringMatching(/^what removed sites left is not swept: .*ENOENT/)])
  // It is there, and has a fault of its own.
  let isWell = false
  const server = http.createServer((request, response) => {
    response.setHeader('content-type', 'application/json')
    if (request.url === '/version') {
      response.end(JSON.stringify({ ApiVersion: '1.41', MinAPIVersion: '1.12' }))
    } else if (isWell) response.end('[]')
    else response.writeHead(500).end(JSON.stringify({ message: 'no room' }))
  })
  await new Promise<void>((resolve) => server.listen(socketPath, resolve))
  onTestFinished(() => void server.close())
  await expect.poll(() => warned.length).toBe(2)
  const before = swept
  await expect.poll(() => swept).toBeGreaterThan(before + 3)
  expect(warned).toHaveLength(2)
  expect(fs.existsSync(doomed)).toBe(true)
  isWell = true
  await expect.poll(() => fs.readdirSync(sitesDir)).toEqual([])
})
