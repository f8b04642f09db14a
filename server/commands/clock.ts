import { sql } from 'kysely'
import type { Config } from '../config.ts'
import { clockChannel, days, hours, minutes, readOffset, seconds } from '../platform/clock.ts'
import { connect } from '../platform/db.ts'
import type { Output } from './output.ts'

const units: Readonly<Record<string, (count: number) => number>> = {
  s: seconds,
  m: minutes,
  h: hours,
  d: days,
}

/**
 * The clock's new offset for `wanted`, ms, given its present offset; undefined: `wanted` is no
 * time.
 */
export function offsetAfter(wanted: string, offsetMs: number, wall: Date): number | undefined {
  if (wanted === 'reset') return 0
  const [, sign, count, unit = ''] = /^([+-])(\d{1,6})([smhd])$/.exec(wanted) ?? []
  const span = units[unit]
  if (span) return offsetMs + (sign === '-' ? -1 : 1) * span(Number(count))
  if (!/^\d{4}-\d\d-\d\d(T[\d:.]+(Z|[+-]\d\d:\d\d))?$/.test(wanted)) return undefined
  const moment = Date.parse(wanted)
  return Number.isNaN(moment) ? undefined : moment - wall.getTime()
}

/**
 * `clock [+3d | -2h | 2027-01-31T00:00Z | reset]`: moves the clock of the running portal, or prints
 * its time.
 */
export async function clockCommand(
  config: Config,
  databaseUrl: string,
  [wanted]: readonly string[],
  out: Output,
): Promise<number> {
  if (!config.sandbox) {
    out.refuse('The clock moves in a portal with the sandbox only.')
    return 1
  }
  const { db, close } = connect(databaseUrl, 1, () => undefined)
  try {
    const offset = await readOffset(db)
    const moved = wanted === undefined ? offset : offsetAfter(wanted, offset, new Date())
    if (moved === undefined) {
      out.refuse('What time? npm run portal -- clock +3d, or 2027-01-31T00:00Z, or reset')
      return 64
    }
    if (moved !== offset) {
      await db
        .insertInto('clock_offset')
        .values({ one: true, offset_ms: BigInt(Math.round(moved)) })
        .onConflict((conflict) =>
          conflict.column('one').doUpdateSet({ offset_ms: BigInt(Math.round(moved)) }),
        )
        .execute()
      await sql`select pg_notify(${clockChannel}, '')`.execute(db)
    }
    const now = new Date(Date.now() + moved).toISOString()
    const away = `${moved > 0 ? '+' : '-'} ${(Math.abs(moved) / days(1)).toFixed(3)} days`
    out.line(moved === 0 ? now : `${now} (the wall's clock ${away})`)
    out.fields({ now, offsetMs: Math.round(moved) })
    return 0
  } finally {
    await close()
  }
}
