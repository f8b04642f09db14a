import { archivesOf } from '../archives-of.ts'
import type { Config } from '../config.ts'
import { createLog } from '../platform/log.ts'
import { openStore } from '../platform/object-store/index.ts'
import { restoreBackup } from '../portal-backup/index.ts'
import { openSiteRuntime } from '../site-runtime.ts'
import { addressingOf } from '../wordpress/index.ts'
import { orRefuse, readWish } from './backup-options.ts'
import type { Output } from './output.ts'

/**
 * `restore <where>`: restores the newest backup into an empty DATA_DIR and an empty database. Sites
 * of other nodes stay there, unless `--here` brings them to this one. Answers 1 if the target is
 * not empty, the backup is faulty, or a site is missing.
 */
export async function restoreCommand(
  config: Config,
  databaseUrl: string,
  args: readonly string[],
  out: Output,
): Promise<number> {
  const wish = readWish(
    'restore',
    config,
    args.filter((one) => one !== '--here'),
    out,
  )
  if (!wish) return 64
  return await orRefuse(out, async () => {
    const began = performance.now()
    const { manifest, sites, missing } = await restoreBackup({
      store: openStore(wish.where, config),
      passphrase: wish.passphrase,
      databaseUrl,
      dataDir: config.DATA_DIR,
      archives: archivesOf(config),
      archivesTo: config.SITE_BACKUPS_TO,
      node: config.NODE_NAME,
      bringAllHere: args.includes('--here'),
      givenSecret: config.PORTAL_SECRET,
      addressing: addressingOf(config),
      openRuntime: () => openSiteRuntime(config, createLog('warn')),
      say: (line) => out.line(line),
    })
    for (const line of missing) out.line(line)
    const seconds = ((performance.now() - began) / 1000).toFixed(1)
    out.line(`The portal is restored in ${seconds} s: start it, and run ledger:check --full.`)
    out.fields({
      id: manifest.id,
      madeAt: manifest.madeAt,
      sites,
      missing,
      tookSeconds: Number(seconds),
    })
    return missing.length > 0 ? 1 : 0
  })
}
