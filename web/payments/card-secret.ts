import { cardSetup } from '../../contract/cards.ts'
import { call } from '../api.ts'
import { session } from '../session.ts'

/**
 * Fetches, after the sign-in, the secret for linking a card. Nothing waits for it, because a screen
 * that needs one can fetch it as well.
 */
export async function keepCardSecret(under: string | null): Promise<void> {
  const { client_secret: secret } = await call(cardSetup, {})
  if (session.credential() === under) session.keepCardSecret(secret)
}
