/** Removes old backups of the portal, and what killed processes left of one. */
import { hours } from '../platform/clock.ts'
import { backupsIn, manifestName } from './manifest.ts'
import type { ObjectStore } from '../platform/object-store/index.ts'

/** A backup without a manifest after this long is no longer being written. */
const abandonedMs = hours(24)

/** When it began, as its id says. */
function begunAt(id: string): number {
  const [, ...parts] = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z/.exec(id) ?? []
  const [year, month, day, hour, minute, second] = parts
  return Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`)
}

/**
 * Keeps the newest `kept` whole ones, `verified` however old it is, and what is younger than a day
 * and may still be written. Answers the ids of those that are gone.
 */
export async function pruneBackups(
  store: ObjectStore,
  kept: number,
  now: Date,
  verified: string | null = null,
): Promise<string[]> {
  const { whole, cutShort, names } = await backupsIn(store)
  const old = whole.slice(0, Math.max(0, whole.length - kept)).filter((id) => id !== verified)
  const abandoned = cutShort.filter((id) => begunAt(id) < now.getTime() - abandonedMs)
  for (const id of [...old, ...abandoned]) {
    // The manifest goes first, so that a partially removed backup no longer counts as one.
    await store.remove(`${id}/${manifestName}`)
    for (const name of names) if (name.startsWith(`${id}/`)) await store.remove(name)
  }
  return [...old, ...abandoned]
}
