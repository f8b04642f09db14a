/** What the parts of one server's page read. */
import { queryOptions } from '@tanstack/react-query'
import { getSubscription } from '../../contract/billing.ts'
import { checkDomain } from '../../contract/wordpress-domains.ts'
import { getUsage } from '../../contract/wordpress-server.ts'
import { call } from '../api.ts'

/** What it is paid by: until when, and what a change costs for the rest of that time. */
export const subscriptionQuery = (id: string) =>
  queryOptions({
    queryKey: ['subscriptions', id],
    queryFn: ({ signal }) => call(getSubscription, { params: { id } }, { signal }),
  })

const usageEveryMs = 30_000
export const usageQuery = (id: string) =>
  queryOptions({
    queryKey: ['usage', id],
    queryFn: ({ signal }) => call(getUsage, { params: { id } }, { signal }),
    refetchInterval: usageEveryMs,
  })

/** What the DNS says of a name; asked again only when somebody wants to know. */
export const domainQuery = (id: string, name: string) =>
  queryOptions({
    queryKey: ['domain', id, name],
    queryFn: ({ signal }) => call(checkDomain, { params: { id }, query: { name } }, { signal }),
    refetchOnWindowFocus: false,
    retry: false,
  })
