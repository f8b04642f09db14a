import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { expect, onTestFinished, test } from 'vitest'

const bootstrap = path.resolve(import.meta.dirname, '../scripts/bootstrap.mjs')

test('a start takes what .env says, but for what the environment says', () => {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'portal-env-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const seen = (): unknown =>
    JSON.parse(
      execFileSync(
        process.execPath,
        [
          '--input-type=module',
          '--eval',
          `const { environment, readEnvFile } = await import(${JSON.stringify(bootstrap)})
           readEnvFile(${JSON.stringify(folder)})
           const { PORT, SITES_PORT } = environment()
           console.log(JSON.stringify([PORT ?? null, SITES_PORT ?? null]))`,
        ],
        { env: { PATH: process.env['PATH'], SITES_PORT: '7002' }, encoding: 'utf8' },
      ),
    )
  expect(seen()).toEqual([null, '7002'])
  writeFileSync(path.join(folder, '.env'), '# mine\nPORT=7000\nSITES_PORT=7001\n')
  expect(seen()).toEqual(['7000', '7002'])
})
