/** SQL of updates, and updates as the API shows them. */
import { randomUUID } from 'node:crypto'
import { sql, type Selectable } from 'kysely'
import * as z from 'zod'
import {
  PageDifference,
  SoftwareKind,
  type Software,
  type Update,
} from '../../contract/wordpress-updates.ts'
import type { Clock } from '../platform/clock.ts'
import { newestFirst, type KeysetPage, type PageRequest } from '../platform/cursor.ts'
import type { DB } from '../platform/db-types.ts'
import { databaseError, isUuid, type Queryable, type Tx } from '../platform/db.ts'
import type { Jobs } from '../platform/jobs.ts'
import type { InstalledSoftware } from './driver.ts'
import type { RolledBack } from './update-policy.ts'
import { branchOf, isNewer } from './versions.ts'

export type UpdateRow = Selectable<DB['site_update']>

/** Continues an update of a site. Payload { updateId }. */
export const updateJob = 'update-site'
/** Begins the next stage of a wave, or ends it. Payload { waveId }. */
export const waveJob = 'advance-update-wave'

export type UpdateReason = NonNullable<Update['reason']>

const Package = z.object({
  kind: SoftwareKind,
  slug: z.string(),
  main: z.string(),
  name: z.string(),
  from: z.string(),
  to: z.string(),
  security: z.boolean(),
})
export type UpdatePackage = z.output<typeof Package>
export const packagesOf = (row: Pick<UpdateRow, 'packages'>): UpdatePackage[] =>
  z.array(Package).parse(row.packages)
export const differencesOf = (row: Pick<UpdateRow, 'differences'>) =>
  z.array(PageDifference as unknown as z.ZodType<PageDifference>).parse(row.differences)

export const updateById = async (db: Queryable, id: string): Promise<UpdateRow | undefined> =>
  isUuid(id)
    ? await db.selectFrom('site_update').selectAll().where('id', '=', id).executeTakeFirst()
    : undefined

/** Installed software with its newest release and that release's requirements. */
export interface Installed extends Omit<Software, 'available'> {
  readonly main: string
  readonly available:
    | (NonNullable<Software['available']> & { readonly kind: Software['kind'] })
    | null
}
/** A release that can be installed now. */
export interface Candidate {
  readonly kind: Software['kind']
  readonly slug: string
  readonly main: string
  readonly name: string
  readonly from: string
  readonly version: string
  readonly security: boolean
  /** This very release was rolled back at this site. */
  readonly rolledBack: boolean
}

export const foundOf = (row: { found: unknown } | undefined): InstalledSoftware | null =>
  (row?.found as InstalledSoftware | null | undefined) ?? null

/** All installed software as one list. A plugin without a folder of its own has no slug. */
function listOf(found: InstalledSoftware): Omit<Installed, 'available'>[] {
  const core = {
    kind: 'core' as const,
    slug: 'wordpress',
    main: '',
    name: 'WordPress',
    version: found.wordpress,
    active: true,
  }
  const plugins = found.plugins.map(({ file, name, version, active }) => ({
    kind: 'plugin' as const,
    slug: file.includes('/') ? (file.split('/')[0] ?? '') : file,
    main: file,
    name,
    version,
    active,
  }))
  const themes = found.themes.map(({ slug, name, version, active }) => ({
    kind: 'theme' as const,
    slug,
    main: '',
    name,
    version,
    active,
  }))
  return [core, ...plugins, ...themes]
}

type ReleaseRow = Selectable<DB['software_release']>

/** A release that the directory has not offered within this time counts as withdrawn. */
const offeredMs = 3 * 24 * 3_600_000

/** Releases of the given software, the most recently offered first. */
async function releasesOf(
  db: Queryable,
  all: readonly { readonly kind: string; readonly slug: string }[],
  now: Date,
): Promise<Map<string, ReleaseRow[]>> {
  const { rows } = await sql<ReleaseRow>`
    select r.* from software_release r
    join jsonb_to_recordset(${JSON.stringify(all)}::jsonb) as w (kind text, slug text)
      on r.kind = w.kind and r.slug = w.slug
    where r.seen_at > ${new Date(now.getTime() - offeredMs)}
    order by r.seen_at desc`.execute(db)
  return Map.groupBy(rows, ({ kind, slug }) => `${kind}/${slug}`) as Map<string, ReleaseRow[]>
}

function needsOf(release: ReleaseRow, found: InstalledSoftware): 'php' | 'wordpress' | null {
  if (release.requires_php !== null && isNewer(release.requires_php, found.php)) return 'php'
  return release.requires_wordpress !== null && isNewer(release.requires_wordpress, found.wordpress)
    ? 'wordpress'
    : null
}

/**
 * The release to install, of those that the directory offered last: an earlier offer that is
 * missing now was withdrawn. For WordPress a release of the same branch comes before a new branch,
 * which may change how a site works.
 */
function newestOf(
  one: Omit<Installed, 'available'>,
  offered: readonly ReleaseRow[],
): ReleaseRow | undefined {
  const isCore = one.kind === 'core'
  // For one version of WordPress the directory offers the newest of its branch and the newest of
  // all.
  const groupOf = ({ version }: ReleaseRow): string => (isCore ? branchOf(version) : '')
  const last = new Map<string, number>()
  for (const row of offered) {
    const at = row.seen_at.getTime()
    last.set(groupOf(row), Math.max(at, last.get(groupOf(row)) ?? at))
  }
  const newer = offered
    .filter((row) => row.seen_at.getTime() === last.get(groupOf(row)))
    .filter(({ version, main }) => isNewer(version, one.version) && main === one.main)
    .toSorted((a, b) => (isNewer(a.version, b.version) ? -1 : 1))
  if (!isCore) return newer[0]
  return newer.find((row) => groupOf(row) === branchOf(one.version)) ?? newer[0]
}

/** The software of a site, with newer releases. */
export async function installedOf(
  db: Queryable,
  siteId: string,
  found: InstalledSoftware,
  now: Date,
): Promise<Installed[]> {
  const all = listOf(found)
  const elsewhere = new Set([
    ...found.plugins
      .filter(({ updateUri }) => !isOfDirectory(updateUri))
      .map(({ file }) => `plugin/${file}`),
    ...found.themes
      .filter(({ updateUri }) => !isOfDirectory(updateUri))
      .map(({ slug }) => `theme/${slug}`),
  ])
  const releases = await releasesOf(
    db,
    all.map(({ kind, slug }) => ({ kind, slug })),
    now,
  )
  const back = await rolledBackOf(db, siteId)
  return all.map((one) => {
    const isElsewhere = elsewhere.has(`${one.kind}/${one.kind === 'plugin' ? one.main : one.slug}`)
    const release = isElsewhere
      ? undefined
      : newestOf(one, releases.get(`${one.kind}/${one.slug}`) ?? [])
    if (!release) return { ...one, available: null }
    const isBack = back.some(({ packages }) =>
      packages.some(
        ({ kind, slug, to }) => kind === one.kind && slug === one.slug && to === release.version,
      ),
    )
    return {
      ...one,
      available: {
        kind: one.kind,
        version: release.version,
        // A release of the same branch of WordPress mends faults; a new branch changes more.
        security:
          one.kind === 'core'
            ? branchOf(release.version) === branchOf(one.version)
            : release.is_security,
        needs: needsOf(release, found),
        rolledBack: isBack,
      },
    }
  })
}

/**
 * Whether the directory is the source of a plugin's or theme's releases, by its header Update URI.
 */
export function isOfDirectory(updateUri: string): boolean {
  if (updateUri === '') return true
  const host = URL.canParse(updateUri) ? new URL(updateUri).hostname : ''
  return host === 'wordpress.org' || host === 'w.org' || host.endsWith('.wordpress.org')
}

/** The releases that can be installed now. */
export const candidatesOf = (installed: readonly Installed[]): Candidate[] =>
  installed.flatMap(({ available, version: from, kind, slug, main, name }) =>
    available && available.needs === null
      ? [
          {
            kind,
            slug,
            main,
            name,
            from,
            version: available.version,
            security: available.security,
            rolledBack: available.rolledBack,
          },
        ]
      : [],
  )

/** Updates that were rolled back at a site, newest first. */
export async function rolledBackOf(db: Queryable, siteId: string): Promise<RolledBack[]> {
  const rows = await db
    .selectFrom('site_update')
    .select('packages')
    .where('site_id', '=', siteId)
    .where('state', '=', 'rolled_back')
    .orderBy('seq', 'desc')
    .limit(50)
    .execute()
  return rows.map((row) => ({ packages: packagesOf(row) }))
}

export const packageOf = ({
  version: to,
  rolledBack: _rolledBack,
  ...one
}: Candidate): UpdatePackage => ({ ...one, to })

/**
 * Stores an update and begins it; undefined where one is under way at the site. `wave`: the update
 * waits until its stage begins.
 */
export async function addUpdate(
  tx: Tx,
  deps: { readonly jobs: Pick<Jobs, 'add'>; readonly clock: Clock },
  of: {
    readonly siteId: string
    readonly cause: Update['cause']
    readonly packages: readonly UpdatePackage[]
    readonly wave?: { readonly id: bigint; readonly stage: number }
  },
): Promise<string | undefined> {
  const id = randomUUID()
  try {
    await tx
      .insertInto('site_update')
      .values({
        id,
        site_id: of.siteId,
        cause: of.cause,
        wave_id: of.wave?.id ?? null,
        stage: of.wave?.stage ?? null,
        state: of.wave ? 'planned' : 'waiting',
        packages: JSON.stringify(of.packages),
        created_at: deps.clock.now(),
      })
      .execute()
  } catch (error) {
    if (isUnderWay(error)) return undefined
    throw error
  }
  if (!of.wave) await deps.jobs.add(tx, updateJob, { updateId: id })
  return id
}

export const isUnderWay = (error: unknown): boolean =>
  databaseError(error)?.constraint === 'site_update_under_way'

/** Whether an update of the site is under way: nothing else may change the site's files then. */
export async function hasUpdateUnderWay(db: Queryable, siteId: string): Promise<boolean> {
  const row = await db
    .selectFrom('site_update')
    .select('id')
    .where('site_id', '=', siteId)
    .where('state', 'in', [...underWayStates])
    .executeTakeFirst()
  return row !== undefined
}
export const underWayStates = ['waiting', 'saving', 'updating', 'checking', 'rolling_back'] as const

export const presentUpdate = (row: UpdateRow): Update => ({
  id: row.id,
  cause: row.cause as Update['cause'],
  state: row.state as Update['state'],
  packages: packagesOf(row).map(({ main: _main, ...one }) => one),
  reason: row.reason as Update['reason'],
  differences: differencesOf(row),
  pages: Array.isArray(row.before) ? row.before.length : 0,
  createdAt: row.created_at.toISOString(),
  endedAt: row.ended_at?.toISOString() ?? null,
})

/** One page of updates, newest first, without those that wait for their wave. */
export const updatePage = (
  db: Queryable,
  of: PageRequest & { siteId: string },
): Promise<KeysetPage<UpdateRow>> =>
  newestFirst(
    db
      .selectFrom('site_update as u')
      .selectAll('u')
      .where('u.site_id', '=', of.siteId)
      .where('u.state', '<>', 'planned'),
    'u.seq',
    of,
  )

export const runningUpdate = (db: Queryable, siteId: string): Promise<UpdateRow | undefined> =>
  db
    .selectFrom('site_update')
    .selectAll()
    .where('site_id', '=', siteId)
    .where('state', 'in', [...underWayStates])
    .executeTakeFirst()

export const softwareRow = (db: Queryable, siteId: string) =>
  db.selectFrom('site_software').selectAll().where('site_id', '=', siteId).executeTakeFirst()

/** Has the software of a site listed again soon, because its content was replaced. */
export async function listAnew(db: Queryable, siteId: string): Promise<void> {
  await db
    .updateTable('site_software')
    .set({ looked_at: null, tried_at: new Date(0) })
    .where('site_id', '=', siteId)
    .execute()
}

/** Stores the software that was found; `null`: it could not be listed. */
export async function noteSoftware(
  db: Queryable,
  siteId: string,
  found: InstalledSoftware | null,
  now: Date,
): Promise<void> {
  const values = {
    tried_at: now,
    ...(found && { found: JSON.stringify(found), looked_at: now }),
  }
  await db
    .insertInto('site_software')
    .values({ site_id: siteId, ...values })
    .onConflict((conflict) => conflict.column('site_id').doUpdateSet(values))
    .execute()
}

/** Moves the update to a new state; false: another run has changed the state before. */
export async function moveUpdate(
  tx: Queryable,
  row: UpdateRow,
  state: Update['state'],
  values: {
    backup_id?: string | null
    restore_id?: string
    before?: string
    admin_worked?: boolean
    differences?: string
    reason?: UpdateReason | null
    attempts?: number
    hold_lapses?: number
    held_until?: Date | null
    begun_at?: Date
    ended_at?: Date
    packages?: string
  } = {},
): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable('site_update')
    .set({ state, attempts: 0, ...values })
    .where('id', '=', row.id)
    .where('state', '=', row.state)
    .executeTakeFirst()
  return numUpdatedRows > 0n
}
