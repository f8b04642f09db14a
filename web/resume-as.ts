import type { QueryClient } from '@tanstack/react-query'
import { resume } from './known-session.ts'
import { meQuery } from './queries.ts'
import { session } from './session.ts'

/**
 * Like `resume`, and also loads the profile: a page outside the layout shows times in the
 * customer's zone too, even in a tab without a stored session.
 */
export async function resumeAs(queryClient: QueryClient): Promise<void> {
  await resume()
  if (!session.signedIn() || session.locked()) return
  // If that fails, the page uses the browser's zone.
  await queryClient.ensureQueryData(meQuery).catch(() => {})
}
