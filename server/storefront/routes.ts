import { system as api } from '../../contract/index.ts'
import type * as z from 'zod/mini'
import type { Config as PublicConfig } from '../../contract/system.ts'
import type { Catalog } from '../catalog/index.ts'
import { encodeCursor, pageOfList, pageRequest } from '../platform/cursor.ts'
import { Page, type Http } from '../platform/http.ts'
import { searchPlaces } from './places.ts'

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
    const page = pageRequest(query, language)
    const { rows, next } = pageOfList(searchPlaces(query.search), page)
    return new Page(rows, encodeCursor(next))
  })
}
