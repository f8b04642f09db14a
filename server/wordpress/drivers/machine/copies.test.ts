/** Copies of many sites in one folder, as a node has them when another machine asks for them. */
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { expect, onTestFinished, test } from 'vitest'
import { filesDir, runtimeDir } from '../../../../test/embedded-wordpress.ts'
import { ArchiveRunner, type CopyJob } from './archive-runner.ts'
import { Confinement } from './confinement.ts'
import { SiteContent } from './content.ts'
import { Copies, proveCopy } from './copies.ts'

/** Records the queue key of each job. */
class ToldRunner extends ArchiveRunner {
  readonly keys: string[] = []
  override async run<T>(job: CopyJob): Promise<T> {
    this.keys.push(job.queueKey)
    return await super.run<T>(job)
  }
}

test('a site that is slow to copy waits by itself, wherever its archives come to', async () => {
  const sitesDir = fs.mkdtempSync(path.join(os.tmpdir(), 'portal-queues-'))
  const confinement = new Confinement({
    nodePath: process.execPath,
    runtimeDir,
    filesDir,
    sitesDir,
    exampleUser: null,
    log: { warn: () => {} },
  })
  const archiveRunner = new ToldRunner(confinement)
  onTestFinished(async () => {
    await archiveRunner.close()
    fs.rmSync(sitesDir, { recursive: true, force: true })
  })
  for (const id of ['one', 'two']) {
    const dir = path.join(sitesDir, id)
    const database = path.join(dir, 'wordpress/wp-content/database')
    fs.mkdirSync(database, { recursive: true })
    const sqlite = new DatabaseSync(path.join(database, '.ht.sqlite'))
    sqlite.exec('create table t (a)')
    sqlite.close()
    const content = new SiteContent(archiveRunner, id, dir, () => Promise.resolve(null), null)
    const copies = new Copies(content)
    const file = path.join(sitesDir, 'archives', `${id}.tar.gz`)
    const figures = await copies.pack(file)
    const host = { archiveRunner, sitesDir, engine: null }
    expect(await proveCopy(host, file, null, id)).toEqual(figures)
    await copies.prepare({ file, figures }, { diskBytes: 1e6, databaseBytes: 1e6 })
  }
  expect(archiveRunner.keys).toEqual(['one', 'one', 'one', 'two', 'two', 'two'])
})
