/**
 * Automatic work on updates: sites' installed software is listed, the directory is asked once for
 * all of it, and at night each site gets what its owner has chosen.
 */
import { sql } from 'kysely'
import { hours, later, type Clock } from '../platform/clock.ts'
import { workOnClaims } from '../platform/claims.ts'
import { transaction, type Database, type Tx } from '../platform/db.ts'
import { DriverFailure } from '../platform/errors.ts'
import type { Jobs } from '../platform/jobs.ts'
import type { Log } from '../platform/log.ts'
import type { UpdatePolicy } from '../../contract/wordpress-updates.ts'
import type { Catalog } from '../catalog/index.ts'
import type { InstalledSoftware, WordpressDriver } from './driver.ts'
import { lockSite, type SiteRow } from './store.ts'
import type { Question, Release, UpdateDirectory } from './update-directory.ts'
import type { Mirror } from './update-mirror.ts'
import { updatesOf } from './update-places.ts'
import { chooseAutomatic, isNightOver, nextNight, timeZoneOf } from './update-policy.ts'
import {
  addUpdate,
  candidatesOf,
  foundOf,
  installedOf,
  isOfDirectory,
  noteSoftware,
  packageOf,
  packagesOf,
  rolledBackOf,
  softwareRow,
} from './update-store.ts'

/** A site's software is listed again after this. */
const listedMs = hours(6)
/** A site that could not be listed is tried again after this. */
const triedMs = hours(1)
const takenAtOnce = 50
const together = 2
/** Most names in one question; WordPress itself hardly asks for more. */
const askedAtOnce = 100
/** Most automatic updates under way at a time: each makes a backup. */
const automaticAtOnce = 20
/** Servers that one transaction decides on, and one round: most have nothing to install. */
const decidedAtOnce = 50
const decidedInRound = 1000

export interface RoundDeps {
  readonly db: Database
  readonly clock: Clock
  readonly log: Log
  readonly jobs: Jobs
  readonly driver: WordpressDriver
  readonly catalog: Catalog
  readonly directory: UpdateDirectory | null
  readonly mirror: Mirror | null
}

export interface UpdateRounds {
  /** Lists the software of sites whose list is old. */
  listDue(signal: AbortSignal): Promise<void>
  /** Asks the directory for releases of everything that is installed. */
  askDirectory(): Promise<void>
  /** Begins the updates of sites whose time of the night has come. */
  beginDue(): Promise<void>
  /**
   * Lists one site and asks the directory about its software. DriverFailure where either does not
   * answer.
   */
  look(siteId: string): Promise<void>
  /** The next moment at which the site may be updated automatically. */
  nextNightOf(site: Pick<SiteRow, 'id' | 'region_id'>): Date
}

/** The question to the directory about one site. */
const questionOf = (found: InstalledSoftware): Question => ({
  core: [{ version: found.wordpress, php: found.php }],
  plugins: found.plugins
    .filter(({ file, updateUri }) => file.includes('/') && isOfDirectory(updateUri))
    .map(({ file, name, version }) => ({ main: file, name, version })),
  themes: found.themes.filter(({ updateUri }) => isOfDirectory(updateUri)),
})

export function defineUpdateRounds(deps: RoundDeps): UpdateRounds {
  const { db, clock, log, jobs, driver, directory } = deps

  function nextNightOf(site: Pick<SiteRow, 'id' | 'region_id'>, from = clock.now()): Date {
    const place = deps.catalog.dataCentres.find(({ id }) => id === site.region_id)
    return nextNight(site.id, timeZoneOf(place?.country ?? 'VN', from), from)
  }

  async function list(siteId: string): Promise<InstalledSoftware | null> {
    try {
      const found = await driver.software(siteId)
      await noteSoftware(db, siteId, found, clock.now())
      return found
    } catch (error) {
      if (!(error instanceof DriverFailure)) throw error
      await noteSoftware(db, siteId, null, clock.now())
      throw error
    }
  }

  /** Claims sites whose list is due. */
  async function claimDue(): Promise<{ id: string }[]> {
    const now = clock.now()
    const { rows } = await sql<{ id: string }>`
      insert into site_software (site_id, tried_at)
      select s.id, ${now} from site s left join site_software w on w.site_id = s.id
      where s.status = 'running' and (w.site_id is null
        or w.looked_at <= ${later(now, -listedMs)} and w.tried_at <= ${later(now, -triedMs)}
        or w.looked_at is null and w.tried_at <= ${later(now, -triedMs)})
      order by w.tried_at nulls first limit ${takenAtOnce}
      on conflict (site_id) do update set tried_at = excluded.tried_at
      returning site_id as id`.execute(db)
    return rows
  }

  async function noteReleases(releases: readonly Release[]): Promise<void> {
    const now = clock.now()
    const all = new Map<string, Release>()
    for (const one of releases) {
      const key = `${one.kind}/${one.slug}/${one.version}`
      all.set(key, { ...one, security: one.security || (all.get(key)?.security ?? false) })
    }
    for (const one of all.values())
      await db
        .insertInto('software_release')
        .values({
          kind: one.kind,
          slug: one.slug,
          version: one.version,
          main: one.main,
          name: one.name,
          is_security: one.security,
          package: one.package,
          requires_php: one.requiresPhp,
          requires_wordpress: one.requiresWordpress,
          seen_at: now,
        })
        .onConflict((conflict) =>
          conflict.columns(['kind', 'slug', 'version']).doUpdateSet((eb) => ({
            main: eb.ref('excluded.main'),
            name: eb.ref('excluded.name'),
            is_security: eb.ref('excluded.is_security'),
            package: eb.ref('excluded.package'),
            requires_php: eb.ref('excluded.requires_php'),
            requires_wordpress: eb.ref('excluded.requires_wordpress'),
            seen_at: eb.ref('excluded.seen_at'),
          })),
        )
        .execute()
  }

  /** The software of all sites, each name once, with its oldest version. */
  async function questionOfAll(): Promise<Question> {
    const { rows: core } = await sql<{ version: string; php: string }>`
      select found ->> 'wordpress' as version, max(found ->> 'php') as php from site_software w
      join site s on s.id = w.site_id where s.deleted_at is null and found is not null
      group by 1`.execute(db)
    const { rows: plugins } = await sql<{
      file: string
      name: string
      version: string
      uri: string
    }>`
      select p ->> 'file' as file, max(p ->> 'name') as name, min(p ->> 'version') as version,
        max(p ->> 'updateUri') as uri
      from site_software w join site s on s.id = w.site_id and s.deleted_at is null,
        jsonb_array_elements(w.found -> 'plugins') p group by 1`.execute(db)
    const { rows: themes } = await sql<{
      slug: string
      name: string
      version: string
      uri: string
    }>`
      select t ->> 'slug' as slug, max(t ->> 'name') as name, min(t ->> 'version') as version,
        max(t ->> 'updateUri') as uri
      from site_software w join site s on s.id = w.site_id and s.deleted_at is null,
        jsonb_array_elements(w.found -> 'themes') t group by 1`.execute(db)
    return {
      core,
      // Software that has its own source at one site may come from the directory at another:
      // update-store.ts decides that for each site.
      plugins: plugins
        .filter(({ file }) => file.includes('/'))
        .map(({ file, name, version }) => ({ main: file, name, version })),
      themes,
    }
  }

  async function ask(question: Question): Promise<void> {
    if (!directory) return
    const releases: Release[] = []
    const { core, plugins, themes } = question
    releases.push(...(await directory.releases({ core, plugins: [], themes: [] })))
    for (let at = 0; at < Math.max(plugins.length, themes.length); at += askedAtOnce)
      releases.push(
        ...(await directory.releases({
          core: [],
          plugins: plugins.slice(at, at + askedAtOnce),
          themes: themes.slice(at, at + askedAtOnce),
        })),
      )
    await noteReleases(releases)
  }

  /**
   * Begins what it is to get, if anything, and its night is over; or leaves it for later. Answers
   * whether an update began.
   */
  async function beginOne(tx: Tx, siteId: string, at: Date): Promise<boolean> {
    const site = await lockSite(tx, siteId)
    const now = clock.now()
    const became = await decide(tx, site, at, now)
    if (became === 'busy') return false
    const next = nextNightOf({ id: siteId, region_id: site?.region_id ?? 0 })
    await tx
      .updateTable('site_software')
      .set({ automatic_at: next, ...(became !== 'missed' && { decided_at: now }) })
      .where('site_id', '=', siteId)
      .execute()
    return became === 'begun'
  }

  /** `busy`: another server of its owner comes first; `missed`: its night is over. */
  async function decide(
    tx: Tx,
    site: SiteRow | undefined,
    at: Date,
    now: Date,
  ): Promise<'busy' | 'missed' | 'begun' | 'nothing'> {
    if (site?.status !== 'running' || isNightOver(at, now)) return 'missed'
    const { id: siteId } = site
    const found = foundOf(await softwareRow(tx, siteId))
    if (!found) return 'nothing'
    const candidates = candidatesOf(await installedOf(tx, siteId, found, now))
    const policy = site.update_policy as UpdatePolicy
    const chosen = chooseAutomatic(candidates, policy, await rolledBackOf(tx, siteId))
    const missed = await missedInWave(tx, siteId)
    const late = candidates.filter(({ kind, slug }) => missed.has(`${kind}/${slug}`))
    const cause = late.length > 0 ? 'wave' : 'automatic'
    const packages = [...new Set([...chosen, ...late])].map(packageOf)
    if (packages.length === 0) return 'nothing'
    const others = await updatesOf(sql`${site.customer_id}`, now).execute(tx)
    if (others.rows.length > 0) return 'busy'
    await addUpdate(tx, deps, { siteId, cause, packages })
    return 'begun'
  }

  /**
   * Packages that a wave skipped because the server was suspended, and that no update has installed
   * since.
   */
  async function missedInWave(tx: Tx, siteId: string): Promise<Set<string>> {
    const newest = await tx
      .selectFrom('site_update')
      .select(['packages', 'state', 'reason', 'wave_id'])
      .where('site_id', '=', siteId)
      .where('state', '<>', 'planned')
      .orderBy('seq', 'desc')
      .limit(1)
      .executeTakeFirst()
    const isMissed =
      newest?.state === 'skipped' && newest.reason === 'not_running' && newest.wave_id !== null
    if (!isMissed) return new Set()
    return new Set(packagesOf(newest).map(({ kind, slug }) => `${kind}/${slug}`))
  }

  /** A site that was listed for the first time has no time of the night yet. */
  async function giveNights(): Promise<void> {
    const fresh = await db
      .selectFrom('site_software as w')
      .innerJoin('site as s', 's.id', 'w.site_id')
      .select(['s.id', 's.region_id'])
      .where('w.automatic_at', 'is', null)
      .where('s.deleted_at', 'is', null)
      .limit(500)
      .execute()
    for (const site of fresh)
      await db
        .updateTable('site_software')
        .set({ automatic_at: nextNightOf(site) })
        .where('site_id', '=', site.id)
        .where('automatic_at', 'is', null)
        .execute()
  }

  /**
   * Decides on servers that are due until `room` updates have begun; answers on how many, and how
   * many began.
   */
  const decideSome = (room: number): Promise<{ decided: number; begun: number }> =>
    transaction(db, async (tx) => {
      const now = clock.now()
      const due = await tx
        .selectFrom('site_software as w')
        .innerJoin('site as d', 'd.id', 'w.site_id')
        .select(['w.site_id', 'w.automatic_at'])
        .where('w.automatic_at', '<=', now)
        .where('d.status', '=', 'running')
        // One server of a customer at a time: the others keep the rest of their night.
        .where(sql<boolean>`not exists (${updatesOf(sql`d.customer_id`, now)})`)
        // A server's minute is the same every night: who missed the last night comes first.
        .orderBy('w.decided_at', (order) => order.asc().nullsFirst())
        .orderBy('w.automatic_at')
        .limit(decidedAtOnce)
        .forUpdate('w')
        .skipLocked()
        .execute()
      let [decided, begun] = [0, 0]
      for (const { site_id: id, automatic_at: at } of due) {
        if (begun === room) break
        if (await beginOne(tx, id, at ?? now)) begun++
        decided++
      }
      return { decided, begun }
    })

  async function beginDue(): Promise<void> {
    // The update of a suspended server waits for it, for days perhaps: it takes nobody's room.
    const { n } = await db
      .selectFrom('site_update as u')
      .innerJoin('site as s', 's.id', 'u.site_id')
      .select((eb) => eb.fn.countAll<bigint>().as('n'))
      .where('u.ended_at', 'is', null)
      .where('u.cause', '=', 'automatic')
      .where('s.status', '=', 'running')
      .executeTakeFirstOrThrow()
    let room = automaticAtOnce - Number(n)
    if (room <= 0) return
    await giveNights()
    for (let all = 0; room > 0 && all < decidedInRound;) {
      const { decided, begun } = await decideSome(room)
      if (decided === 0) return
      room -= begun
      all += decided
    }
  }

  const rounds: UpdateRounds = {
    nextNightOf: (site) => nextNightOf(site),
    beginDue,
    askDirectory: async () => await ask(await questionOfAll()),
    async look(siteId) {
      const found = await list(siteId)
      if (found) await ask(questionOf(found))
    },
    listDue: (signal) =>
      workOnClaims({
        claim: claimDue,
        together,
        signal,
        async act({ id }) {
          await list(id).catch((error: unknown) =>
            log.debug({ err: error, site: id }, 'what a site has installed could not be listed'),
          )
        },
      }),
  }
  if (!directory) return rounds

  jobs.define({
    name: 'list-software',
    cron: '*/10 * * * *',
    retries: 0,
    limitSeconds: 590,
    run: (_payload, { signal }) => rounds.listDue(signal),
  })
  jobs.define({
    name: 'ask-update-directory',
    // Security releases must be known within hours.
    cron: '23 */2 * * *',
    retries: 3,
    retryDelaySeconds: 60,
    limitSeconds: 1800,
    run: async () => {
      await rounds.askDirectory()
      await deps.mirror?.tidy()
    },
  })
  jobs.define({
    name: 'begin-automatic-updates',
    // The next server of a customer follows soon.
    cron: '* * * * *',
    retries: 0,
    run: rounds.beginDue,
  })
  return rounds
}
