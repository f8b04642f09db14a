/**
 * The answers of the copy's PHP to a step (the runtime's import-database.php), and what follows
 * from them.
 */
import * as z from 'zod'
import type { ImportedSite, ImportNote } from '../../../driver.ts'

const text = z.string().max(500)
export const answerShape = z.union([
  z.object({ error: z.string().max(4_000) }),
  z.object({
    after: z.int().nonnegative().nullable(),
    size: z.int().nonnegative(),
    changed: z.int().nonnegative(),
    refused: z.record(text, z.int().nonnegative()),
  }),
  z.object({
    home: text,
    from: z.array(text).max(4),
    admins: z.array(text).max(20),
    paths: z.array(z.string().startsWith('/').max(1_000)).max(20),
    missing: z.array(text).max(20),
    theme: text,
  }),
])
export type Answer = z.output<typeof answerShape>
type Finished = Extract<Answer, { home: string }>

/** The progress of the copy, as it is stored beside it. */
export type State =
  | {
      readonly phase: 'database'
      readonly after: number
      readonly size: number
      readonly changed: number
      readonly refused: number
    }
  | { readonly phase: 'upgrade'; readonly changed: number; readonly refused: number }
  | {
      readonly phase: 'addresses'
      readonly after: { table: string; key: number | null } | null
      readonly finished: Finished
      readonly changed: number
      readonly refused: number
    }
  | { readonly phase: 'done'; readonly site: ImportedSite }

/** The host and the folder of an address; undefined where it is not one. */
function placeOf(address: string): { host: string; folder: string } | undefined {
  if (!URL.canParse(address)) return undefined
  const { hostname, pathname, protocol } = new URL(address)
  if (!/^https?:$/.test(protocol)) return undefined
  return { host: hostname.toLowerCase(), folder: pathname.replace(/\/+$/, '') }
}

/**
 * The addresses to replace: the original's hosts with and without www, those with a folder first;
 * never the site's own address.
 */
export function formerPlaces(addresses: readonly string[], own: string): string[] {
  const ownHost = new URL(own).hostname
  const places = addresses.flatMap((address) => {
    const place = placeOf(address)
    if (!place || place.host === '') return []
    const other = place.host.startsWith('www.') ? place.host.slice(4) : `www.${place.host}`
    return [place.host, other]
      .filter((host) => host !== ownHost)
      .flatMap((host) => (place.folder === '' ? [host] : [host + place.folder, host]))
  })
  return [...new Set(places)].toSorted((a, b) => Number(b.includes('/')) - Number(a.includes('/')))
}

/** What the customer is told about the copy. */
export function siteOf(state: Extract<State, { phase: 'addresses' }>): ImportedSite {
  const { finished, changed, refused } = state
  const notes: ImportNote[] = []
  if (refused > 0) notes.push({ code: 'rows_left_out', detail: String(refused) })
  if (changed > 0) notes.push({ code: 'rows_changed', detail: String(changed) })
  if (finished.missing.length > 0)
    notes.push({ code: 'plugins_missing', detail: finished.missing.join(', ') })
  if (finished.theme !== '') notes.push({ code: 'theme_missing', detail: finished.theme })
  const { home, admins, paths } = finished
  return { home, admins, paths, notes }
}
