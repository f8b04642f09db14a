/** Members of the operator's staff for tests: invited, and with an app of their own. */
import type { StaffRole } from '../contract/staff-roles.ts'
import { stepOf, totpAt } from '../server/auth/totp.ts'
import { systemClock, type Clock } from '../server/platform/clock.ts'
import { transaction } from '../server/platform/db.ts'
import { createSecrets } from '../server/platform/secrets.ts'
import { createInvitations } from '../server/staff/index.ts'
import type { Answer, TestPortal } from './portal.ts'

export interface TestMember {
  readonly id: string
  readonly name: string
  readonly email: string
  readonly password: string
  /** The app's code, `steps` of thirty seconds from now. */
  code(steps?: number): string
  /** The member's cookie and its CSRF token, as headers. */
  readonly headers: Readonly<Record<string, string>>
  /** Calls the API like the desk. */
  call<T>(method: string, path: string, body?: unknown): Promise<Answer<T>>
  /** Performs an act. */
  act<T>(name: string, body: object): Promise<Answer<T>>
}

export const staffPassword = 'Correct-horse-9'
let members = 0

/** The cookie that a response sets, and the CSRF token in its body, as headers. */
export function headersOf(answer: Answer<{ csrfToken: string }>): Record<string, string> {
  const [cookie = ''] = (answer.headers.get('set-cookie') ?? '').split(';')
  return { cookie, 'x-csrf-token': answer.body.result.csrfToken }
}

export const invitationsOf = (portal: TestPortal, clock: Clock = systemClock) =>
  createInvitations({
    db: portal.app.db,
    clock,
    secrets: createSecrets(portal.rootSecret),
    brandName: 'Test',
    portalUrl: portal.url,
  })

/** Invites a member, who signs in by accepting it. */
export async function newMember(
  portal: TestPortal,
  role: StaffRole,
  {
    clock = systemClock,
    networks = [],
    ...of
  }: {
    readonly clock?: Clock
    readonly networks?: readonly string[]
    readonly name?: string
    readonly email?: string
  } = {},
): Promise<TestMember> {
  members += 1
  const name = of.name ?? `Member ${members}`
  const email = of.email ?? `member${process.pid}-${members}@operator.example`
  const { id, link } = await transaction(portal.app.db, (tx) =>
    invitationsOf(portal, clock).invite(tx, { name, email, role, networks }),
  )
  const token = new URL(link).hash.slice(1)
  const opened = await portal.call<{ secret: string }>('POST', '/api/operator/invitation', {
    body: { token },
  })
  const { secret } = opened.body.result
  const code = (steps = 0): string => totpAt(secret, stepOf(clock.now()) + steps)
  const accepted = await portal.call<{ csrfToken: string }>(
    'POST',
    '/api/operator/invitation/accept',
    { body: { token, password: staffPassword, code: code() } },
  )
  if (accepted.status !== 201) throw new Error(`accepting: ${accepted.text}`)
  const headers = headersOf(accepted)
  const member: TestMember = {
    id,
    name,
    email,
    password: staffPassword,
    code,
    headers,
    call: (method, path, body) => portal.call(method, path, { headers, body }),
    act: (act, body) => member.call('POST', `/api/operator/acts/${act}`, body),
  }
  return member
}
