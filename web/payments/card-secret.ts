import type { QueryClient } from '@tanstack/react-query'
import { cardSetup } from '../../contract/cards.ts'
import { call } from '../api.ts'
import { configQuery } from '../queries.ts'
import { session } from '../session.ts'

/** After signing in, where cards are taken: the secret with which one can be linked. Nobody waits for it; the screen that needs one can ask too. */
export async function keepCardSecret(queryClient: QueryClient, region: string, token: string): Promise<void> {
  const { payments } = await queryClient.ensureQueryData(configQuery)
  if (payments[region]?.cards !== true) return
  const { client_secret: secret } = await call(cardSetup, {})
  if (session.token() === token) session.keepCardSecret(secret)
}
