import { auth as api, locks, registration, sessions } from '../../contract/index.ts'
import type { Database } from '../platform/db.ts'
import { Refusal } from '../platform/errors.ts'
import type { Http } from '../platform/http.ts'
import type { Accounts } from './accounts.ts'
import { meForMember } from './for-members.ts'
import { handOver } from './hand-over.ts'
import { isSpent, sessionOf, type Caller } from './session.ts'

const known = (caller: Caller | undefined): Caller => {
  if (!caller) throw new Refusal('unauthenticated')
  return caller
}
export function routes(http: Http, db: Database, accounts: Accounts): void {
  const { registration: newcomers, signIn, recovery } = accounts
  http.write(
    registration.register,
    ({ body, from, language }) => newcomers.prepare(body, from, language),
    async ({ tx, from, language, keepBrowser, prepared }) => {
      const made = await newcomers.register(tx, prepared, from, language)
      keepBrowser()
      return made
    },
  )
  http.write(registration.activate, async ({ tx, body, from }) => {
    await newcomers.activate(tx, body.email, body.code, from)
    return null
  })
  http.write(
    registration.sendCode,
    ({ body, from }) => newcomers.prepareCode(body.email, from),
    async ({ tx, body, from, language, prepared }) => {
      await newcomers.sendCode(tx, body.email, prepared, from, language)
      return null
    },
  )
  http.write(
    registration.correctPhone,
    async ({ body, from, language }) => {
      const proven = await signIn.prove(body.email, body.password, from)
      return await newcomers.prepareOtherPhone(proven, body.phone, from, language)
    },
    async ({ tx, language, prepared }) => {
      await newcomers.correctPhone(tx, prepared, language)
      return null
    },
  )
  http.write(
    sessions.login,
    ({ body, from }) => signIn.prove(body.email, body.password, from),
    async ({ tx, body: { remember }, from, keepBrowser, held, device, prepared }) => {
      const wish = { remember, cookie: held.cookie, device: device.cookie }
      const opened = await signIn.login(tx, prepared, from, wish)
      keepBrowser()
      return handOver(held, opened)
    },
  )
  http.write(api.logout, async ({ tx, caller, held }) => {
    const { cookie } = held
    // The cookie of another session stays: a program may have both. A member's own session goes on.
    if (!caller?.member && cookie !== undefined && (await isSpent(tx, cookie, known(caller))))
      held.drop()
    await signIn.logout(tx, known(caller))
    return null
  })
  http.read(sessions.currentSession, async ({ caller, held }) =>
    caller ? await sessionOf(db, caller, held.cookie) : null,
  )
  http.write(locks.lock, async ({ tx, caller }) => {
    await signIn.lock(tx, known(caller))
    return null
  })
  http.write(
    locks.unlock,
    ({ caller, body }) => signIn.proveAgain(known(caller), body.password),
    async ({ tx, caller, held, prepared }) =>
      handOver(held, await signIn.unlock(tx, known(caller), prepared)),
  )
  http.write(
    registration.recover,
    ({ body, from }) => recovery.prepare(body.email, from),
    async ({ tx, body, prepared }) => {
      await recovery.recover(tx, body.email, prepared)
      return null
    },
  )
  http.write(
    registration.reset,
    ({ body, language, from }) => recovery.prepareReset(body.email, body.password, language, from),
    async ({ tx, body: { email, code }, from, prepared: passwordHash }) => {
      await recovery.reset(tx, { email, code, passwordHash }, from)
      return null
    },
  )
  http.read(api.me, async ({ customerId, caller }) =>
    meForMember(await accounts.me(db, customerId), caller),
  )
}
