import { team as api, type Language } from '../../contract/index.ts'
import { encodeCursor, pageRequest } from '../platform/cursor.ts'
import type { Clock } from '../platform/clock.ts'
import type { Database, Queryable, Tx } from '../platform/db.ts'
import { Refusal } from '../platform/errors.ts'
import { Page, type Caller, type Http } from '../platform/http.ts'
import type { Limit } from '../platform/limits.ts'
import { createNoteAct, listActs, type SubjectNames } from './acts.ts'
import {
  acceptInvitation,
  createInvitation,
  listInvitations,
  lookAt,
  takeBackInvitation,
} from './invitations.ts'
import {
  letterOfAcceptance,
  letterOfChange,
  letterOfInvitation,
  letterOfInviting,
  letterOfLeaving,
  letterOfRemoval,
  letterOfRights,
} from './letters.ts'
import {
  changeRights,
  leaveAccount,
  listAccounts,
  listMembers,
  ownAccount,
  removeMember,
  type EndWork,
  type OwnThings,
} from './members.ts'

interface Person {
  readonly id: string
  readonly name: string
  readonly company?: string
  readonly email: string
  readonly language: Language
}

export interface TeamRouteDeps extends OwnThings {
  readonly db: Database
  readonly clock: Clock
  readonly portalUrl: string
  readonly brandName: string
  readonly names: SubjectNames
  readonly endWork: EndWork
  readonly beginActing: (
    tx: Tx,
    of: { readonly memberId: string; readonly sessionId: string },
  ) => Promise<{ readonly token: string; readonly expiresAt: Date }>
  /** Refuses a wrong password, in the field that is named. */
  readonly prove: (
    customerId: string,
    password: string,
    field: 'password',
    language: Language,
  ) => Promise<unknown>
  readonly customer: (db: Queryable, id: string) => Promise<Person>
  readonly mail: (tx: Tx, to: string, subject: string, text: string) => Promise<void>
  /** Invitation letters to strangers, per customer. */
  readonly invited: Limit
  /** Invitation letters to one address, from all customers. */
  readonly invitedAddress: Limit
  /** Tokens of invitations that one customer tries. */
  readonly looks: Limit
}

const known = (caller: Caller | undefined): Caller => {
  if (!caller) throw new Refusal('unauthenticated')
  return caller
}
/** An account's name in letters. */
const nameOf = ({ company, name }: Person): string => company ?? name

export function routes(http: Http, deps: TeamRouteDeps): void {
  const { db, clock, portalUrl } = deps
  const noteAct = createNoteAct(clock)
  const write = (tx: Tx, to: Person, letter: { subject: string; text: string }): Promise<void> =>
    deps.mail(tx, to.email, letter.subject, letter.text)
  const prove = (call: { customerId: string; body: { password: string }; language: Language }) =>
    deps.prove(call.customerId, call.body.password, 'password', call.language)

  http.read(api.listTeam, async ({ customerId }) => ({
    members: await listMembers(db, customerId),
    invitations: await listInvitations(db, clock, customerId),
  }))
  http.write(
    api.invite,
    async (call) => {
      await prove(call)
      await deps.invited.take(call.customerId)
    },
    async ({ tx, customerId, body }) => {
      const { password: _proven, ...wish } = body
      const made = await createInvitation(tx, deps, { ownerId: customerId, wish })
      // After the checks: a refused invitation sends no letter.
      await deps.invitedAddress.take(body.email)
      const owner = await deps.customer(tx, customerId)
      const { subject, text } = letterOfInvitation(
        {
          from: nameOf(owner),
          brandName: deps.brandName,
          role: wish.role,
          // After #, so that no server's log contains it.
          link: `${portalUrl}/account/team#${made.token}`,
        },
        owner.language,
      )
      await deps.mail(tx, wish.email, subject, text)
      const inviting = { email: wish.email, role: wish.role, portalUrl }
      await write(tx, owner, letterOfInviting(inviting, owner.language))
      return made.invitation
    },
  )
  http.write(api.takeBack, async ({ tx, customerId, params }) => {
    await takeBackInvitation(tx, customerId, params.id)
    return null
  })
  http.write(api.changeMember, prove, async ({ tx, customerId, params, body }) => {
    const { password: _proven, ...wish } = body
    const { member, personId } = await changeRights(tx, deps, {
      ownerId: customerId,
      id: params.id,
      wish,
    })
    const [owner, person] = [await deps.customer(tx, customerId), await deps.customer(tx, personId)]
    const told = { name: nameOf(owner), role: member.role, portalUrl }
    await write(tx, person, letterOfChange(told, person.language))
    const changed = { ...told, name: person.name, email: person.email }
    await write(tx, owner, letterOfRights(changed, owner.language))
    return member
  })
  http.write(api.removeMember, async ({ tx, customerId, params }) => {
    const personId = await removeMember(tx, deps, { ownerId: customerId, id: params.id })
    const [owner, person] = [await deps.customer(tx, customerId), await deps.customer(tx, personId)]
    await write(tx, person, letterOfRemoval({ name: nameOf(owner) }, person.language))
    return null
  })
  http.read(api.listActs, async ({ customerId, query, language }) => {
    const page = pageRequest(query, language, 20)
    const { rows, next } = await listActs(db, deps.names, { ownerId: customerId, page, language })
    return new Page(rows, encodeCursor(next))
  })

  http.write(
    api.lookAtInvitation,
    ({ customerId }) => deps.looks.take(customerId),
    ({ tx, body }) => lookAt(tx, clock, body.token),
  )
  http.write(
    api.acceptInvitation,
    ({ customerId }) => deps.looks.take(customerId),
    async ({ tx, customerId, body }) => {
      const { ownerId, ...joined } = await acceptInvitation(tx, deps, {
        token: body.token,
        personId: customerId,
      })
      const [owner, person] = [
        await deps.customer(tx, ownerId),
        await deps.customer(tx, customerId),
      ]
      const told = { name: person.name, email: person.email, role: joined.role, portalUrl }
      await write(tx, owner, letterOfAcceptance(told, owner.language))
      return joined
    },
  )
  http.read(api.listAccounts, ({ customerId }) => listAccounts(db, customerId))
  http.write(api.enterAccount, async ({ tx, customerId, caller, params, ip }) => {
    const { sessionId } = known(caller)
    const { ownerId, ...account } = await ownAccount(tx, customerId, params.id)
    const { token, expiresAt } = await deps.beginActing(tx, { memberId: account.id, sessionId })
    const { name } = await deps.customer(tx, customerId)
    await noteAct(tx, {
      endpoint: api.enterAccount,
      ownerId,
      member: { personId: customerId, name },
      params: undefined,
      ip,
    })
    return { token, expiresAt: expiresAt.toISOString(), account }
  })
  http.write(api.leaveAccount, async ({ tx, customerId, params }) => {
    const { ownerId, role } = await leaveAccount(tx, deps, customerId, params.id)
    const [owner, person] = [await deps.customer(tx, ownerId), await deps.customer(tx, customerId)]
    const told = { name: person.name, role, portalUrl }
    await write(tx, owner, letterOfLeaving(told, owner.language))
    return null
  })
}
