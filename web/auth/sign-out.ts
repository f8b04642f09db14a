import type { QueryClient } from '@tanstack/react-query'
import { logout } from '../../contract/auth.ts'
import { call } from '../api.ts'
import { session } from '../session.ts'

/**
 * `leave` leads to the sign-in. The token is revoked on the server too, but nobody waits for that
 * to be signed out here.
 */
export async function signOut(queryClient: QueryClient, leave: () => Promise<void>): Promise<void> {
  void call(logout, {}).catch(() => {})
  session.close(true)
  await leave()
  // Not before: a screen that is still there would ask for everything again, as nobody.
  queryClient.clear()
}
