/** Signs in without a password. Loaded when it is wanted. */
import { passkeySignIn } from '../../contract/second-factor.ts'
import type { SignedIn } from '../../contract/session.ts'
import { call } from '../api.ts'
import { signWithPasskey } from './passkey.ts'

export const signInByPasskey = async (remember: boolean): Promise<SignedIn> =>
  await call(passkeySignIn, { body: { ...(await signWithPasskey()), remember } })
