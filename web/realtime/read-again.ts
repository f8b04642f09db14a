import type { QueryClient } from '@tanstack/react-query'

/**
 * Refetches everything under a subject, the first part of a query's key, after an event about it.
 * TanStack Query restarts only a read whose earlier answer is on the screen. A first read, or one
 * that a page makes before it is rendered, continues, and its answer may be older than the event.
 * Such a read is repeated when it has ended.
 */
export function readAgain(queryClient: QueryClient, subject: string): void {
  const underWay = queryClient
    .getQueryCache()
    .findAll({ queryKey: [subject], fetchStatus: 'fetching' })
    .filter((query) => query.state.data === undefined || !query.isActive())
  void queryClient.invalidateQueries({ queryKey: [subject] })
  for (const { promise, queryKey } of underWay) {
    const again = () => void queryClient.invalidateQueries({ queryKey, exact: true })
    // A failed read is reported where its data is shown.
    promise?.finally(again).catch(() => {})
  }
}
