import type { QueryClient } from '@tanstack/react-query'
import { languageAtSignIn } from '../choose-language.ts'
import { dropDraftsOfOthers } from '../drafts.ts'
import { meQuery } from '../queries.ts'
import { session } from '../session.ts'
import { toast } from '../ui/toast.ts'

/**
 * Takes a fresh token into use: the profile is read, and its language is the customer's choice, or
 * their region's.
 */
export async function enter(queryClient: QueryClient, token: string): Promise<void> {
  queryClient.clear()
  session.open(token)
  const user = await queryClient.fetchQuery(meQuery)
  dropDraftsOfOthers(user.id)
  toast.clear()
  await languageAtSignIn(user, queryClient)
  void import('../payments/card-secret.ts')
    .then(({ keepCardSecret }) => keepCardSecret(token))
    .catch(() => {})
}
