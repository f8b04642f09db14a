/**
 * Queries of every screen: the signed-in customer and the portal's configuration. Also the defaults
 * of all queries.
 */
import { QueryClient, queryOptions, useSuspenseQuery } from '@tanstack/react-query'
import { me, type Me } from '../contract/auth.ts'
import { config, type Config } from '../contract/system.ts'
import { ApiError, call } from './api.ts'
import { chosenZone } from './format.ts'
import { session } from './session.ts'
import { afterFrame } from './ui/after-frame.ts'

/**
 * Makes times appear in the customer's chosen zone; undefined when they already do. It must be
 * awaited before anything with a time is rendered. If its code cannot be loaded, times stay in the
 * browser's zone.
 */
export function followZoneOf(user: Me | undefined): Promise<void> | undefined {
  const zone = user?.timeZone ?? null
  return zone === chosenZone.name
    ? undefined
    : import('./time-zone.ts').then(
        ({ followTimeZone }) => followTimeZone(zone),
        () => undefined,
      )
}

export const meQuery = queryOptions({
  queryKey: ['me'],
  queryFn: async ({ signal }): Promise<Me> => {
    const user = await call(me, {}, { signal })
    session.remember(user)
    await followZoneOf(user)
    return user
  },
})

export const configQuery = queryOptions({
  queryKey: ['config'],
  queryFn: ({ signal }): Promise<Config> => call(config, {}, { signal }),
  staleTime: Infinity,
})

export function createQueryClient(): QueryClient {
  const client = new QueryClient({
    defaultOptions: {
      queries: {
        staleTime: 15_000,
        // One silent retry for a failure that may pass by itself; a refusal is final.
        retry: (count, error) =>
          count < 1 && error instanceof ApiError && (error.status === 0 || error.status === 502),
        retryDelay: 500,
        // Data that is already shown is refetched after the next frame, because on a slow processor
        // each request costs milliseconds of it.
        persister: async (read, context, { state }) => {
          if (state.data !== undefined && state.fetchMeta === null) await afterFrame()
          return await read(context)
        },
        // Needed because a `persister` changes the default of this option.
        networkMode: 'online',
      },
      // Without a connection an act fails at once and says so. A paused act would keep its dialog
      // open, and run later, when nobody expects it.
      mutations: { networkMode: 'always' },
    },
  })
  // The portal's frame is first rendered with the profile that this tab stored, which is refetched
  // at once.
  const known = session.user()
  if (known) client.setQueryData(meQuery.queryKey, known, { updatedAt: 1 })
  return client
}

/** The signed-in customer. The app layout's loader has fetched it, so this never waits. */
export const useMe = (): Me => useSuspenseQuery(meQuery).data
export const useConfig = (): Config => useSuspenseQuery(configQuery).data
