/**
 * One PostgreSQL cluster for the whole run, in memory if the machine allows, with a migrated
 * template database that every test file copies.
 */
import { chmodSync, existsSync, mkdtempSync, rmSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import pg from 'pg'
import { PgBoss } from 'pg-boss'
import type { TestProject } from 'vitest/node'
import { ensureServerBundle } from '../scripts/bootstrap.mjs'
import type { EngineTrial } from './docker-engine.ts'
import { migrate } from '../server/platform/db.ts'
import { simulatedWordpress } from './simulated-wordpress.ts'
import { startEmbeddedPostgres } from '../server/platform/postgres/index.ts'

declare module 'vitest' {
  interface ProvidedContext {
    adminUrl: string
    template: string
    /** Folder with the files that simulated sites are made from. */
    simulatedFiles: string
    /** Whether an engine runs here; undefined where it was not tried out. */
    engine: EngineTrial | undefined
  }
}

/** Tries an engine out once for all tests of the run that need one. */
async function tryEngine(project: TestProject): Promise<EngineTrial | undefined> {
  // The words of the command line; without any, all files run.
  const words = process.argv.slice(3).filter((word) => !word.startsWith('-'))
  const { testFiles } = await project.globTestFiles(words)
  if (!testFiles.some((file) => /docker[^/]*\.test\.ts$/.test(file))) return undefined
  const { engineTrial } = await import('./docker-engine.ts')
  return await engineTrial()
}

export const template = 'portal_template'

/** The URL of another database on the same server. */
export function withDatabase(url: string, name: string): string {
  return url.replace(/\/[^/?]+(\?|$)/, `/${name}$1`)
}

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  // Processes of their own run the bundle, as in production, so it is built from the present
  // sources.
  await ensureServerBundle()
  const engine = tryEngine(project)
  const folder = mkdtempSync(
    // The process id lets the next run remove what this one leaves behind (scripts/test.mjs).
    path.join(existsSync('/dev/shm') ? '/dev/shm' : os.tmpdir(), `portal-tests-${process.pid}-`),
  )
  // As root the server runs as another user, who must be able to enter the folder.
  chmodSync(folder, 0o755)
  const cluster = await startEmbeddedPostgres({
    folder,
    settings: {
      fsync: 'off',
      synchronous_commit: 'off',
      full_page_writes: 'off',
      max_connections: '300',
      shared_buffers: '64MB',
    },
  })
  const admin = new pg.Client({ connectionString: cluster.adminUrl })
  await admin.connect()
  await admin.query(`create database ${template}`)
  // A run opens some six thousand connections. Hashing the password 4096 times for each would cost
  // seconds of CPU time.
  await admin.query('set scram_iterations = 1')
  const password = admin.escapeLiteral(admin.password ?? '')
  await admin.query(`alter role postgres password ${password}`)
  await admin.end()
  const url = withDatabase(cluster.adminUrl, template)
  await migrate(url)
  const boss = new PgBoss({ connectionString: url, schedule: false, supervise: false })
  boss.on('error', () => undefined)
  await boss.start()
  await boss.stop({ graceful: false })
  project.provide('adminUrl', cluster.adminUrl)
  project.provide('template', template)
  project.provide('simulatedFiles', folder)
  simulatedWordpress(folder)
  project.provide('engine', await engine)
  return async () => {
    await cluster.stop()
    rmSync(folder, { recursive: true, force: true })
  }
}
