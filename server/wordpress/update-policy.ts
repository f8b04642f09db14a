/** Which releases a server gets automatically, and when. */
import type { AvailableRelease, UpdatePolicy } from '../../contract/wordpress-updates.ts'
import { hours, later, minutes } from '../platform/clock.ts'

/** The packages of an update that was rolled back. */
export interface RolledBack {
  readonly packages: readonly {
    readonly slug: string
    readonly kind: string
    readonly to: string
  }[]
}

type Candidate = Pick<AvailableRelease, 'version' | 'security'> & {
  readonly kind: 'core' | 'plugin' | 'theme'
  readonly slug: string
}

/** Security releases of WordPress itself are always wanted; the others by the owner's choice. */
function isWanted({ kind, security }: Candidate, policy: UpdatePolicy): boolean {
  if (kind === 'core') return security
  if (policy === 'all') return true
  return policy === 'security' && security
}

const isSame = (one: Candidate, other: RolledBack['packages'][number]): boolean =>
  one.kind === other.kind && one.slug === other.slug && one.version === other.to

/**
 * The releases to install automatically. A release that was rolled back alone is not tried again.
 * Releases that were rolled back together are tried one by one, because one of them is at fault.
 */
export function chooseAutomatic<C extends Candidate>(
  available: readonly C[],
  policy: UpdatePolicy,
  rolledBack: readonly RolledBack[],
): C[] {
  const isIn = (one: C, updates: readonly RolledBack[]): boolean =>
    updates.some(({ packages }) => packages.some((other) => isSame(one, other)))
  const alone = rolledBack.filter(({ packages }) => packages.length === 1)
  const together = rolledBack.filter(({ packages }) => packages.length > 1)
  const wanted = available.filter((one) => isWanted(one, policy) && !isIn(one, alone))
  const calm = wanted.filter((one) => !isIn(one, together))
  return calm.length > 0 ? calm : wanted.slice(0, 1)
}

/**
 * Local hour at which the first servers are updated, and for how many minutes updates are begun.
 */
const nightBegins = 2
const nightMinutes = 180

/** The time zone of a country: of its zones from west to east the middle one. */
export function timeZoneOf(country: string, at = new Date()): string {
  const known = new Intl.Locale('und', { region: country }) as Intl.Locale & {
    getTimeZones?: () => string[] | undefined
  }
  const zones = known.getTimeZones?.() ?? []
  const ordered = zones.toSorted((a, b) => offsetMs(a, at) - offsetMs(b, at))
  return ordered[Math.floor(ordered.length / 2)] ?? 'UTC'
}

/** How far the zone's clock is ahead of UTC, ms. */
function offsetMs(zone: string, at: Date): number {
  const parts = new Intl.DateTimeFormat('en-US', {
    timeZone: zone,
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
  }).formatToParts(at)
  const part = (type: string): number => Number(parts.find((one) => one.type === type)?.value)
  const local = Date.UTC(
    part('year'),
    part('month') - 1,
    part('day'),
    part('hour'),
    part('minute'),
    part('second'),
  )
  return local - Math.floor(at.getTime() / 1000) * 1000
}

/** This server's minute of the night, so that not all begin at once. */
function minuteOf(siteId: string): number {
  const number = Number.parseInt(siteId.replaceAll('-', '').slice(0, 8), 16)
  return Number.isFinite(number) ? number % nightMinutes : 0
}

/** The next moment after `now` at which the server may be updated: at night in its time zone. */
export function nextNight(siteId: string, zone: string, now: Date): Date {
  const dayMs = hours(24)
  const inDay = hours(nightBegins) + minutes(minuteOf(siteId))
  const offset = offsetMs(zone, now)
  const local = now.getTime() + offset
  const today = local - (((local % dayMs) + dayMs) % dayMs) + inDay
  const next = today > local ? today : today + dayMs
  return new Date(next - offset)
}

/**
 * Whether the server's time of the night has passed: a missed night (the portal or the server was
 * away) is not made up for by day.
 */
export const isNightOver = (at: Date, now: Date): boolean => now > later(at, minutes(nightMinutes))
