import type { QueryClient } from '@tanstack/react-query'
import { logout } from '../../contract/auth.ts'
import { call } from '../api.ts'
import { session } from '../session.ts'
import { noteLeaving, tellTabs } from '../tabs.ts'

/**
 * `leave` navigates to the sign-in. The session also ends on the server and in every tab, but the
 * sign-out here does not wait for that.
 */
export async function signOut(queryClient: QueryClient, leave: () => Promise<void>): Promise<void> {
  const held = session.held()
  noteLeaving(held?.id)
  call(logout, {}).then(
    () => noteLeaving(undefined),
    // The token was dead although the cookie may still live, or no response came: a later check of
    // the cookie ends the session.
    () => import('../resume.ts').then(({ heldSession }) => heldSession()).catch(() => {}),
  )
  await signedOut(queryClient, leave)
}

/** The session has ended on the server; this ends it in every tab. */
export async function signedOut(
  queryClient: QueryClient,
  leave: () => Promise<void>,
): Promise<void> {
  const held = session.held()
  session.close(true)
  tellTabs('out', held)
  await leave()
  // Only after leaving: a screen that is still shown would refetch everything without a session.
  queryClient.clear()
}
