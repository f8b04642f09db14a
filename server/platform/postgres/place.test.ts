import { execFileSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, mkdtempSync, rmSync, statSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import pg from 'pg'
import { expect, test } from 'vitest'
import { canEnter, chooseUser } from './binaries.ts'
import { startEmbeddedPostgres } from './index.ts'
import { choosePlace } from './place.ts'

const isRoot = process.getuid?.() === 0

/** Starts the cluster of that folder and runs one statement. */
async function ask(folder: string, statement: string): Promise<unknown[]> {
  const postgres = await startEmbeddedPostgres({ folder, settings: { fsync: 'off' } })
  const client = new pg.Client({ connectionString: postgres.url })
  try {
    await client.connect()
    return (await client.query<object>(statement)).rows
  } finally {
    await client.end()
    await postgres.stop()
  }
}

test.runIf(isRoot)(
  'a database that has become root’s is opened again, and none is begun elsewhere',
  { timeout: 60_000 },
  async () => {
    const here = mkdtempSync(path.join(os.tmpdir(), 'place-'))
    const [dataDir, before] = [path.join(here, 'portal'), process.umask(0o077)]
    const folder = path.join(dataDir, 'postgres')
    try {
      chmodSync(here, 0o711)
      mkdirSync(dataDir)
      chmodSync(dataDir, 0o711)
      await ask(folder, 'create table customer as select 7 as id')
      // As systemd leaves it for a unit whose user has become root (systemd.exec(5)).
      execFileSync('chown', ['-R', '0:0', dataDir])
      chmodSync(dataDir, 0o700)
      chmodSync(folder, 0o700)
      expect(await ask(folder, 'select id from customer')).toEqual([{ id: 7 }])
      expect(existsSync(path.join(folder, 'location'))).toBe(false)
      // Its user comes through, and lists nothing.
      expect(statSync(dataDir).mode & 0o777).toBe(0o711)
    } finally {
      process.umask(before)
      rmSync(here, { recursive: true, force: true })
    }
  },
)

test.runIf(isRoot)(
  'a database that its user cannot come to is a sentence, and no other one',
  () => {
    const here = mkdtempSync(path.join(os.tmpdir(), 'place-'))
    const folder = path.join(here, 'closed', 'portal', 'postgres')
    try {
      mkdirSync(path.join(folder, 'pgdata', 'PG_VERSION'), { recursive: true })
      for (const each of [here, path.dirname(folder), folder]) chmodSync(each, 0o711)
      chmodSync(path.join(here, 'closed'), 0o700)
      expect(() => choosePlace(folder, undefined)).toThrow(/^The database lies in /)
      expect(existsSync(path.join(folder, 'location'))).toBe(false)
      expect(canEnter(here, chooseUser(folder, undefined))).toBe(true)
    } finally {
      rmSync(here, { recursive: true, force: true })
    }
  },
)
