import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import path from 'node:path'
import type { Config } from '../config.ts'
import { createLog } from '../platform/log.ts'
import { openStore } from '../platform/object-store/index.ts'
import { verifyBackup } from '../portal-backup/index.ts'
import { openSiteRuntime } from '../site-runtime.ts'
import { NowhereToProve, type WordpressDriver } from '../wordpress/index.ts'
import { orRefuse, readWish } from './backup-options.ts'
import type { Output } from './output.ts'

/**
 * Test-restores archives of this machine's kind of database.
 * @throws NowhereToProve for another kind, and if sites would need users that do not exist here
 */
const proverOf =
  ({ capabilities, prove }: WordpressDriver): WordpressDriver['prove'] =>
  async (file, _site, database = capabilities.database) => {
    if (database !== capabilities.database)
      throw new NowhereToProve(
        database === 'mariadb'
          ? 'it needs sites in containers (WORDPRESS_RUNTIME=docker)'
          : 'it needs WORDPRESS_RUNTIME=embedded',
      )
    if (database === 'mariadb' && process.getuid?.() !== 0)
      throw new NowhereToProve('sites in containers are tried by root only')
    return await prove(file)
  }

/**
 * `verify-backup <where>`: test-restores the newest backup and prints the results. Answers 1 if
 * something does not agree.
 */
export async function verifyBackupCommand(
  config: Config,
  databaseUrl: string,
  args: readonly string[],
  out: Output,
): Promise<number> {
  const wish = readWish('verify-backup', config, args, out)
  if (!wish) return 64
  return await orRefuse(out, async () => {
    // On a machine with only the release, the folder does not exist yet.
    mkdirSync(config.DATA_DIR, { recursive: true })
    // Sites are tested in a separate folder, because a running portal uses its own.
    const scratch = mkdtempSync(path.join(config.DATA_DIR, 'verify-'))
    const runtime = await openSiteRuntime({ ...config, DATA_DIR: scratch }, createLog('silent'))
    try {
      const { manifest, agreed, faults, untried } = await verifyBackup({
        store: openStore(wish.where, config),
        passphrase: wish.passphrase,
        databaseUrl,
        scratchFolder: path.join(scratch, 'archive'),
        prove: proverOf(runtime.driver),
      })
      out.line(`The backup ${manifest.id}, made ${manifest.madeAt} by ${manifest.release}:`)
      for (const line of agreed) out.line(`  ${line}`)
      for (const { name, why } of manifest.notSaved)
        out.line(`  The site ${name} is not in it: ${why}.`)
      for (const { name, why } of untried)
        out.line(`  The site ${name} could not be tried here: ${why}.`)
      for (const fault of faults) out.line(fault)
      out.line(faults.length === 0 ? 'The backup is good.' : 'The backup is not good.')
      out.fields({
        id: manifest.id,
        good: faults.length === 0,
        agreed,
        faults,
        notSaved: manifest.notSaved,
        untried,
      })
      return faults.length === 0 ? 0 : 1
    } finally {
      await runtime.close()
      rmSync(scratch, { recursive: true, force: true })
    }
  })
}
