/**
 * Tells owners before their disks are full: at 80 and at 95 per cent, each once, by notification
 * and letter. A disk that has room again (grown, or tidied) may be warned of anew.
 */
import type { Language } from '../../contract/errors.ts'
import { later, minutes, type Clock } from '../platform/clock.ts'
import { transaction, type Database, type Queryable, type Tx } from '../platform/db.ts'
import type { Jobs } from '../platform/jobs.ts'
import type { Log } from '../platform/log.ts'
import type { EventOutbox } from '../realtime/index.ts'
import type { WordpressDriver } from './driver.ts'
import { lockSite, type SiteRow } from './store.ts'

/** Per cent. */
export type WarningLevel = 0 | 80 | 95
/** Below this the disk has room again; between it and the first level nothing changes. */
const roomAgain = 75
const everyMs = minutes(20)
const sitesAtOnce = 500

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

/** The level that a disk of so many per cent is at, after `before`. */
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

/** Defines the watch, every ten minutes; answers it for whoever wants it now. */
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

  async function look(siteId: string): Promise<void> {
    const state = await driver.state(siteId)
    await transaction(db, async (tx) => {
      const site = await lockSite(tx, siteId)
      if (site?.status !== 'running') return
      const levels: { disk_warned?: number; mariadb_disk_warned?: number } = {}
      for (const disk of disks) {
        const percent = (state[disk.used] / site[disk.limit]) * 100
        const before = site[disk.warned] as WarningLevel
        const level = levelOf(percent, before)
        if (level > before) await warn(tx, site, disk, percent)
        levels[disk.warned] = level
      }
      await tx
        .updateTable('site')
        .set({ ...levels, disk_watched_at: clock.now() })
        .where('id', '=', siteId)
        .execute()
    })
  }

  async function watch(signal: AbortSignal): Promise<void> {
    const due = await db
      .selectFrom('site')
      .select(['id', 'name'])
      .where('status', '=', 'running')
      .where((eb) =>
        eb.or([
          eb('disk_watched_at', 'is', null),
          eb('disk_watched_at', '<=', later(clock.now(), -everyMs)),
        ]),
      )
      .orderBy('disk_watched_at', (by) => by.asc().nullsFirst())
      .limit(sitesAtOnce)
      .execute()
    for (const { id, name } of due) {
      signal.throwIfAborted()
      try {
        await look(id)
      } catch (error) {
        log.warn({ err: error, site: name }, 'the disks of a site could not be looked at')
      }
    }
  }

  jobs.define({
    name: 'watch-site-disks',
    cron: '*/10 * * * *',
    retries: 0,
    limitSeconds: 590,
    run: (_payload, { signal }) => watch(signal),
  })
  return watch
}
