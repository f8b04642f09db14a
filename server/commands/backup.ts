import type { Config } from '../config.ts'
import { systemClock } from '../platform/clock.ts'
import { connect } from '../platform/db.ts'
import { createJobs } from '../platform/jobs.ts'
import { createLog } from '../platform/log.ts'
import { hasWorkers } from '../platform/worker-lease.ts'
import { readRootSecret } from '../platform/secrets.ts'
import { archivesOf } from '../archives-of.ts'
import { openStore } from '../platform/object-store/index.ts'
import { BackupFault, makeBackup } from '../portal-backup/index.ts'
import { makeMissing } from '../wordpress/index.ts'
import { orRefuse, readWish } from './backup-options.ts'
import type { Output } from './output.ts'

const megabyte = 1_048_576

/**
 * `backup <where>`: saves the whole portal while it runs. Answers 1 if a site that should run is
 * missing.
 */
export async function backupCommand(
  config: Config,
  databaseUrl: string,
  args: readonly string[],
  out: Output,
): Promise<number> {
  const wish = readWish('backup', config, args, out)
  if (!wish) return 64
  return await orRefuse(out, async () => {
    const began = performance.now()
    const secret = readRootSecret(config.DATA_DIR, config.PORTAL_SECRET)
    if (secret === undefined)
      throw new BackupFault(
        `There is no secret in DATA_DIR ${config.DATA_DIR}, and PORTAL_SECRET is not set.`,
      )
    await completeSites(databaseUrl)
    const manifest = await makeBackup({
      store: openStore(wish.where, config),
      databaseUrl,
      archives: archivesOf(config),
      secret,
      passphrase: wish.passphrase,
      now: new Date(),
    })
    const rows = manifest.tables.reduce((sum, table) => sum + table.rows, 0)
    const bytes = manifest.files.reduce((sum, file) => sum + file.bytes, 0)
    const seconds = ((performance.now() - began) / 1000).toFixed(1)
    for (const { name, why } of manifest.notSaved)
      out.line(`The site ${name} is not in the backup: ${why}.`)
    out.line(
      `The backup ${manifest.id} is made in ${seconds} s: ${manifest.tables.length} tables with ` +
        `${rows} rows, ${manifest.sites.length} sites, ${Math.ceil(bytes / megabyte)} MB.`,
    )
    out.fields({
      id: manifest.id,
      tables: manifest.tables.length,
      rows,
      sites: manifest.sites.length,
      notSaved: manifest.notSaved,
      bytes,
      tookSeconds: Number(seconds),
    })
    return manifest.notSaved.length > 0 ? 1 : 0
  })
}

/** Makes the running portal back up the sites that have no proven backup yet. */
async function completeSites(databaseUrl: string): Promise<void> {
  const { db, close } = connect(databaseUrl, 2, () => undefined)
  try {
    if (!(await hasWorkers(db))) return
    const jobs = createJobs(databaseUrl, createLog('silent'), 'send')
    await jobs.start()
    try {
      await makeMissing({ db, clock: systemClock, jobs })
    } finally {
      await jobs.stop()
    }
  } finally {
    await close()
  }
}
