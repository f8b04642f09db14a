/** The operator's commands, as processes of their own beside a test portal. */
import { spawn, type ChildProcess } from 'node:child_process'
import os from 'node:os'
import path from 'node:path'
import { serverProgram } from '../scripts/bootstrap.mjs'
import type { TestPortal } from './portal.ts'

const root = path.resolve(import.meta.dirname, '..')

/** Starts a command; `env` overrides the portal's settings. */
export function startCommand(
  portal: TestPortal,
  env: NodeJS.ProcessEnv,
  ...args: string[]
): ChildProcess {
  return spawn(
    process.execPath,
    ['--disable-warning=ExperimentalWarning', serverProgram('command'), ...args],
    {
      cwd: root,
      env: {
        ...process.env,
        NODE_ENV: 'test',
        DATABASE_URL: portal.databaseUrl,
        DATA_DIR: portal.dataDir,
        PORT: String(portal.config.PORT),
        SANDBOX_PORT: String(portal.config.SANDBOX_PORT),
        SITES_PORT: String(portal.config.SITES_PORT),
        PORTAL_SECRET: portal.rootSecret,
        LOG_LEVEL: 'silent',
        ENV_FILE: os.devNull,
        ...env,
      },
    },
  )
}

/** Waits for the end of the command; returns its exit code and output. */
export function runCommand(
  portal: TestPortal,
  env: NodeJS.ProcessEnv,
  ...args: string[]
): Promise<{ code: number | null; said: string }> {
  const child = startCommand(portal, env, ...args)
  let said = ''
  for (const stream of [child.stdout, child.stderr])
    stream?.on('data', (chunk: Buffer) => (said += chunk.toString()))
  return new Promise((resolve) => child.once('close', (code) => resolve({ code, said })))
}
