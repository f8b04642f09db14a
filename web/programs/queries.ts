import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query'
import { listDomains } from '../../contract/dns.ts'
import { listTokens } from '../../contract/tokens.ts'
import { listDeliveries, listWebhooks } from '../../contract/webhooks.ts'
import { listServers } from '../../contract/wordpress.ts'
import { call, callPage } from '../api.ts'

export const tokensQuery = queryOptions({
  queryKey: ['account', 'tokens'],
  queryFn: ({ signal }) => call(listTokens, {}, { signal }),
})
export const webhooksQuery = queryOptions({
  queryKey: ['account', 'webhooks'],
  queryFn: ({ signal }) => call(listWebhooks, {}, { signal }),
})
/** As many servers as a token may be limited to. */
export const choosableServersQuery = queryOptions({
  queryKey: ['account', 'tokens', 'servers'],
  queryFn: async ({ signal }) => {
    const { result } = await callPage(listServers, { query: { limit: 100 } }, { signal })
    return result.map(({ id, name }) => ({ id, name }))
  },
})
export const choosableDomainsQuery = queryOptions({
  queryKey: ['account', 'tokens', 'domains'],
  queryFn: async ({ signal }) => {
    const { result } = await callPage(listDomains, { query: { limit: 100 } }, { signal })
    return result.data.map(({ id, name }) => ({ id, name }))
  },
})

/** While something waits to be sent, the list is looked at again. */
const lookMs = 3_000
export const deliveriesQuery = (id: string) =>
  infiniteQueryOptions({
    queryKey: ['account', 'webhooks', id],
    initialPageParam: undefined as string | undefined,
    queryFn: ({ pageParam, signal }) =>
      callPage(
        listDeliveries,
        { params: { id }, query: { limit: 20, cursor: pageParam } },
        {
          signal,
        },
      ),
    getNextPageParam: (page) => page.next ?? undefined,
    refetchInterval: ({ state }) =>
      state.data?.pages.some(({ result }) =>
        result.deliveries.some((one) => one.state === 'waiting'),
      ) === true
        ? lookMs
        : false,
  })
