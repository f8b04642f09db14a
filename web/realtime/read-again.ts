import type { QueryClient } from '@tanstack/react-query'

/**
 * Reads again what stands under a subject, the first part of a query's key, after something
 * happened to it. TanStack Query begins anew only a read whose earlier answer is on the screen; a
 * first read, or one that a page makes before it is drawn, goes on, and what it answers may be
 * older than what happened. Such a one is repeated when it has ended.
 */
export function readAgain(queryClient: QueryClient, subject: string): void {
  const underWay = queryClient
    .getQueryCache()
    .findAll({ queryKey: [subject], fetchStatus: 'fetching' })
    .filter((query) => query.state.data === undefined || !query.isActive())
  void queryClient.invalidateQueries({ queryKey: [subject] })
  for (const { promise, queryKey } of underWay) {
    const again = () => void queryClient.invalidateQueries({ queryKey, exact: true })
    // A read that fails says so where it is shown.
    promise?.finally(again).catch(() => {})
  }
}
