/** Times in the notation of master files: seconds, or units (BIND since RFC 2308: 1w2d3h4m5s). */
import { Fault, faults } from './faults.ts'

const unitSeconds: Readonly<Record<string, number>> = {
  w: 604_800,
  d: 86_400,
  h: 3600,
  m: 60,
  s: 1,
}

/** RFC 2181, section 8. */
export const maxTtlSeconds = 2_147_483_647

/** Seconds, perhaps more than a TTL allows. Undefined: the word is no time. */
export function timeOf(text: string): number | undefined {
  if (/^\d{1,10}$/.test(text)) return Number(text)
  if (!/^(?:\d{1,10}[wdhms])+$/i.test(text)) return undefined
  let seconds = 0
  for (const [, count, unit] of text.matchAll(/(\d+)([wdhms])/gi)) {
    seconds += Number(count) * (unitSeconds[unit?.toLowerCase() ?? ''] ?? 0)
  }
  return seconds
}

/** @throws Fault if the word is no time, or more than `mostSeconds` */
export function secondsOf(text: string, mostSeconds = maxTtlSeconds): number {
  const seconds = timeOf(text)
  if (seconds === undefined || seconds > mostSeconds) throw new Fault(faults.ttl(text))
  return seconds
}
