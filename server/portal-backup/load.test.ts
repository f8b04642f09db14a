/** A database that is loaded by another release than the one that saved it. */
import { archivesIn } from '../wordpress/index.ts'
import { randomBytes } from 'node:crypto'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import pg from 'pg'
import { afterAll, expect, inject, test } from 'vitest'
import { withDatabase } from '../../test/cluster.ts'
import { migrate } from '../platform/db.ts'
import { thisRelease } from '../platform/migrations.ts'
import { folderStore } from '../platform/object-store/index.ts'
import { loadDatabase } from './load.ts'
import { makeBackup } from './make.ts'
import { openBackup } from './manifest.ts'
import { readerOf } from './verify.ts'

const passphrase = 'a passphrase for tests'
const scratch = fs.mkdtempSync(path.join(os.tmpdir(), 'portal-load-'))
afterAll(() => fs.rmSync(scratch, { recursive: true, force: true }))

test('a portal of an earlier release comes up with its own migrations, and goes on', async () => {
  const admin = new pg.Client({ connectionString: inject('adminUrl') })
  await admin.connect()
  const made = ['from', 'to'].map((side) => `older_${side}_${randomBytes(4).toString('hex')}`)
  for (const name of made) await admin.query(`create database ${name}`)
  const [from = '', to = ''] = made.map((name) => withDatabase(inject('adminUrl'), name))
  try {
    const { number, migrations } = await thisRelease()
    const last = migrations.findIndex(({ name }) => name === '0047_known_networks')
    await migrate(from, { number, migrations: migrations.slice(0, last + 1) })
    const store = folderStore(path.join(scratch, 'older'))
    const parts = {
      store,
      archives: archivesIn(path.join(scratch, 'archives')),
      secret: 'a secret of an earlier release, forty',
      passphrase,
      now: new Date(),
    }
    await makeBackup({ ...parts, databaseUrl: from })
    const opened = await openBackup(store, passphrase)
    expect(opened.manifest).toMatchObject({ queueVersion: null, sites: [] })
    await loadDatabase(to, opened.manifest, readerOf(store, opened))
    expect(await migrate(to)).toContain('0049_portal_backup')
    // A backup of a later release is not restored.
    const later = { ...opened.manifest, migrations: [...opened.manifest.migrations, '9999_later'] }
    await admin.query(`drop database ${made[1]} with (force)`)
    await admin.query(`create database ${made[1]}`)
    await expect(loadDatabase(to, later, readerOf(store, opened))).rejects.toThrow(
      'The backup has the migration 9999_later, which this release does not have',
    )
  } finally {
    for (const name of made) await admin.query(`drop database ${name} with (force)`)
    await admin.end()
  }
})
