import type { QueryClient } from '@tanstack/react-query'
import { logout } from '../../contract/auth.ts'
import { call } from '../api.ts'
import { session } from '../session.ts'
import { noteLeaving, tellTabs } from '../tabs.ts'

/**
 * `leave` leads to the sign-in. The session ends on the server too, and in every tab, but nobody
 * waits for that to be signed out here.
 */
export async function signOut(queryClient: QueryClient, leave: () => Promise<void>): Promise<void> {
  const held = session.held()
  noteLeaving(held?.id)
  call(logout, {}).then(
    () => noteLeaving(undefined),
    // The token was dead and the cookie may not be, or nobody answered: a later look ends it.
    () => import('../resume.ts').then(({ heldSession }) => heldSession()).catch(() => {}),
  )
  await signedOut(queryClient, leave)
}

/** The session has ended on the server: it does so in every tab. */
export async function signedOut(
  queryClient: QueryClient,
  leave: () => Promise<void>,
): Promise<void> {
  const held = session.held()
  session.close(true)
  tellTabs('out', held)
  await leave()
  // Not before: a screen that is still there would ask for everything again, as nobody.
  queryClient.clear()
}
