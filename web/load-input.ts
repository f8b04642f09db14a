import type { QueryClient } from '@tanstack/react-query'

/**
 * The input of a screen's loader, which may fetch data before the screen is shown. A loader never
 * throws: a failed load is shown inside its card.
 */
export interface LoadInput {
  queryClient: QueryClient
  params: Record<string, string>
  search: Record<string, unknown>
  /** This screen is there already, and only its address changes. */
  isShown: boolean
}
