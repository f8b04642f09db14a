/**
 * The desk's lists of letters (sent, waiting, given up), and resending a letter whose text is kept.
 */
import { randomUUID } from 'node:crypto'
import { sql } from 'kysely'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { ActOutcome } from '../../contract/operator-acts.ts'
import type { DeskLetter, DeskLetterState } from '../../contract/operator-work.ts'
import {
  eventually,
  manualClock,
  openTestPortal,
  type TestCustomer,
  type TestPortal,
} from '../../test/portal.ts'
import { newMember, type TestMember } from '../../test/staff.ts'
import { days } from '../platform/clock.ts'
import { DriverFailure } from '../platform/errors.ts'

const clock = manualClock()
/** Letters do not go out while this is set. */
let mailIsAway = false
/** Letters are handed over once it resolves. */
let mailWaits: Promise<unknown> = Promise.resolve()
let portal: TestPortal
let support: TestMember
let reader: TestMember
/** Sessions of eight hours have ended. */
async function signInAnew(): Promise<void> {
  support = await newMember(portal, 'support', { clock })
  reader = await newMember(portal, 'read_only', { clock })
}
beforeAll(async () => {
  portal = await openTestPortal({
    clock,
    changeDrivers: (drivers) => ({
      ...drivers,
      mailer: {
        ...drivers.mailer,
        async send(letter) {
          await mailWaits
          if (mailIsAway) throw new DriverFailure('unavailable', 'the mail server is away')
          await drivers.mailer.send(letter)
        },
      },
    }),
  })
  await signInAnew()
})
afterAll(() => portal.close())
beforeEach(() => {
  mailIsAway = false
})

describe('a letter', () => {
  const letters = async (state: DeskLetterState, to: string): Promise<DeskLetter[]> => {
    const answer = await reader.call<DeskLetter[]>('GET', `/api/operator/letters?state=${state}`)
    return answer.body.result.filter((one) => one.to === to)
  }
  const resend = (letter: string, more: object = {}) =>
    support.act<ActOutcome>('letter.resend', { letter, ...more })
  const changePassword = ({ token, password }: TestCustomer) =>
    portal.call('PUT', '/api/v1/account/password', {
      token,
      body: { current: password, password: 'Another-horse-7' },
    })
  const arrived = async ({ email }: TestCustomer): Promise<number> =>
    (await portal.inbox(email)).length

  test('that was sent goes out again, once a press, and its text is never shown', async () => {
    const an = await portal.customer()
    await changePassword(an)
    const [sent] = await eventually('it is sent', async () => {
      const found = await letters('sent', an.email)
      return found.length > 0 && found
    })
    const key = randomUUID()
    const both = await Promise.all([resend(sent!.id, { key }), resend(sent!.id, { key })])
    expect(both.filter(({ body }) => body.result.repeated)).toHaveLength(1)
    await eventually('it comes twice', async () => (await arrived(an)) === 2)
    const again = await eventually('both are sent', async () => {
      const found = await letters('sent', an.email)
      return found.length === 2 && found
    })
    expect(again.filter(({ again: isAgain }) => isAgain)).toHaveLength(1)
    expect(again.every(({ sendable }) => sendable)).toBe(true)
    const [first, second] = await portal.inbox(an.email)
    expect(first?.text).toBe(second?.text)
    expect((await reader.act('letter.resend', { letter: sent!.id })).status).toBe(403)
    expect((await resend('x')).status).toBe(404)
    const read = await reader.call('GET', '/api/operator/letters?state=sent')
    expect(read.text).not.toContain(first?.text.slice(-20))
  })

  test('that waits says why, and is tried now', async () => {
    const an = await portal.customer()
    mailIsAway = true
    await changePassword(an)
    const waiting = await eventually('why it waits', async () => {
      const [one] = await letters('waiting', an.email)
      return one?.why === null ? undefined : one
    })
    expect(waiting.why).toBe('the mail server is away')
    mailIsAway = false
    // The next try is some seconds away by itself, later ones up to half an hour.
    await sql`update pgboss.job set start_after = now() + interval '1 hour'
      where name = 'send-message' and state = 'retry'`.execute(portal.app.db)
    expect((await resend(waiting.id)).body.result.after).toMatchObject({ state: 'waiting' })
    await eventually('it comes', async () => (await arrived(an)) === 1)
  })

  test('that was given up is sent again from what is kept', async () => {
    const an = await portal.customer()
    mailIsAway = true
    await changePassword(an)
    await eventually('it waits', async () => (await letters('waiting', an.email)).length === 1)
    clock.advance(days(6))
    await signInAnew()
    const [waiting] = await letters('waiting', an.email)
    if (waiting) await resend(waiting.id)
    const failed = await eventually('it is given up', async () => {
      const [one] = await letters('failed', an.email)
      return one
    })
    expect(failed).toMatchObject({ sendable: true, why: 'the mail server is away' })
    // Without this the second press could find that the resend of the first has failed already.
    const served = Promise.withResolvers<void>()
    mailWaits = served.promise
    const both = await Promise.all([resend(failed.id), resend(failed.id)])
    expect(both.map(({ status }) => String(status)).toSorted()).toEqual(['200', '409'])
    mailIsAway = false
    served.resolve()
    const [again] = await letters('waiting', an.email)
    if (again) await resend(again.id)
    await eventually('it comes', async () => (await arrived(an)) === 1)
  })

  test('is not sent again when it was a code, or after seven days', async () => {
    const an = await portal.customer()
    await portal.call('POST', '/api/v1/auth/recover', { body: { email: an.email } })
    await changePassword(an)
    const sent = await eventually('both are sent', async () => {
      const found = await letters('sent', an.email)
      return found.length === 2 && found
    })
    const code = sent.find(({ until }) => until !== null)
    const letter = sent.find(({ until }) => until === null)
    expect([code?.sendable, letter?.sendable]).toEqual([false, true])
    expect((await resend(code?.id ?? '')).status).toBe(409)
    const kept = () =>
      portal.app.db
        .selectFrom('message_kept')
        .selectAll()
        .where('message_id', '=', letter?.id ?? '')
        .execute()
    expect(await kept()).toHaveLength(1)
    clock.advance(days(7) + 1)
    await portal.app.messages.dropOld()
    expect(await kept()).toEqual([])
    await signInAnew()
    expect((await resend(letter?.id ?? '')).status).toBe(409)
  })

  test('lists go on by pages, and equal times lose none', async () => {
    await sql`
      insert into message (id, channel, recipient, created_at, sent_at)
      select gen_random_uuid(), 'mail', 'pages' || n || '@bulk.example', ${clock.now()},
        ${clock.now()}
      from generate_series(1, 25) n`.execute(portal.app.db)
    const seen: string[] = []
    let cursor: string | null | undefined = ''
    while (typeof cursor === 'string') {
      const more: string = cursor === '' ? '' : `&cursor=${cursor}`
      const answer = await reader.call<DeskLetter[]>(
        'GET',
        `/api/operator/letters?state=sent&limit=10${more}`,
      )
      seen.push(...answer.body.result.map(({ id }) => id))
      cursor = answer.body.page?.next
    }
    expect(new Set(seen).size).toBe(seen.length)
    const { n } = await portal.app.db
      .selectFrom('message')
      .select((eb) => eb.fn.countAll<bigint>().as('n'))
      .where('sent_at', 'is not', null)
      .executeTakeFirstOrThrow()
    expect(BigInt(seen.length)).toBe(n)
    const wrong = await reader.call('GET', '/api/operator/letters?state=sent&cursor=abc')
    expect(wrong.status).toBe(422)
  })
})
