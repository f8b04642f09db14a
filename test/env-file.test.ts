import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { withEnvFile } from '../server/env-file.ts'

test('a start takes what .env says, but for what the environment says', () => {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'portal-env-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const file = path.join(folder, 'mine.env')
  const seen = (): unknown => {
    const { PORT, SITES_PORT } = withEnvFile({ ENV_FILE: file, SITES_PORT: '7002' })
    return [PORT, SITES_PORT]
  }
  expect(seen).toThrow(`ENV_FILE ${file} does not exist.`)
  writeFileSync(file, '# mine\nPORT=7000\nSITES_PORT=7001\n')
  expect(seen()).toEqual(['7000', '7002'])
})

test(
  'a start takes what .env says: the server’s, and that of a command',
  { timeout: 60_000 },
  () => {
    const folder = mkdtempSync(path.join(os.tmpdir(), 'portal-env-'))
    onTestFinished(() => rmSync(folder, { recursive: true }))
    const file = path.join(folder, 'mine.env')
    writeFileSync(file, 'PORT=none\n')
    for (const program of [['server/main.ts'], ['server/command.ts', 'sites']]) {
      // The environment is also invalid, so that nothing starts in any case.
      const { status, stderr } = spawnSync(
        process.execPath,
        ['--disable-warning=ExperimentalWarning', ...program],
        {
          cwd: path.resolve(import.meta.dirname, '..'),
          env: {
            PATH: process.env['PATH'] ?? '',
            HOME: process.env['HOME'] ?? '/',
            DATA_DIR: folder,
            ENV_FILE: file,
            SITES_PORT: 'none',
          },
          encoding: 'utf8',
        },
      )
      expect(status).toBe(78)
      expect(stderr.match(/\w*PORT(?= must be)/g)?.toSorted()).toEqual(['PORT', 'SITES_PORT'])
    }
  },
)
