/** Signs in by a passkey, without a password. Loaded on demand. */
import { passkeySignIn } from '../../contract/second-factor.ts'
import type { SignedIn } from '../../contract/session.ts'
import { call } from '../api.ts'
import { signWithPasskey } from './passkey.ts'

export const signInByPasskey = async (remember: boolean): Promise<SignedIn> =>
  await call(passkeySignIn, { body: { ...(await signWithPasskey()), remember } })
