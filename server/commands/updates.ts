import { parseArgs } from 'node:util'
import type { Config } from '../config.ts'
import { readOffset, systemClock, type Clock } from '../platform/clock.ts'
import { connect, type Database } from '../platform/db.ts'
import { planSites, wavesOf } from '../wordpress/index.ts'
import { actFor, reasonOf } from './act.ts'
import type { Output } from './output.ts'

const usage =
  'npm run portal -- updates [plan [--stages 1,10,0] [--stop-percent 10] ' +
  '[--scope security|all] [--dry-run] | start <wave> | pause <wave> | ' +
  'resume <wave> [--stop-percent 50] | cancel <wave> | status [<wave>]]\n' +
  'Each with --json, and those that change something with --reason <text> for the trail.'

/** One site, then ten, then all the others. */
const usualStages = '1,10,0'
const usualStopPercent = '10'
const mostStages = 20
const shownSites = 20
const moves = ['start', 'pause', 'resume', 'cancel'] as const
/** Acts with an option for when the wave stops automatically. */
const mayStop: ReadonlySet<string> = new Set(['plan', 'resume'])

interface Wish {
  readonly act: 'plan' | 'status' | (typeof moves)[number]
  readonly wave: bigint | null
  readonly stages: readonly number[]
  readonly stopPercent: number | undefined
  readonly scope: 'security' | 'all'
  readonly dryRun: boolean
  /** The reason for the trail. */
  readonly reason: string | undefined
}

/** Undefined: the line is invalid. */
function wishOf(options: readonly string[]): Wish | undefined {
  let parsed
  try {
    parsed = parseArgs({
      args: [...options],
      allowPositionals: true,
      options: {
        stages: { type: 'string' },
        'stop-percent': { type: 'string' },
        scope: { type: 'string', default: 'all' },
        reason: { type: 'string' },
        'dry-run': { type: 'boolean', default: false },
      },
    })
  } catch {
    return undefined
  }
  const { positionals, values } = parsed
  const [act = 'status', wave, ...more] = positionals
  const { stages = usualStages, scope, 'dry-run': dryRun, 'stop-percent': percent } = values
  const sizes = stages.split(',')
  const known = ['plan', 'status', ...moves].find((one) => one === act)
  const isWave = wave === undefined || /^[1-9]\d{0,15}$/.test(wave)
  const hasWave = act === 'plan' ? wave === undefined : act === 'status' || wave !== undefined
  const reason = reasonOf(values.reason, `${act} by command`)
  const isSound =
    sizes.length <= mostStages &&
    sizes.every((size) => /^\d{1,6}$/.test(size)) &&
    // A stage after "all the others" would be empty.
    sizes.slice(0, -1).every((size) => Number(size) > 0) &&
    reason !== undefined &&
    (percent === undefined ||
      (/^\d{1,3}$/.test(percent) && Number(percent) <= 100 && mayStop.has(act))) &&
    (scope === 'security' || scope === 'all')
  if (!known || more.length > 0 || !isWave || !hasWave || !isSound) return undefined
  return {
    act: known as Wish['act'],
    wave: wave === undefined ? null : BigInt(wave),
    // The last stage always has all remaining sites.
    stages: sizes.at(-1) === '0' ? sizes.map(Number) : [...sizes.map(Number), 0],
    stopPercent: percent === undefined ? undefined : Number(percent),
    scope: scope === 'security' ? 'security' : 'all',
    dryRun,
    reason,
  }
}

interface Tools {
  readonly config: Config
  readonly databaseUrl: string
  readonly db: Database
  readonly clock: Clock
}

async function plan(tools: Tools, wish: Wish, out: Output): Promise<number> {
  const stopPercent = wish.stopPercent ?? Number(usualStopPercent)
  const wanted = { stages: wish.stages, stopPercent, scope: wish.scope }
  const sites = await planSites(tools.db, tools.clock, wanted)
  for (const { siteId, name, stage, packages } of sites.slice(0, shownSites)) {
    const list = packages.map(({ slug, from, to }) => `${slug} ${from} → ${to}`).join(', ')
    out.line(`stage ${stage + 1}  ${siteId}  ${name}  ${list}`)
  }
  if (sites.length > shownSites) out.line(`… and ${sites.length - shownSites} more.`)
  out.fields({ sites: sites.map((one) => ({ ...one, stage: one.stage + 1 })) })
  if (sites.length === 0) {
    out.line('No site has anything to install.')
    return 0
  }
  if (wish.dryRun) {
    out.line(`${sites.length} sites would be updated. Nothing was written down.`)
    return 0
  }
  const { config, databaseUrl } = tools
  const input = { ...wanted, reason: wish.reason ?? 'plan by command' }
  return await actFor(config, databaseUrl, 'updates.plan', input, out, {
    done({ after }) {
      const wave = Number(after?.['wave'])
      const sites = Number(after?.['waveSites'])
      out.line(`Wave ${wave} is planned: ${sites} sites. Begin it with: updates start ${wave}`)
      out.fields({ wave })
    },
  })
}

async function show(tools: Tools, wish: Wish, out: Output): Promise<number> {
  const waves = await wavesOf(tools.db, wish.wave)
  if (wish.wave !== null && waves.length === 0) {
    out.refuse(`There is no wave ${wish.wave}.`)
    return 1
  }
  for (const wave of waves) {
    const sites = Object.entries(wave.sites).map(([state, n]) => `${n} ${state}`)
    out.line(
      `wave ${wave.id}  ${wave.state}  stage ${wave.stage} of ${wave.stages.length}  ` +
        `${sites.join(', ')}  planned ${wave.createdAt}`,
    )
    for (const { siteId, name, state, reason, packages } of wave.trouble) {
      const list = packages.map(({ slug, to }) => `${slug} ${to}`).join(', ')
      out.line(`  ${siteId}  ${name}  ${state}  ${reason ?? '-'}  ${list}`)
    }
  }
  if (waves.length === 0) out.line('There was no wave yet.')
  out.fields({ waves })
  return waves.some(({ state }) => state === 'stopped') ? 1 : 0
}

/** Starts, pauses, resumes or cancels a wave. */
async function move({ config, databaseUrl }: Tools, wish: Wish, out: Output): Promise<number> {
  const { act, wave, reason, stopPercent } = wish
  if (act === 'plan' || act === 'status' || wave === null) return 64
  if (wish.dryRun) {
    out.line(`Wave ${wave} would be asked to ${act}. Nothing was changed.`)
    return 0
  }
  const input = {
    wave: Number(wave),
    ...(stopPercent !== undefined && { stopPercent }),
    reason: reason ?? `${act} by command`,
  }
  return await actFor(config, databaseUrl, `updates.${act}`, input, out, {
    done({ after }) {
      out.line(`Wave ${wave}: ${act}. How it stands: updates status ${wave}`)
      out.fields({ wave, state: after?.['waveState'] })
    },
  })
}

/**
 * `updates`: updates all sites' WordPress, plugins and themes in waves. `plan` assigns sites and
 * updates to stages, `start` begins; each of these is an act, such as `updates.start`. `status`
 * without an id: the newest waves; exit code 1 while one has stopped automatically.
 */
export async function updatesCommand(
  config: Config,
  databaseUrl: string,
  options: readonly string[],
  out: Output,
): Promise<number> {
  const wish = wishOf(options)
  if (!wish) {
    out.refuse(usage)
    return 64
  }
  const { db, close } = connect(databaseUrl, 2, () => undefined)
  // The sandbox's clock may have been moved.
  const offsetMs = config.sandbox ? await readOffset(db) : 0
  const clock: Clock = { now: () => new Date(systemClock.now().getTime() + offsetMs) }
  const tools = { config, databaseUrl, db, clock }
  try {
    if (wish.act === 'plan') return await plan(tools, wish, out)
    if (wish.act === 'status') return await show(tools, wish, out)
    return await move(tools, wish, out)
  } finally {
    await close()
  }
}
