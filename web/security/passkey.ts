/** The browser's passkeys. Loaded on demand. */
import { startAuthentication, startRegistration } from '@simplewebauthn/browser'
import { passkeyOptions } from '../../contract/second-factor.ts'
import { call } from '../api.ts'

interface Signed {
  readonly challenge: string
  readonly response: Record<string, unknown>
}
type Options<F extends (input: { optionsJSON: never }) => unknown> = Parameters<F>[0]['optionsJSON']

/** Asks the customer to use a passkey. */
export async function signWithPasskey(): Promise<Signed> {
  const { challenge, options } = await call(passkeyOptions, {})
  const optionsJSON = options as unknown as Options<typeof startAuthentication>
  const response = await startAuthentication({ optionsJSON })
  return { challenge, response: response as unknown as Signed['response'] }
}

/** Asks the device to create a passkey. */
export async function makePasskey(begun: {
  challenge: string
  options: Record<string, unknown>
}): Promise<Signed> {
  const optionsJSON = begun.options as unknown as Options<typeof startRegistration>
  const response = await startRegistration({ optionsJSON })
  return { challenge: begun.challenge, response: response as unknown as Signed['response'] }
}
