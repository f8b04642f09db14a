/**
 * What every screen may need: the signed-in customer and the portal's configuration. And how
 * reading behaves in general.
 */
import { QueryClient, queryOptions, useSuspenseQuery } from '@tanstack/react-query'
import { me, type Me } from '../contract/auth.ts'
import { config, type Config } from '../contract/system.ts'
import { ApiError, call } from './api.ts'
import { chosenZone } from './format.ts'
import { session } from './session.ts'
import { afterFrame } from './ui/after-frame.ts'

/**
 * Has times written in the zone that a customer chose; undefined when they are. To be awaited
 * before anything with a time is drawn. Where its code cannot be fetched, times stay in the
 * browser's.
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
        // One quiet repeat for what may pass by itself; a refusal is final.
        retry: (count, error) =>
          count < 1 && error instanceof ApiError && (error.status === 0 || error.status === 502),
        retryDelay: 500,
        // What is shown already is asked for anew behind the frame that shows it: on a slow
        // processor each request takes milliseconds of it.
        persister: async (read, context, { state }) => {
          if (state.data !== undefined && state.fetchMeta === null) await afterFrame()
          return await read(context)
        },
        // The option above would have it otherwise.
        networkMode: 'online',
      },
      // Without a connection an act fails at once and says so. A paused one would hold its dialog,
      // and run later, when nobody expects it.
      mutations: { networkMode: 'always' },
    },
  })
  // The frame of the portal is drawn with what this tab knew last, and refreshed at once.
  const known = session.user()
  if (known) client.setQueryData(meQuery.queryKey, known, { updatedAt: 1 })
  return client
}

/** The signed-in customer. The app layout's loader has fetched it, so this never waits. */
export const useMe = (): Me => useSuspenseQuery(meQuery).data
export const useConfig = (): Config => useSuspenseQuery(configQuery).data
