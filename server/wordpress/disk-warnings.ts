/**
 * Warns owners before their disks are full: at 80 and at 95 per cent, once each, by notification
 * and letter. A disk that has room again (grown, or cleaned up) may be warned of anew.
 */
import { sql, type RawBuilder } from 'kysely'
import type { Language } from '../../contract/errors.ts'
import { later, minutes, type Clock } from '../platform/clock.ts'
import { workOnClaims } from '../platform/claims.ts'
import { transaction, type Database, type Queryable, type Tx } from '../platform/db.ts'
import type { Jobs } from '../platform/jobs.ts'
import type { Log } from '../platform/log.ts'
import type { EventOutbox } from '../realtime/index.ts'
import type { WordpressDriver } from './driver.ts'
import { lockSite, type SiteRow } from './store.ts'

/** Per cent. */
export type WarningLevel = 0 | 80 | 95
/**
 * Below this, per cent, the disk has room again; between it and the first level nothing changes.
 */
const roomAgain = 75
const everyMs = minutes(20)
/** Sites that a worker claims at a time, and how many of them are measured in parallel. */
const takenAtOnce = 200
const together = 4

interface DiskWarningDeps {
  readonly db: Database
  readonly clock: Clock
  readonly log: Log
  readonly jobs: Jobs
  readonly driver: WordpressDriver
  readonly outbox: EventOutbox
  readonly portalUrl: string
  readonly mail: (tx: Tx, to: string, subject: string, text: string) => Promise<void>
  readonly owner: (
    db: Queryable,
    customerId: string,
  ) => Promise<{ readonly email: string; readonly language: Language }>
}

/** The new warning level of a disk that is `percent` full and had level `before`. */
export function levelOf(percent: number, before: WarningLevel): WarningLevel {
  if (percent >= 95) return 95
  if (percent >= 80) return before === 95 ? 95 : 80
  return percent < roomAgain ? 0 : before
}

const disks = [
  { which: 'files', limit: 'disk_mb', warned: 'disk_warned', used: 'diskUsedMb' },
  {
    which: 'database',
    limit: 'mariadb_disk_mb',
    warned: 'mariadb_disk_warned',
    used: 'databaseUsedMb',
  },
] as const
type Disk = (typeof disks)[number]
type WatchedSite = Pick<SiteRow, Disk['limit'] | Disk['warned']>

const letters = {
  subject: {
    en: (site: string, percent: number) => `${site}: the disk is ${percent} % full`,
    vi: (site: string, percent: number) => `${site}: ổ đĩa đã đầy ${percent} %`,
  },
  text: {
    en: (site: string, which: Disk['which'], percent: number, link: string) =>
      `The ${which === 'files' ? 'SSD disk' : 'database disk'} of your WordPress server ` +
      `${site} is ${percent} % full. ` +
      ('Once it is full, uploads and new posts fail. Delete what you no longer need, or make ' +
        'the disk larger, ') +
      `which applies immediately: ${link}`,
    vi: (site: string, which: Disk['which'], percent: number, link: string) =>
      `Ổ ${which === 'files' ? 'SSD' : 'MariaDB'} của máy chủ WordPress ${site} đã đầy ` +
      `${percent} %. ` +
      ('Khi ổ đầy, bạn sẽ không tải tệp lên hoặc đăng bài mới được. Hãy xoá bớt dữ liệu không ' +
        'cần, ') +
      `hoặc tăng dung lượng (có hiệu lực ngay): ${link}`,
  },
} as const

/**
 * Defines the job, which runs every ten minutes; answers its function for callers that want it now.
 */
export function defineDiskWarnings(deps: DiskWarningDeps): (signal: AbortSignal) => Promise<void> {
  const { db, clock, log, jobs, driver, outbox } = deps

  async function warn(tx: Tx, site: SiteRow, disk: Disk, percent: number): Promise<void> {
    const { email, language } = await deps.owner(tx, site.customer_id)
    const shown = Math.min(100, Math.floor(percent))
    await outbox.publishEvent(tx, site.customer_id, 'wordpress.disk', {
      wp: { id: site.id, name: site.name },
      disk: { which: disk.which, percent: shown },
    })
    const tab = disk.which === 'files' ? 'disk' : 'mariadb'
    await deps.mail(
      tx,
      email,
      letters.subject[language](site.name, shown),
      letters.text[language](
        site.name,
        disk.which,
        shown,
        `${deps.portalUrl}/wordpress/${site.id}?tab=${tab}`,
      ),
    )
  }

  /** The disks of a site whose warning level differs from the stored one. */
  const changesOf = (
    site: WatchedSite,
    state: Awaited<ReturnType<WordpressDriver['state']>>,
  ): { disk: Disk; percent: number; before: WarningLevel; level: WarningLevel }[] =>
    disks.flatMap((disk) => {
      const percent = (state[disk.used] / site[disk.limit]) * 100
      const before = site[disk.warned] as WarningLevel
      const level = levelOf(percent, before)
      return level === before ? [] : [{ disk, percent, before, level }]
    })

  async function look(claimed: WatchedSite & { readonly id: string }): Promise<void> {
    const state = await driver.state(claimed.id)
    if (changesOf(claimed, state).length === 0) return
    await transaction(db, async (tx) => {
      const site = await lockSite(tx, claimed.id)
      if (site?.status !== 'running') return
      const levels: { disk_warned?: number; mariadb_disk_warned?: number } = {}
      for (const { disk, percent, before, level } of changesOf(site, state)) {
        if (level > before) await warn(tx, site, disk, percent)
        levels[disk.warned] = level
      }
      if (Object.keys(levels).length > 0)
        await tx.updateTable('site').set(levels).where('id', '=', claimed.id).execute()
    })
  }

  /** Claims sites that are due, by storing that they were looked at now. */
  async function claim(condition: RawBuilder<unknown>) {
    return await db
      .updateTable('site')
      .set({ disk_watched_at: clock.now() })
      .where(
        'id',
        '=',
        sql<string>`any (array(
          select id from site where status = 'running' and ${condition}
          order by disk_watched_at nulls first limit ${takenAtOnce} for update skip locked))`,
      )
      .returning(['id', 'name', 'disk_mb', 'disk_warned', 'mariadb_disk_mb', 'mariadb_disk_warned'])
      .execute()
  }
  async function claimDue() {
    const unseen = await claim(sql`disk_watched_at is null`)
    if (unseen.length > 0) return unseen
    return await claim(sql`disk_watched_at <= ${later(clock.now(), -everyMs)}`)
  }

  const watch = (signal: AbortSignal): Promise<void> =>
    workOnClaims({
      claim: claimDue,
      together,
      signal,
      async act(site) {
        try {
          await look(site)
        } catch (error) {
          log.warn({ err: error, site: site.name }, 'the disks of a site could not be looked at')
        }
      },
    })

  jobs.define({
    name: 'watch-site-disks',
    cron: '*/10 * * * *',
    retries: 0,
    limitSeconds: 590,
    run: (_payload, { signal }) => watch(signal),
  })
  return watch
}
