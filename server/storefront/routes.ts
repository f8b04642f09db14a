import { system as api } from '../../contract/index.ts'
import type * as z from 'zod/mini'
import type { Config as PublicConfig } from '../../contract/system.ts'
import type { Http } from '../platform/http.ts'
import { searchPlaces } from './places.ts'

export function routes(http: Http, config: () => z.output<typeof PublicConfig>): void {
  http.read(api.config, async () => config())
  http.read(api.searchLocations, async ({ query }) => searchPlaces(query.search))
}
