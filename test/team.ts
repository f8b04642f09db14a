/** Members of a customer's account: invited, by letter, signed in. */
import { expect } from 'vitest'
import type { Invitation, Member, MemberAct } from '../contract/team.ts'
import { eventually, type Answer, type TestCustomer, type TestPortal } from './portal.ts'

type Portal = Pick<TestPortal, 'call' | 'inbox'>

/** The token of the newest invitation letter to this address; undefined while there is none. */
export async function invitationOf(portal: Portal, email: string): Promise<string | undefined> {
  for (const { text } of await portal.inbox(email)) {
    const token = /\/account\/team#([\w-]+)/.exec(text)?.[1]
    if (token !== undefined) return token
  }
  return undefined
}

export const invite = (
  portal: Portal,
  owner: TestCustomer,
  email: string,
  rights: object,
): Promise<Answer<{ id: string; email: string; expiresAt: string }>> =>
  portal.call('POST', '/api/v1/team/invitations', {
    token: owner.token,
    body: { email, ...rights, password: owner.password },
  })

export const accept = (
  portal: Portal,
  person: Pick<TestCustomer, 'token'>,
  token: string,
): Promise<Answer<{ id: string; name: string }>> =>
  portal.call('POST', '/api/v1/team/invitations/accept', { token: person.token, body: { token } })

/** Invites somebody, who accepts; returns the id of the membership. */
export async function join(
  portal: Portal,
  owner: TestCustomer,
  person: TestCustomer,
  rights: object,
): Promise<string> {
  const before = await invitationOf(portal, person.email)
  const invited = await invite(portal, owner, person.email, rights)
  expect(invited.status, invited.text).toBe(201)
  const token = await eventually('the invitation', async () => {
    const found = await invitationOf(portal, person.email)
    return found === before ? undefined : found
  })
  const joined = await accept(portal, person, token)
  expect(joined.status, joined.text).toBe(200)
  return joined.body.result.id
}

export const enter = (
  portal: Portal,
  person: Pick<TestCustomer, 'token'>,
  id: string,
): Promise<Answer<{ token: string; expiresAt: string }>> =>
  portal.call('POST', `/api/v1/team/accounts/${id}/enter`, { token: person.token })

/** The token with which a member calls in the account. */
export async function work(
  portal: Portal,
  person: Pick<TestCustomer, 'token'>,
  id: string,
): Promise<string> {
  const entered = await enter(portal, person, id)
  expect(entered.status, entered.text).toBe(200)
  return entered.body.result.token
}

/** An account's members, and the letters about them. */
export function teamAt(portal: () => Portal) {
  const teamOf = async ({ token }: Pick<TestCustomer, 'token'>) =>
    (
      await portal().call<{ members: Member[]; invitations: Invitation[] }>(
        'GET',
        '/api/v1/team/members',
        { token },
      )
    ).body.result
  const actsOf = async ({ token }: Pick<TestCustomer, 'token'>, language = 'en') =>
    (
      await portal().call<MemberAct[]>('GET', '/api/v1/team/acts', {
        token,
        headers: { 'accept-language': language },
      })
    ).body.result
  const letterTo = (email: string, what: RegExp) =>
    eventually(`the letter to ${email}`, async () =>
      (await portal().inbox(email)).find(({ text }) => what.test(text)),
    )
  const invited = async (email: string): Promise<string> =>
    await eventually('the invitation', () => invitationOf(portal(), email))
  return { teamOf, actsOf, letterTo, invited }
}
