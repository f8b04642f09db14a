import type { QueryClient } from '@tanstack/react-query'
import { resume } from './known-session.ts'
import { meQuery } from './queries.ts'
import { session } from './session.ts'

/**
 * As `resume`, and who it is: a page outside of the frame shows times in the customer's zone, too,
 * also in a tab that knew of nobody before.
 */
export async function resumeAs(queryClient: QueryClient): Promise<void> {
  await resume()
  if (!session.signedIn() || session.locked()) return
  // Without it the page is shown in the browser's zone.
  await queryClient.ensureQueryData(meQuery).catch(() => {})
}
