import { auth as api, registration } from '../../contract/index.ts'
import type { Database } from '../platform/db.ts'
import type { Http } from '../platform/http.ts'
import type { Accounts } from './accounts.ts'

export function routes(http: Http, db: Database, accounts: Accounts): void {
  http.write(registration.register, ({ tx, body, language, ip, userAgent }) => accounts.register(tx, body, { ip, userAgent }, language))
  http.write(registration.activate, async ({ tx, body, ip, userAgent }) => {
    await accounts.activate(tx, body.email, body.code, { ip, userAgent })
    return null
  })
  http.write(registration.sendCode, async ({ tx, body, language }) => {
    await accounts.sendActivation(tx, body.email, language)
    return null
  })
  http.write(registration.correctPhone, async ({ tx, body, language, ip, userAgent }) => {
    await accounts.correctPhone(tx, body, { ip, userAgent }, language)
    return null
  })
  http.write(api.login, async ({ tx, body, ip, userAgent }) => {
    const { accessToken, expiresAt } = await accounts.login(tx, body.email, body.password, { ip, userAgent })
    return { token: { accessToken, expiresAt: expiresAt.toISOString() } }
  })
  http.write(api.logout, async ({ tx, caller }) => {
    if (caller) await accounts.logout(tx, caller)
    return null
  })
  http.write(registration.recover, async ({ tx, body }) => {
    await accounts.recover(tx, body.email)
    return null
  })
  http.write(registration.reset, async ({ tx, body, language, ip, userAgent }) => {
    await accounts.reset(tx, body, { ip, userAgent }, language)
    return null
  })
  http.read(api.me, ({ customerId }) => accounts.me(db, customerId))
}
