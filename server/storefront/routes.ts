import { system as api } from '../../contract/index.ts'
import type * as z from 'zod/mini'
import type { Config as PublicConfig } from '../../contract/system.ts'
import type { Catalog } from '../catalog/index.ts'
import { decodeCursor, encodeCursor } from '../platform/cursor.ts'
import { Page, type Http } from '../platform/http.ts'
import { searchPlaces } from './places.ts'

const defaultLimit = 50

/** A text of the catalogue in paragraphs; a heading is one of its own, whatever follows it. */
const paragraphsOf = (text: string): string[] =>
  text
    .replace(/^(# .*)$/gm, '\n$1\n')
    .split(/\n\s*\n/)
    .map((part) => part.trim().replace(/\s*\n\s*/g, ' '))
    .filter((part) => part !== '')

export function routes(
  http: Http,
  config: () => z.output<typeof PublicConfig>,
  legal: Catalog['legal'],
): void {
  http.read(api.config, async () => config())
  http.read(api.legalPage, async ({ params, language }) => ({
    paragraphs: paragraphsOf(legal[params.page][language]),
  }))
  http.read(api.searchLocations, async ({ query, language }) => {
    // The places do not change while the portal runs: how many were shown says where the next page
    // begins.
    const [found, from] = [
      searchPlaces(query.search),
      Number(decodeCursor(query.cursor, language) ?? 0n),
    ]
    const to = from + (query.limit ?? defaultLimit)
    return new Page(found.slice(from, to), to < found.length ? encodeCursor(BigInt(to)) : null)
  })
}
