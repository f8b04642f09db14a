/**
 * People who register, activate and sign in at a test portal, each with an email and a phone of
 * their own, and the codes sent to them.
 */
import { sql } from 'kysely'
import { expect } from 'vitest'
import { eventually, type Answer, type TestPortal } from './portal.ts'

/** The registration form's values. */
export interface Form {
  name: string
  email: string
  phone: string
  password: string
  region_code: string
}

let people = 0
export function form(): Form {
  people += 1
  return {
    name: 'Trần Thị Bình',
    email: `auth${people}@example.vn`,
    phone: `+8498${String(people).padStart(7, '0')}`,
    password: 'Correct-horse-9',
    region_code: 'VN',
  }
}
/** An answer's status and the code of its error. */
export const code = (answer: Answer): [number, string | undefined] => [
  answer.status,
  // The body of a file is no JSON.
  (answer.body as Answer['body'] | undefined)?.error?.code,
]
/** A wrong code. */
export const wrong = (right: string): string => (right === '000000' ? '111111' : '000000')

export interface SignedIn {
  token: { accessToken: string }
}
/** The challenge of a sign-in that waits for the second factor, from the refusal. */
export const challengeOf = (answer: Answer): string => {
  expect(code(answer)).toEqual([403, 'second_factor_required'])
  return (answer.body.error as { challenge?: string }).challenge ?? ''
}

/** What newcomers do at a portal that must be open when the functions are called. */
export function newcomersTo(portal: () => TestPortal) {
  const auth = <T = null>(
    call: string,
    body?: unknown,
    options: { token?: string; ip?: string; cookie?: string } = {},
  ) =>
    portal().call<T>('POST', `/api/v1/auth/${call}`, {
      body,
      ...(options.token !== undefined && { token: options.token }),
      headers: {
        ...(options.ip !== undefined && { 'x-forwarded-for': options.ip }),
        ...(options.cookie !== undefined && { cookie: options.cookie }),
      },
    })
  const login = (who: Pick<Form, 'email' | 'password'>, options: object = {}) =>
    auth<SignedIn>('login', { email: who.email, password: who.password }, options)
  const signIn = async (who: { email: string; password: string }): Promise<string> =>
    (await login(who)).body.result.token.accessToken
  const me = (token: string) => portal().call('GET', '/api/v1/auth/me', { token })

  /** A number gets one SMS per minute; this ends the wait of the waiting ones. */
  const sendWaiting = () =>
    sql`update pgboss.job set start_after = now() where name = 'send-code'
      and state = 'created'`.execute(portal().app.db)
  /** The newest code sent to somebody; with `after`, one that differs from it. */
  const codeFor = (to: string, after?: string): Promise<string> =>
    eventually(`a code for ${to}`, async () => {
      await sendWaiting()
      const found = /\b\d{6}\b/.exec((await portal().inbox(to))[0]?.text ?? '')?.[0]
      return found === after ? undefined : found
    })
  /** Advances the counters' time, which is the real clock, shared by all processes. */
  const advanceCounters = async (ms: number) => {
    const { db } = portal().app
    await sql`update rate_limit set expire = expire - ${ms}`.execute(db)
    await sql`update sms_slot set at = at - make_interval(secs => ${ms / 1000})`.execute(db)
  }

  async function registered(): Promise<Form & { id: string; code: string }> {
    const person = form()
    const answer = await auth<{ id: string }>('register', person)
    expect(answer.status, answer.text).toBe(201)
    return { ...person, id: answer.body.result.id, code: await codeFor(person.phone) }
  }
  async function active() {
    const person = await registered()
    expect((await auth('active', { email: person.email, code: person.code })).status).toBe(200)
    return person
  }

  return { auth, login, signIn, me, codeFor, passInCounters: advanceCounters, registered, active }
}
