/** Support sees a customer's tokens and webhooks, and ends them. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { ActOutcome } from '../../contract/operator-acts.ts'
import type { CustomerStory } from '../../contract/operator-desk.ts'
import type { Webhook } from '../../contract/webhooks.ts'
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
