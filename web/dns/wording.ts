import type { RecordState } from '../../contract/dns-changes.ts'
import type { RecordType } from '../../contract/dns-types.ts'
import type { Tone } from '../ui/Badge.tsx'

export const typeTones: Readonly<Record<RecordType, Tone>> = {
  A: 'primary',
  AAAA: 'primary',
  CNAME: 'info',
  TXT: 'neutral',
  MX: 'warning',
  NS: 'success',
}

interface Units {
  seconds: (count: number) => string
  minutes: (count: number) => string
  hours: (count: number) => string
  days: (count: number) => string
}

/** A TTL in the largest unit that divides it. */
export function ttlText(seconds: number, units: Units): string {
  if (seconds > 0 && seconds % 86_400 === 0) return units.days(seconds / 86_400)
  if (seconds > 0 && seconds % 3600 === 0) return units.hours(seconds / 3600)
  if (seconds > 0 && seconds % 60 === 0) return units.minutes(seconds / 60)
  return units.seconds(seconds)
}

/** A record on one line. */
export const recordLine = ({
  name,
  type,
  data,
  priority,
}: Pick<RecordState, 'name' | 'type' | 'data' | 'priority'>): string =>
  `${name} ${type} ${priority === null ? '' : `${priority} `}${data.join(', ')}`
