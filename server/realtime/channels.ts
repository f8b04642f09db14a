/** Authorisation of channels: customers may subscribe to their own while their session lives. */
import type { Tx } from '../platform/db.ts'
import { Refusal } from '../platform/errors.ts'
import type { SessionRevocations } from './session-revocations.ts'
import { channelAuth, type AppKey } from './signature.ts'

/**
 * The signature for a socket's subscription. Refuses with `forbidden` another customer's channel,
 * and with `unauthenticated` a session that has ended meanwhile.
 */
export async function authorise(
  tx: Tx,
  { revocations, app }: { readonly revocations: SessionRevocations; readonly app: AppKey },
  of: { readonly customerId: string; readonly sessionId: string | undefined },
  asked: { readonly socketId: string; readonly channel: string },
): Promise<string> {
  const { customerId, sessionId } = of
  if (asked.channel !== `private-${customerId}`) throw new Refusal('forbidden')
  if (sessionId === undefined || !(await revocations.grant(tx, sessionId, asked.socketId)))
    throw new Refusal('unauthenticated')
  return channelAuth(app, asked.socketId, asked.channel)
}
