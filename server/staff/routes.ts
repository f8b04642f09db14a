import { operator as api } from '../../contract/index.ts'
import type { StaffSession } from '../../contract/operator.ts'
import type { StaffRole } from '../../contract/staff-roles.ts'
import type { Clock } from '../platform/clock.ts'
import type { Database, Tx } from '../platform/db.ts'
import { Refusal } from '../platform/errors.ts'
import type { Held, Http, StaffCaller } from '../platform/http.ts'
import type { Limit } from '../platform/limits.ts'
import { csrfTokenOf } from '../platform/session-cookie.ts'
import type { Invitations } from './invitations.ts'
import { chooseLetters, letterChoice, listStaff } from './members.ts'
import { endStaffSessions, lifeSeconds, type OpenedStaffSession } from './sessions.ts'
import type { StaffSignIn } from './sign-in.ts'

const known = (staff: StaffCaller | undefined): StaffCaller => {
  if (!staff) throw new Refusal('unauthenticated')
  return staff
}

/** Sets the session cookie in the browser. */
async function handOver(
  tx: Tx,
  held: Held,
  opened: OpenedStaffSession & { name: string; email: string; role: StaffRole },
): Promise<StaffSession> {
  held.keep(opened.cookie, lifeSeconds)
  const { id, name, email, role } = opened
  return {
    id,
    name,
    email,
    role,
    getsLetters: await letterChoice(tx, id),
    csrfToken: csrfTokenOf(opened.cookie),
    expiresAt: opened.expiresAt.toISOString(),
  }
}

export function routes(
  http: Http,
  needs: {
    db: Database
    clock: Clock
    signIn: StaffSignIn
    invitations: Invitations
    /** Per network. */
    invitationTries: Limit
  },
): void {
  const { db, clock, signIn, invitations, invitationTries } = needs
  http.write(
    api.staffSignIn,
    ({ body, from }) => signIn.prove(body.email, body.password, from),
    async ({ tx, body, from, staffHeld, prepared }) =>
      handOver(tx, staffHeld, await signIn.enter(tx, prepared, body.code, from)),
  )
  http.write(api.staffSignOut, async ({ tx, staff, staffHeld }) => {
    const { staffId, sessionId } = known(staff)
    await endStaffSessions(tx, clock, staffId, sessionId)
    staffHeld.drop()
    return null
  })
  http.read(api.staffSession, async ({ staff, staffHeld }) => {
    const { sessionId, name, email, role, expiresAt } = known(staff)
    return {
      id: sessionId,
      name,
      email,
      role,
      getsLetters: await letterChoice(db, sessionId),
      csrfToken: csrfTokenOf(staffHeld.cookie ?? ''),
      expiresAt: expiresAt.toISOString(),
    }
  })
  http.write(api.chooseStaffLetters, async ({ tx, staff, body }) => {
    await chooseLetters(tx, known(staff).staffId, body.getsLetters)
    return { getsLetters: body.getsLetters }
  })
  http.write(
    api.openInvitation,
    ({ from }) => invitationTries.take(from.network),
    ({ tx, body }) => invitations.open(tx, body.token),
  )
  http.write(
    api.acceptInvitation,
    async ({ body, from, language }) => {
      await invitationTries.take(from.network)
      return await invitations.prepare(body.token, body.password, language)
    },
    async ({ tx, body, from, staffHeld, prepared: passwordHash }) => {
      const { token, code } = body
      return handOver(
        tx,
        staffHeld,
        await invitations.accept(tx, { token, passwordHash, code, from }),
      )
    },
  )
  http.read(api.staff, () => listStaff(db, clock))
}
