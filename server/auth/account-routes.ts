import { account as api, type Language } from '../../contract/index.ts'
import type { Clock } from '../platform/clock.ts'
import { encodeCursor, pageRequest } from '../platform/cursor.ts'
import type { Database } from '../platform/db.ts'
import { Page, type Caller, type Http } from '../platform/http.ts'
import { Refusal } from '../platform/errors.ts'
import { accountForMember, refuseOwnersFields } from './for-members.ts'
import type { Profile } from './profile.ts'
import { listSessions } from './session.ts'
import { listSignIns } from './sign-ins.ts'

const signInsShown = 20

function known(caller: Caller | undefined): Caller {
  if (!caller) throw new Refusal('unauthenticated')
  return caller
}

export function accountRoutes(http: Http, db: Database, clock: Clock, profile: Profile): void {
  http.read(api.account, async ({ customerId, caller }) =>
    accountForMember(await profile.read(db, customerId), caller),
  )
  http.write(api.changeAccount, async ({ tx, customerId, caller, body, language }) => {
    refuseOwnersFields(body, caller)
    return accountForMember(await profile.change(tx, customerId, body, language), caller)
  })
  http.write(
    api.changePassword,
    async ({ customerId, body, language }) => ({
      proven: await profile.prove(customerId, body.current, 'current', language),
      passwordHash: await profile.hash(customerId, body.password, language),
    }),
    async ({ tx, caller, held, language, prepared: { proven, passwordHash } }) => {
      const renewed = await profile.changePassword(
        tx,
        known(caller),
        proven,
        passwordHash,
        language,
      )
      held.keep(renewed.cookie, renewed.cookieSeconds ?? undefined)
      return null
    },
  )
  const prove = (call: { customerId: string; body: { password: string }; language: Language }) =>
    profile.prove(call.customerId, call.body.password, 'password', call.language)
  http.write(api.changeEmail, prove, async ({ tx, body, from, language, prepared }) => {
    await profile.beginEmail(tx, prepared, body.email, from, language)
    return null
  })
  http.write(api.confirmEmail, ({ tx, customerId, body, from }) =>
    profile.confirmEmail(tx, customerId, body.code, from),
  )
  http.write(api.changePhone, prove, async ({ tx, body, from, language, prepared }) => {
    await profile.beginPhone(tx, prepared, body.phone, from, language)
    return null
  })
  http.write(api.confirmPhone, ({ tx, customerId, body, from }) =>
    profile.confirmPhone(tx, customerId, body.code, from),
  )
  http.read(api.sessions, ({ caller }) => listSessions(db, clock, known(caller)))
  http.write(api.revokeSession, async ({ tx, caller, params }) => {
    await profile.endSession(tx, known(caller), params.id)
    return null
  })
  http.write(api.revokeOthers, async ({ tx, caller }) => ({
    ended: await profile.endOthers(tx, known(caller)),
  }))
  http.read(api.signIns, async ({ customerId, query, language }) => {
    const page = pageRequest(query, language, signInsShown)
    const { signIns, next } = await listSignIns(db, customerId, page)
    return new Page(signIns, encodeCursor(next))
  })
}
