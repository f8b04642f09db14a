import type { QueryClient } from '@tanstack/react-query'
import type { SignedIn } from '../../contract/session.ts'
import { languageAtSignIn } from '../choose-language.ts'
import { dropDraftsOfOthers } from '../drafts.ts'
import { meQuery } from '../queries.ts'
import { session } from '../session.ts'
import { tellTabs } from '../tabs.ts'
import { toast } from '../ui/toast.ts'
import { noteActivated } from './activated.ts'
import { forgetCodeSent } from './resend.ts'

/**
 * Starts using a new session, here and in the other tabs. It loads the profile, whose language is
 * the customer's choice or the region's.
 */
export async function enter(queryClient: QueryClient, signedIn: SignedIn): Promise<void> {
  queryClient.clear()
  session.open(signedIn.token.accessToken, signedIn.session)
  tellTabs('in', signedIn.session)
  noteActivated('')
  forgetCodeSent()
  const user = await queryClient.fetchQuery(meQuery)
  dropDraftsOfOthers(user.id)
  toast.clear()
  await languageAtSignIn(user, queryClient)
  void import('../payments/card-secret.ts')
    .then(({ keepCardSecret }) => keepCardSecret(session.credential()))
    .catch(() => {})
}
