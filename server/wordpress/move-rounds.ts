/** The rounds of a move: the whole server first, then the changes, until few are left. */
import fs from 'node:fs/promises'
import path from 'node:path'
import { later, seconds } from '../platform/clock.ts'
import type { SiteSpec } from './driver.ts'
import type { MoveDeps } from './move-clearing.ts'
import { copyHoldMs, copyMs, GivenUp, startMs, switchMs } from './move-parts.ts'
import { changeMove, moveById, nextAttempt, type MoveRow } from './move-store.ts'
import type { NodeControl } from './routed-driver.ts'
import type { SiteRow } from './store.ts'
import { createVisitor } from './update-pages.ts'
import { within } from './within.ts'

/** Changes that took no longer than this to follow are few enough to hold writes for. */
const shortMs = 1_500
/** A database up to this size, bytes, follows within that time, although it is sent whole. */
const smallDatabase = 8 * 1_048_576
/** In this time visitors write only a little to the files. */
const littleTimeMs = seconds(20)
/** If a round takes more than this share of the time of the one before, another gains nothing. */
const worthwhileShare = 0.75
/** Most rounds of following before writes are held, however long they take. */
const mostRounds = 5
/** How often the copy is compared with the original before a difference counts. */
const mostLooks = 3
/** Both ends of a move, and the spec that the server has at the new one. */
export interface Ends {
  readonly row: MoveRow
  readonly site: SiteRow
  readonly spec: SiteSpec
  readonly from: NodeControl
  readonly to: NodeControl
  readonly signal: AbortSignal
}

/** What one round did. */
interface Copied {
  /** The number of the next round. */
  readonly next: number
  /** Whether anything but the database changed. */
  readonly hasFiles: boolean
  /** Whether the database is known to follow soon. */
  readonly isSmall: boolean
}

export const isUp = ({ site }: Pick<Ends, 'site'>): boolean => site.status === 'running'

export interface MoveRounds {
  /** Copies the server and follows its changes; answers the round that the switch begins with. */
  untilLittleIsLeft(ends: Ends): Promise<number>
  copy(ends: Ends, round: number): Promise<Copied>
}

export function createMoveRounds({
  db,
  clock,
  folder,
}: Pick<MoveDeps, 'db' | 'clock' | 'folder'>): MoveRounds {
  /** Sends one archive from one node to the other. */
  async function copy({ row, spec, from, to, signal }: Ends, round: number): Promise<Copied> {
    const file = path.join(folder, `${row.id}.tar.gz`)
    const { database, compression, release } = to.driver.capabilities
    // The number is drawn before packing: an archive that another process packs later has a higher
    // one and wins.
    const attempt = await nextAttempt(db)
    const of = { moveId: row.id, round, attempt, database, compression, release }
    await fs.mkdir(folder, { recursive: true, mode: 0o700 })
    try {
      const out = from.driver.copyOut(spec.id, of, file)
      const changes = await within(copyMs, 'the copy took too long', out, signal)
      const { bytes } = changes
      await requireLed(row)
      const lines = round === 0 ? await from.driver.log(spec.id).tail(5_000) : []
      const laid = to.driver.copyIn(spec, { ...of, bytes }, file, lines)
      await within(copyMs, 'the copy took too long', laid, signal)
      await changeMove(db, row, {
        round: round + 1,
        copied_bytes: BigInt(bytes) + (round === 0 ? 0n : await copiedOf(row)),
      })
      // Converting to the other database takes longer.
      const longest = database === from.driver.capabilities.database ? smallDatabase : 0
      return {
        next: round + 1,
        hasFiles: changes.files + changes.removed > 0,
        isSmall: (changes.databaseBytes ?? Number.POSITIVE_INFINITY) <= longest,
      }
    } finally {
      await fs.rm(file, { force: true })
    }
  }
  /**
   * Refuses to continue a move that another process has ended, because this one was thought dead.
   */
  async function requireLed(row: MoveRow): Promise<void> {
    const now = await moveById(db, row.id)
    if (now?.state !== 'copying' && now?.state !== 'switching')
      throw new GivenUp('another process has led the move to its end')
  }
  const copiedOf = async (row: MoveRow): Promise<bigint> =>
    (await moveById(db, row.id))?.copied_bytes ?? 0n

  /**
   * Starts the copy, which does nothing by itself, and checks that it answers as the original does.
   * Answers the next round: a write between two looks makes a page differ, so its changes follow
   * before the next look.
   */
  async function rehearse(ends: Ends, first: number): Promise<number> {
    const { row, site, spec, from, to, signal } = ends
    await to.driver.holdWrites(site.id, copyHoldMs)
    await within(startMs, 'the copy did not start', to.driver.start(spec), signal)
    const visited = { id: site.id, url: spec.url, adminUser: site.admin_user }
    let paths: readonly string[] | undefined
    for (let [looks, round] = [1, first]; ; looks++) {
      const original = createVisitor(from.driver)
      const before = await original.lookBefore(visited, paths)
      // The paths are chosen once: a post written meanwhile would otherwise add a page.
      paths ??= before.pages.map(({ path: at }) => at)
      const found = await createVisitor(to.driver).lookAfter(visited, before)
      if (found.length === 0) return round
      // A page that changes all the time differs from itself as well.
      const changing = new Set(
        (await original.lookAfter(visited, before)).map(({ path: at }) => at),
      )
      const differences = found.filter(({ path: at }) => !changing.has(at))
      if (differences.length === 0) return round
      if (looks === mostLooks) {
        await changeMove(db, row, { differences: JSON.stringify(differences) })
        throw new GivenUp(`the copy answers ${differences.length} pages otherwise`)
      }
      round = (await copy(ends, round)).next
    }
  }

  /** Follows the changes until few are left; answers the next round. */
  async function followClosely(ends: Ends, first: number): Promise<number> {
    let round = first
    let tookMs = Number.POSITIVE_INFINITY
    for (let turn = 0; turn < mostRounds; turn++) {
      const [beforeMs, began] = [tookMs, performance.now()]
      const copied = await copy(ends, round)
      round = copied.next
      tookMs = performance.now() - began
      // Each round has a minimum: a database is sent whole, and an engine takes seconds for that.
      const gainsNothing = !copied.hasFiles || tookMs > beforeMs * worthwhileShare
      if (tookMs < shortMs || (tookMs < switchMs && gainsNothing)) break
    }
    // Otherwise writes would be held for as long again and again, and each switch given up.
    if (isUp(ends) && tookMs > switchMs)
      throw new GivenUp('its changes take longer to follow than writes may wait')
    return round
  }

  async function untilLittleIsLeft(ends: Ends): Promise<number> {
    const { row, site, to } = ends
    let { round } = row
    // Removes what an earlier try left, or the original where the server moves back.
    if (round === 0) {
      await requireLed(row)
      await to.driver.remove(site.id)
    }
    const until = later(clock.now(), littleTimeMs)
    const { next, isSmall } = await copy(ends, round)
    round = next
    if (isUp(ends)) round = await rehearse(ends, round)
    else await to.driver.stop(site.id)
    // If little time has passed, few changes are left, and they can follow while writes wait.
    if (isSmall && clock.now() < until) return round
    return await followClosely(ends, round)
  }

  return { untilLittleIsLeft, copy }
}
