/** Support sees a customer's tokens and webhooks, and ends them. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { ActOutcome } from '../../contract/operator-acts.ts'
import type { CustomerStory } from '../../contract/operator-desk.ts'
import type { Webhook } from '../../contract/webhooks.ts'
import { jobsIdle } from '../../test/idle-jobs.ts'
import { eventually, manualClock, openTestPortal, type TestPortal } from '../../test/portal.ts'
import { newMember, type TestMember } from '../../test/staff.ts'

const clock = manualClock()
let portal: TestPortal
let support: TestMember
beforeAll(async () => {
  portal = await openTestPortal({ clock })
  support = await newMember(portal, 'support', { clock })
})
afterAll(() => portal.close())

test('programs are seen without their secrets, and ended for an account’s safety', async () => {
  const an = await portal.customer()
  const storyOf = async () =>
    (await support.call<CustomerStory>('GET', `/api/operator/customers/${an.id}`)).body.result
  const { body: made } = await portal.call<{ secret: string }>('POST', '/api/v1/account/tokens', {
    token: an.token,
    body: { name: 'Backup script', scopes: ['servers:read'], password: an.password },
  })
  const { secret: token } = made.result
  const url = 'https://hooks.example/services/a-secret-in-the-path'
  await portal.call('POST', '/api/v1/account/webhooks', {
    token: an.token,
    body: { url, events: ['wordpress.status'] },
  })
  expect((await portal.call('GET', '/api/wp', { token })).status).toBe(200)
  const before = await storyOf()
  expect(before.tokens).toMatchObject([{ name: 'Backup script', lastUsedFrom: '127.0.0.1' }])
  expect(before.webhooks).toMatchObject([{ host: 'hooks.example', disabled: null }])
  expect(JSON.stringify(before)).not.toContain('a-secret-in-the-path')
  expect(JSON.stringify(before)).not.toContain(token)

  const wish = { customer: an.id, reason: 'Somebody else was in the account' }
  const done = await support.act<ActOutcome>('customer.end_programs', wish)
  expect(done.body.result).toMatchObject({ before: { programs: 2 }, after: { programs: 0 } })
  expect((await portal.call('GET', '/api/wp', { token })).status).toBe(401)
  const after = await storyOf()
  expect(after.tokens).toEqual([])
  expect(after.webhooks).toMatchObject([{ disabled: 'safety' }])
  // The owner continues, re-enables known webhooks, and is told.
  const { body } = await portal.call<Webhook[]>('GET', '/api/v1/account/webhooks', {
    token: an.token,
  })
  expect(body.result[0]?.disabled?.reason).toBe('safety')
  await eventually('the letter comes', async () =>
    (await portal.inbox(an.email)).some(({ text }) => text.includes('webhook')),
  )
  expect((await support.act('customer.end_programs', { ...wish, customer: 'x' })).status).toBe(404)
})

test('one token is revoked by what a leak shows of it, and its owner is told', async () => {
  const an = await portal.customer()
  const make = async (name: string) => {
    const made = await portal.call<{ secret: string; token: { id: string } }>(
      'POST',
      '/api/v1/account/tokens',
      { token: an.token, body: { name, scopes: ['servers:read'], password: an.password } },
    )
    return made.body.result
  }
  const [leaked, other] = [await make('Leaked script'), await make('Other script')]
  const reason = 'Published in a repository'
  const wish = { token: leaked.secret, reason }
  const done = await support.act<ActOutcome>('customer.revoke_token', wish)
  expect(done.status, done.text).toBe(200)
  const statusOf = async ({ secret }: { secret: string }) =>
    (await portal.call('GET', '/api/wp', { token: secret })).status
  expect([await statusOf(leaked), await statusOf(other)]).toEqual([401, 200])
  const rows = await portal.app.db
    .selectFrom('operator_act')
    .select(['input', 'customer_id'])
    .where('act', '=', 'customer.revoke_token')
    .execute()
  // Whose it was is found, and the trail names the token without its secret.
  expect(rows).toEqual([{ input: { token: leaked.secret.slice(0, 16) }, customer_id: an.id }])
  await eventually('the letter comes', async () =>
    (await portal.inbox(an.email)).some(
      ({ text }) => text.includes('Leaked script') && !text.includes(leaked.secret),
    ),
  )
  expect((await support.act('customer.revoke_token', wish)).status).toBe(404)
  const byId = { token: other.token.id, reason }
  expect((await support.act('customer.revoke_token', byId)).status).toBe(200)
  expect(await statusOf(other)).toBe(401)
  for (const token of ['cpt_', 'nonsense', "cpt_' or 1=1 --"])
    expect((await support.act('customer.revoke_token', { token, reason })).status).toBe(404)
})

test('sessions that the staff ends are told of by a letter', async () => {
  const an = await portal.customer()
  const wish = { customer: an.id, reason: 'Somebody else was in the account' }
  expect((await support.act('customer.end_sessions', wish)).status).toBe(200)
  expect((await portal.call('GET', '/api/v1/auth/me', { token: an.token })).status).toBe(401)
  await eventually('the letter comes', async () =>
    (await portal.inbox(an.email)).some(({ text }) => text.includes('đăng xuất mọi thiết bị')),
  )
  // Where there was none, nothing is told.
  expect((await support.act('customer.end_sessions', wish)).status).toBe(200)
  await jobsIdle(portal.app.db)
  const told = (await portal.inbox(an.email)).filter(({ text }) => text.includes('mọi thiết bị'))
  expect(told).toHaveLength(1)
})
