/** What a token, or a member, may be limited to. */
import { queryOptions } from '@tanstack/react-query'
import { listDomains } from '../../contract/dns.ts'
import { listServers } from '../../contract/wordpress.ts'
import { callPage } from '../api.ts'

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
