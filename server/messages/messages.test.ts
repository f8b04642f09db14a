/**
 * Messages while what carries them is away: letters wait for days, one-time codes until they end.
 */
import { sql } from 'kysely'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import {
  eventually,
  manualClock,
  openTestPortal,
  type TestCustomer,
  type TestPortal,
} from '../../test/portal.ts'
import { days, hours, minutes } from '../platform/clock.ts'
import { transaction } from '../platform/db.ts'
import { DriverFailure, type DriverFailureKind } from '../platform/errors.ts'

const clock = manualClock()
/** The failure of every send; undefined: sends succeed. */
let trouble: DriverFailureKind | undefined
let tries = 0
/** The real driver, with the trouble in front. */
const withTrouble = <M>(send: (message: M) => Promise<void>) =>
  async function sendOrFail(message: M): Promise<void> {
    tries++
    if (trouble) throw new DriverFailure(trouble, 'nothing goes out today')
    await send(message)
  }

let portal: TestPortal
beforeAll(async () => {
  portal = await openTestPortal({
    clock,
    timing: { metrics: { costlyEveryMs: 0 } },
    changeDrivers: (drivers) => ({
      ...drivers,
      sms: { ...drivers.sms, send: withTrouble((message) => drivers.sms.send(message)) },
      mailer: { ...drivers.mailer, send: withTrouble((message) => drivers.mailer.send(message)) },
    }),
  })
})
afterAll(() => portal.close())
beforeEach(() => {
  trouble = undefined
  tries = 0
})

/** Makes the waiting time before the next try pass. */
const skipGap = () =>
  sql`update pgboss.job set start_after = now() where state = 'retry'
    and name in ('send-message', 'send-code')`.execute(portal.app.db)
const triedAgain = (times: number) =>
  eventually(
    `${times} tries`,
    async () => {
      await skipGap()
      return tries >= times
    },
    60,
  )
const arrived = (to: string, text: RegExp) =>
  eventually(`a message to ${to}`, async () => {
    await skipGap()
    return (await portal.inbox(to)).find((message) => text.test(message.text))
  })
/** Reads the gauge as Prometheus does. */
const gauge = async (name: string): Promise<number> => {
  const lines = (await (await fetch(`${portal.url}/metrics`)).text()).split('\n')
  return Number(lines.find((line) => line.startsWith(`${name} `))?.slice(name.length))
}
const waiting = (): Promise<number> => gauge('messages_waiting')
const givenUp = async () => [
  await gauge('portal_messages_given_up{channel="mail"}'),
  await gauge('portal_messages_given_up{channel="sms"}'),
]
const settled = () =>
  eventually('no message waiting', async () => {
    await skipGap()
    return (await waiting()) === 0
  })
const unsent = (to: string) =>
  portal.app.db
    .selectFrom('message')
    .select('sealed_text')
    .where('recipient', '=', to)
    .where('sent_at', 'is', null)
    .execute()

/** Changes the password, which sends the customer a letter. */
async function changePassword({ token, password }: TestCustomer): Promise<void> {
  const body = { current: password, password: 'Another-horse-7' }
  expect((await portal.call('PUT', '/api/v1/account/password', { token, body })).status).toBe(200)
}
const recover = ({ email }: TestCustomer) =>
  portal.call('POST', '/api/v1/auth/recover', { body: { email } })
const letter = /password of your account|Mật khẩu tài khoản/
const code = /recovery code is \d{6}|khôi phục mật khẩu của bạn là \d{6}/

test(
  'a letter is tried for as long as mail is away, counted meanwhile, and arrives once',
  { timeout: 120_000 },
  async () => {
    const an = await portal.customer()
    expect(await waiting()).toBe(0)
    tries = 0
    trouble = 'unavailable'
    await changePassword(an)
    await triedAgain(11)
    clock.advance(days(4))
    expect(await waiting()).toBe(1)
    trouble = undefined
    await arrived(an.email, letter)
    await settled()
    expect((await portal.inbox(an.email)).filter(({ text }) => letter.test(text))).toHaveLength(1)
  },
)

test('a letter is given up after five days, and its text is forgotten', async () => {
  const an = await portal.customer()
  tries = 0
  trouble = 'unavailable'
  await changePassword(an)
  await triedAgain(2)
  clock.advance(days(5))
  await settled()
  expect(await unsent(an.email)).toEqual([{ sealed_text: null }])
})

test('a letter that waited for the portal itself goes out, however late', async () => {
  const an = await portal.customer()
  trouble = 'unavailable'
  await changePassword(an)
  await portal.reopen({}, async () => {
    clock.advance(days(6))
    trouble = undefined
  })
  await arrived(an.email, letter)
})

test('a code by mail goes out while it can be used', async () => {
  const an = await portal.customer()
  tries = 0
  trouble = 'unavailable'
  await recover(an)
  await triedAgain(2)
  clock.advance(minutes(9))
  trouble = undefined
  const six = /\d{6}/.exec((await arrived(an.email, code)).text)?.[0]
  const body = { email: an.email, code: six, password: 'Another-horse-7' }
  expect((await portal.call('POST', '/api/v1/auth/reset', { body })).status).toBe(200)
})

test('a code that has ended is not sent any more, nor kept', async () => {
  const an = await portal.customer()
  tries = 0
  trouble = 'unavailable'
  await recover(an)
  await triedAgain(1)
  clock.advance(minutes(10))
  trouble = undefined
  await settled()
  expect(await unsent(an.email)).toEqual([{ sealed_text: null }])
  expect((await portal.inbox(an.email)).filter(({ text }) => code.test(text))).toEqual([])
})

test('a code by SMS as well', async () => {
  const form = {
    name: 'An',
    email: 'an.waits@example.vn',
    password: 'Correct-horse-9',
    region_code: 'VN',
  }
  trouble = 'unavailable'
  await portal.call('POST', '/api/v1/auth/register', { body: { ...form, phone: '+84912000001' } })
  await triedAgain(1)
  clock.advance(minutes(10))
  trouble = undefined
  await settled()
  expect(await portal.inbox('+84912000001')).toEqual([])
  await portal.call('POST', '/api/v1/auth/send', { body: { email: form.email } })
  await arrived('+84912000001', /\d{6}/)
})

test(
  'what the other side says no to is given up after nine tries: the no may be a setting',
  { timeout: 120_000 },
  async () => {
    // Messages given up in earlier tests are reported for a day: skip it.
    clock.advance(hours(25))
    expect(await givenUp()).toEqual([0, 0])
    const an = await portal.customer()
    tries = 0
    trouble = 'rejected'
    await changePassword(an)
    await triedAgain(9)
    await settled()
    expect(tries).toBe(9)
    expect(await unsent(an.email)).toEqual([{ sealed_text: null }])
    expect(await givenUp()).toEqual([1, 0])
    clock.advance(hours(25))
    expect(await givenUp()).toEqual([0, 0])
  },
)

test('what was given up counts by its channel, until it is sent again', async () => {
  expect(await givenUp()).toEqual([0, 0])
  const an = await portal.customer()
  tries = 0
  trouble = 'unavailable'
  await changePassword(an)
  const body = {
    name: 'Binh',
    email: 'binh.waits@example.vn',
    password: 'Correct-horse-9',
    region_code: 'VN',
    phone: '+84912000002',
  }
  await portal.call('POST', '/api/v1/auth/register', { body })
  await triedAgain(2)
  clock.advance(days(5))
  await settled()
  // The code ended days ago; the letter was given up just now.
  expect(await givenUp()).toEqual([1, 0])
  tries = 0
  await portal.call('POST', '/api/v1/auth/send', { body: { email: body.email } })
  await triedAgain(1)
  clock.advance(minutes(10))
  await settled()
  expect(await givenUp()).toEqual([1, 1])
  trouble = undefined
  const { id } = await portal.app.db
    .selectFrom('message')
    .select('id')
    .where('recipient', '=', an.email)
    .where('sent_at', 'is', null)
    .executeTakeFirstOrThrow()
  await transaction(portal.app.db, (tx) => portal.app.messages.again(tx, id))
  await arrived(an.email, letter)
  expect(await givenUp()).toEqual([0, 1])
})
