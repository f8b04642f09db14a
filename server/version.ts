/** The version of this process's code, and the log line with it. */
import { readFileSync } from 'node:fs'
import path from 'node:path'
import type { Log } from './platform/log.ts'

export const { version } = JSON.parse(
  readFileSync(path.resolve(import.meta.dirname, '../package.json'), 'utf8'),
) as { version: string }

/** Called once at the start, so that later log lines can be assigned to a process and version. */
export const noteStart = (log: Log, role: 'parent' | 'portal' | 'name_server'): void =>
  log.info({ role, pid: process.pid, version, node: process.version }, 'the process begins')
