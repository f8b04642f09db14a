import { cardSetup } from '../../contract/cards.ts'
import { call } from '../api.ts'
import { session } from '../session.ts'

/**
 * After signing in: the secret with which one can be linked. Nobody waits for it; the screen that
 * needs one can ask too.
 */
export async function keepCardSecret(under: string | null): Promise<void> {
  const { client_secret: secret } = await call(cardSetup, {})
  if (session.credential() === under) session.keepCardSecret(secret)
}
