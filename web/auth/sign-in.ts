import type { QueryClient } from '@tanstack/react-query'
import type { SignedIn } from '../../contract/session.ts'
import { languageAtSignIn } from '../choose-language.ts'
import { dropDraftsOfOthers } from '../drafts.ts'
import { meQuery } from '../queries.ts'
import { session } from '../session.ts'
import { tellTabs } from '../tabs.ts'
import { toast } from '../ui/toast.ts'

/**
 * Takes a fresh session into use, here and in the other tabs: the profile is read, and its language
 * is the customer's choice, or their region's.
 */
export async function enter(queryClient: QueryClient, signedIn: SignedIn): Promise<void> {
  queryClient.clear()
  session.open(signedIn.token.accessToken, signedIn.session)
  tellTabs('in', signedIn.session)
  const user = await queryClient.fetchQuery(meQuery)
  dropDraftsOfOthers(user.id)
  toast.clear()
  await languageAtSignIn(user, queryClient)
  void import('../payments/card-secret.ts')
    .then(({ keepCardSecret }) => keepCardSecret(session.credential()))
    .catch(() => {})
}
