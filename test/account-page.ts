/** Signing in at a test portal, and calls of the account page. */
import type { SignedIn } from './newcomers.ts'
import type { TestPortal } from './portal.ts'

/** Functions for a portal that must be open when they are called. */
export function accountAt(portal: () => TestPortal) {
  const account = <T = null>(
    token: string,
    method: string,
    path: string,
    body?: unknown,
    headers: Record<string, string> = {},
  ) =>
    portal().call<T>(method, `/api/v1/account${path}`, {
      token,
      headers,
      ...(body !== undefined && { body }),
    })
  const on = <T = null>(
    who: { token: string },
    ...call: [method: string, path: string, body?: unknown, headers?: Record<string, string>]
  ) => account<T>(who.token, ...call)
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
  const signIn = async (
    who: { email: string; password: string },
    agent = 'test',
  ): Promise<string> =>
    (
      await portal().call<SignedIn>('POST', '/api/v1/auth/login', {
        body: { email: who.email, password: who.password },
        headers: { 'user-agent': agent },
      })
    ).body.result.token.accessToken
  const alive = async (token: string): Promise<boolean> =>
    (await portal().call('GET', '/api/v1/auth/me', { token })).status === 200
  return { account, on, security, signIn, alive }
}
