import { account as api } from '../../contract/index.ts'
import type { Clock } from '../platform/clock.ts'
import { decodeCursor, encodeCursor } from '../platform/cursor.ts'
import type { Database } from '../platform/db.ts'
import { Page, type Caller, type Http } from '../platform/http.ts'
import { Refusal } from '../platform/errors.ts'
import type { Profile } from './profile.ts'
import { listSessions } from './session.ts'
import { listSignIns } from './sign-ins.ts'

const signInsShown = 20

function known(caller: Caller | undefined): Caller {
  if (!caller) throw new Refusal('unauthenticated')
  return caller
}

export function accountRoutes(http: Http, db: Database, clock: Clock, profile: Profile): void {
  http.read(api.account, ({ customerId }) => profile.read(db, customerId))
  http.write(api.changeAccount, ({ tx, customerId, body, language }) => profile.change(tx, customerId, body, language))
  http.write(api.changePassword, async ({ tx, caller, body, language }) => {
    await profile.changePassword(tx, known(caller), body.current, body.password, language)
    return null
  })
  http.write(api.changeEmail, async ({ tx, customerId, body, language }) => {
    await profile.beginEmail(tx, customerId, body.email, body.password, language)
    return null
  })
  http.write(api.confirmEmail, ({ tx, customerId, body }) => profile.confirmEmail(tx, customerId, body.code))
  http.write(api.changePhone, async ({ tx, customerId, body, language }) => {
    await profile.beginPhone(tx, customerId, body.phone, body.password, language)
    return null
  })
  http.write(api.confirmPhone, ({ tx, customerId, body }) => profile.confirmPhone(tx, customerId, body.code))
  http.read(api.sessions, ({ caller }) => listSessions(db, clock, known(caller)))
  http.write(api.revokeSession, async ({ tx, caller, params }) => {
    await profile.endSession(tx, known(caller), params.id)
    return null
  })
  http.write(api.revokeOthers, async ({ tx, caller }) => ({ ended: await profile.endOthers(tx, known(caller)) }))
  http.read(api.signIns, async ({ customerId, query, language }) => {
    const wish = { limit: query.limit ?? signInsShown, before: decodeCursor(query.cursor, language) }
    const { signIns, next } = await listSignIns(db, customerId, wish)
    return new Page(signIns, encodeCursor(next))
  })
}
