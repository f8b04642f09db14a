import { readFileSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { createLog } from './platform/log.ts'
import { noteStart } from './version.ts'

test('the first line of a process names its role, pid and version', () => {
  const lines: string[] = []
  noteStart(createLog('info', { write: (line: string) => void lines.push(line) }), 'portal')
  const file = path.resolve(import.meta.dirname, '../package.json')
  const { version } = JSON.parse(readFileSync(file, 'utf8')) as { version: string }
  expect(lines.map((line) => JSON.parse(line) as object)).toMatchObject([
    { role: 'portal', pid: process.pid, version, node: process.version },
  ])
})
