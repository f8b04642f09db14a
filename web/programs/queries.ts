import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query'
import { listTokens } from '../../contract/tokens.ts'
import { listDeliveries, listWebhooks } from '../../contract/webhooks.ts'
import { call, callPage } from '../api.ts'

export const tokensQuery = queryOptions({
  queryKey: ['account', 'tokens'],
  queryFn: ({ signal }) => call(listTokens, {}, { signal }),
})
export const webhooksQuery = queryOptions({
  queryKey: ['account', 'webhooks'],
  queryFn: ({ signal }) => call(listWebhooks, {}, { signal }),
})
/** While a delivery waits to be sent, the list is polled this often, ms. */
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
