import type { QueryClient } from '@tanstack/react-query'

/**
 * What a screen may fetch before it is shown. It never throws: a failed load is said inside its
 * card.
 */
export interface LoadInput {
  queryClient: QueryClient
  params: Record<string, string>
  search: Record<string, unknown>
}
