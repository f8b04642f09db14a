/**
 * Servers and domains to choose from. All of them are loaded, because the wanted one may be the
 * oldest; other screens read page by page.
 */
import { queryOptions } from '@tanstack/react-query'
import { listDomains } from '../../contract/dns.ts'
import { listServers } from '../../contract/wordpress.ts'
import { callPage, type Page } from '../api.ts'

/** Reads every page of a list, one after another. */
async function allPages<R>(
  read: (query: { limit: number; cursor?: string }) => Promise<Page<R>>,
): Promise<R[]> {
  const pages: R[] = []
  let next: string | null = null
  do {
    const page: Page<R> = await read({ limit: 100, ...(next === null ? {} : { cursor: next }) })
    pages.push(page.result)
    next = page.next
  } while (next !== null)
  return pages
}

export const choosableServersQuery = queryOptions({
  queryKey: ['servers', 'choices'],
  queryFn: async ({ signal }) => {
    const pages = await allPages((query) => callPage(listServers, { query }, { signal }))
    return pages.flat().map(({ id, name, status }) => ({ id, name, status }))
  },
})
export const choosableDomainsQuery = queryOptions({
  queryKey: ['dns', 'choices'],
  queryFn: async ({ signal }) => {
    const pages = await allPages((query) => callPage(listDomains, { query }, { signal }))
    return pages.flatMap(({ data }) => data.map(({ id, name }) => ({ id, name })))
  },
})
