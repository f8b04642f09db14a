/**
 * Keeps packages on the portal's own disk: each is fetched once for all sites, validated, and from
 * then on identified by its checksum. Sites need no access to the internet for it.
 */
import fs from 'node:fs/promises'
import path from 'node:path'
import type { Database } from '../platform/db.ts'
import { DriverFailure } from '../platform/errors.ts'
import { downloadFile } from '../platform/http-download.ts'
import { BadZip, sha256Of, withZip, type ZipLimits } from '../platform/zip.ts'
import type { SoftwarePackage } from './driver.ts'
import type { UpdateDirectory } from './update-directory.ts'

const peer = 'the directory of WordPress'
const megabyte = 1_048_576
/** WordPress unpacks to 90 MB; the driver has the same limits. */
const limits: ZipLimits = {
  archiveBytes: 128 * megabyte,
  bytes: 512 * megabyte,
  files: 40_000,
}
const timeoutMs = 10 * 60_000
/** How long an unused package is kept; if needed later, it is fetched again. */
const keptMs = 30 * 24 * 3_600_000

export interface Mirror {
  /**
   * The zip of a release that the directory has named. DriverFailure rejected: there is no such
   * release, or its content has changed; unavailable: it cannot be fetched now.
   */
  file(of: SoftwarePackage): Promise<string>
  /** Drops the file of a release, which is not what it should be, so that it is fetched again. */
  forget(of: SoftwarePackage): Promise<void>
  /** Removes packages that have not been used for a month. */
  tidy(): Promise<void>
}

export function createMirror(deps: {
  readonly db: Database
  readonly folder: string
  readonly directory: UpdateDirectory
}): Mirror {
  const { db, folder, directory } = deps
  /** Simultaneous requests for a file wait for one fetch. */
  const fetching = new Map<string, Promise<string>>()

  async function judged(file: string): Promise<string> {
    try {
      await withZip(file, limits, async (zip) => {
        if (zip.entries.length === 0) throw new BadZip('the archive is empty')
      })
      return await sha256Of(file)
    } catch (error) {
      await fs.rm(file, { force: true })
      if (error instanceof BadZip) throw new DriverFailure('rejected', `${peer}: ${error.message}`)
      throw error
    }
  }

  async function fetch(of: SoftwarePackage, file: string): Promise<string> {
    const release = await db
      .selectFrom('software_release')
      .select(['package', 'sha256'])
      .where('kind', '=', of.kind)
      .where('slug', '=', of.slug)
      .where('version', '=', of.version)
      .executeTakeFirst()
    if (!release || !directory.handsOut(release.package))
      throw new DriverFailure('rejected', `${peer} knows no ${of.slug} ${of.version}`)
    const isThere = await fs.stat(file).then(
      () => true,
      () => false,
    )
    if (isThere && release.sha256 !== null && (await sha256Of(file)) === release.sha256) {
      const now = new Date()
      await fs.utimes(file, now, now)
      return file
    }
    await downloadFile({
      peer,
      url: release.package,
      file,
      maxBytes: limits.archiveBytes,
      timeoutMs,
    })
    const sha256 = await judged(file)
    // The first checksum is binding, whichever process stored it: a release does not change.
    const { sha256: first } = await db
      .updateTable('software_release')
      .set((eb) => ({ sha256: eb.fn.coalesce('sha256', eb.val(sha256)) }))
      .where('kind', '=', of.kind)
      .where('slug', '=', of.slug)
      .where('version', '=', of.version)
      .returning('sha256')
      .executeTakeFirstOrThrow()
    if (first !== sha256) {
      await fs.rm(file, { force: true })
      throw new DriverFailure('rejected', `${peer}: ${of.slug} ${of.version} is not what it was`)
    }
    return file
  }

  /** Slug and version are safe in a path: the directory's schema accepts plain names only. */
  const placeOf = ({ kind, slug, version }: SoftwarePackage): string =>
    path.join(folder, kind, `${slug}-${version}.zip`)

  return {
    file(of) {
      const file = placeOf(of)
      const under = fetching.get(file)
      if (under) return under
      const begun = fetch(of, file).finally(() => fetching.delete(file))
      fetching.set(file, begun)
      return begun
    },
    async forget(of) {
      await fs.rm(placeOf(of), { force: true })
      await db
        .updateTable('software_release')
        .set({ sha256: null })
        .where('kind', '=', of.kind)
        .where('slug', '=', of.slug)
        .where('version', '=', of.version)
        .execute()
    },
    async tidy() {
      for (const kind of ['core', 'plugin', 'theme']) {
        const names: string[] = await fs.readdir(path.join(folder, kind)).catch(() => [])
        for (const name of names) {
          const file = path.join(folder, kind, name)
          const stat = await fs.stat(file).catch(() => undefined)
          if (stat && Date.now() - stat.mtimeMs > keptMs) await fs.rm(file, { force: true })
        }
      }
    },
  }
}
