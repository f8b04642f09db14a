import type { QueryClient } from '@tanstack/react-query'
import { logout } from '../../contract/auth.ts'
import { call } from '../api.ts'
import { session } from '../session.ts'

/** The token is revoked on the server too, but nobody waits for that to be signed out here. */
export function signOut(queryClient: QueryClient): void {
  void call(logout, {}).catch(() => {})
  session.close(true)
  queryClient.clear()
}
