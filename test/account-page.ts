/** Calls of the account page, by whoever is signed in with a token. */
import type { TestPortal } from './portal.ts'

/** At a portal that is open by the time they are made. */
export function accountAt(portal: () => TestPortal) {
  const account = <T = null>(token: string, method: string, path: string, body?: unknown) =>
    portal().call<T>(method, `/api/v1/account${path}`, {
      token,
      ...(body !== undefined && { body }),
    })
  const security = async (token: string) =>
    (
      await account<{
        totp: boolean
        passkeys: { id: string; name: string }[]
        passkeyOrigin: string
        recoveryCodesLeft: number
        devices: { id: string }[]
      }>(token, 'GET', '/security')
    ).body.result
  return { account, security }
}
