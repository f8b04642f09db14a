/** What this process is: the version of its code, and the line that says so. */
import { readFileSync } from 'node:fs'
import path from 'node:path'
import type { Log } from './platform/log.ts'

export const { version } = JSON.parse(
  readFileSync(path.resolve(import.meta.dirname, '../package.json'), 'utf8'),
) as { version: string }

/** Once at the start, so that the lines behind it can be told apart by process and version. */
export const noteStart = (log: Log, role: 'parent' | 'portal' | 'name_server'): void =>
  log.info({ role, pid: process.pid, version, node: process.version }, 'the process begins')
