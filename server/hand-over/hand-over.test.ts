/**
 * A server or domain goes to another customer: what goes with it, what ends, and what prevents it.
 */
import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { HandOver } from '../../contract/hand-over.ts'
import type { Server } from '../../contract/wordpress.ts'
import { orderServer } from '../../test/ordered-servers.ts'
import {
  eventually,
  manualClock,
  openTestPortal,
  type Answer,
  type TestCustomer,
  type TestPortal,
} from '../../test/portal.ts'
import { join, work } from '../../test/team.ts'
import { createAccountActs } from '../auth/index.ts'
import { createEndPrograms } from '../customer-programs.ts'
import { endTeam } from '../customer-team.ts'
import { days, hours, minutes } from '../platform/clock.ts'
import { transaction } from '../platform/db.ts'
import { holdServer } from '../wordpress/index.ts'
import { acceptOffer } from './offers.ts'

const { advance, now } = manualClock()
/**
 * Advances by 1 ms at each reading, as a real clock does: no two times of a transaction are equal.
 */
const clock = {
  advance,
  now: () => {
    advance(1)
    return now()
  },
}
let portal: TestPortal
beforeAll(async () => {
  // One proxy in front, so that a sign-in may have another client address.
  portal = await openTestPortal({ clock, env: { TRUST_PROXY: 'on' } })
})
afterAll(() => portal.close())

const code = (answer: Answer): [number, string | undefined] => [
  answer.status,
  answer.body.error?.code,
]
const offer = (who: TestCustomer, wish: object) =>
  portal.call<HandOver>('POST', '/api/v1/hand-overs', {
    token: who.token,
    body: { password: who.password, ...wish },
  })
const accept = (who: TestCustomer, token: string, price?: number) =>
  portal.call<{ id: string }>('POST', '/api/v1/hand-overs/accept', {
    token: who.token,
    body: { token, ...(price !== undefined && { price }) },
  })
const look = (who: TestCustomer, token: string) =>
  portal.call<{ monthly: { price: number; renewsAt: string } }>('POST', '/api/v1/hand-overs/look', {
    token: who.token,
    body: { token },
  })
const tokensIn = async (email: string): Promise<string[]> =>
  (await portal.inbox(email)).flatMap(
    ({ text }) => /account\/team#offer=([\w-]+)/.exec(text)?.[1] ?? [],
  )
/** The token of the newest letter with an offer; `after`: the older tokens to ignore. */
const offered = (email: string, after: readonly string[] = []): Promise<string> =>
  eventually('the offer', async () => (await tokensIn(email)).find((one) => !after.includes(one)))
const letterTo = (email: string, what: RegExp) =>
  eventually(`the letter to ${email}`, async () =>
    (await portal.inbox(email)).find(({ text }) => what.test(text)),
  )
const order = {
  size: 1,
  region: 1,
  disk: 10_240,
  mariadb_disk_size: 10_240,
  user: 'an',
  password: 'Mat-khau-9!',
  replicate: 1,
}
const withServer = async (region = 'VN') => {
  const an = await portal.customer({ region })
  await portal.topUp(an, 900_000)
  return { an, server: await orderServer(portal, an) }
}
const get = <T>(who: TestCustomer | string, path: string) =>
  portal.call<T>('GET', path, { token: typeof who === 'string' ? who : who.token })
const balanceOf = async (who: TestCustomer): Promise<number> =>
  (await get<{ balance: number }>(who, '/api/v1/auth/me')).body.result.balance
const obstacles = async (who: TestCustomer): Promise<readonly string[]> =>
  (await get<{ obstacles: string[] }>(who, '/api/v1/account/closing')).body.result.obstacles
/** Delegates a name of the sandbox's registry. */
const delegate = (name: string, nameservers: readonly string[]) =>
  fetch(`${portal.sandboxUrl}/registry.json`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ name, nameservers }),
  })
/** A domain whose name servers are verified. */
async function activeDomain(who: TestCustomer, name: string): Promise<string> {
  const made = await portal.call<{ id: string; nameserver: string[] }>('POST', '/api/dns', {
    token: who.token,
    body: { name },
  })
  expect(made.status, made.text).toBe(201)
  const { id, nameserver } = made.body.result
  expect((await delegate(name, nameserver)).status).toBe(200)
  const checked = await get<{ isValid: boolean }>(who, `/api/dns/check?domain=${name}`)
  expect(checked.body.result.isValid, checked.text).toBe(true)
  return id
}

interface Told {
  event: string
  title: string
  payload: Record<string, unknown>
}
/** Events of hand-overs that a customer was told of. */
const told = async (who: TestCustomer): Promise<Told[]> =>
  (await get<{ data: Told[] }>(who, '/api/notifications')).body.result.data.filter(({ event }) =>
    event.startsWith('hand_over.'),
  )

test('both sides, and so their programs and the operator’s, are told of it', async () => {
  const { an, server } = await withServer()
  const binh = await portal.customer()
  await offer(an, { kind: 'server', id: server.id, email: binh.email })
  const token = await offered(binh.email)
  expect(await told(an)).toEqual([])
  const price = (await look(binh, token)).body.result.monthly?.price
  const taken = await portal.call('POST', '/api/v1/hand-overs/accept', {
    token: binh.token,
    body: { token, price },
  })
  expect(taken.status, taken.text).toBe(200)
  const payload = { hand_over: { kind: 'server', id: server.id, name: server.name } }
  await eventually('the events', async () => (await told(an)).length + (await told(binh)).length)
  await expect.poll(() => told(an)).toMatchObject([{ event: 'hand_over.given', payload }])
  await expect.poll(() => told(binh)).toMatchObject([{ event: 'hand_over.taken', payload }])
  expect((await told(binh))[0]?.title).toContain(server.name)
})

describe('a server', () => {
  test('goes over with what is paid; the renewal is billed to its new owner', async () => {
    const { an, server } = await withServer()
    const binh = await portal.customer()
    await portal.topUp(binh, 500_000)
    const agency = await portal.customer()
    const memberId = await join(portal, an, agency, { role: 'technical', servers: [server.id] })
    const atWork = await work(portal, agency, memberId)
    expect((await get(atWork, `/api/wp/${server.id}`)).status).toBe(200)
    const [before, paidBefore] = [await balanceOf(an), await balanceOf(binh)]
    const wish = { kind: 'server', id: server.id, email: binh.email }
    expect((await offer(an, { ...wish, password: 'not this one' })).status).toBe(422)
    const made = await offer(an, wish)
    expect(made.status, made.text).toBe(201)
    expect((await letterTo(an.email, /được mời nhận máy chủ/)).text).toContain(binh.email)
    const token = await offered(binh.email)
    const looked = await look(binh, token)
    expect(looked.body.result).toMatchObject({
      kind: 'server',
      name: server.name,
      from: 'Nguyễn Văn An',
      monthly: { currency: 'VND' },
    })
    // The price has risen since the recipient saw it: nothing is done.
    const { price, renewsAt } = looked.body.result.monthly
    const dearer = await accept(binh, token, price - 1)
    expect(code(dearer)).toEqual([409, 'conflict'])
    expect(dearer.body.message).toMatch(/^Prices have changed: it now costs /)
    const taken = await accept(binh, token, price)
    expect(taken.status, taken.text).toBe(200)
    // The link works once.
    expect(code(await accept(binh, token))).toEqual([422, 'link_expired'])
    // It belongs to the new owner, and neither the former owner nor that owner's members have
    // access.
    expect((await get(an, `/api/wp/${server.id}`)).status).toBe(404)
    expect((await get(atWork, `/api/wp/${server.id}`)).status).toBe(404)
    const shown = await get<Server>(binh, `/api/wp/${server.id}`)
    expect(shown.body.result).toMatchObject({ id: server.id, status: 'running', invoice: null })
    expect(shown.text).not.toContain('/invoice')
    // No money moves, and the invoice stays with its payer.
    expect([await balanceOf(an), await balanceOf(binh)]).toEqual([before, paidBefore])
    await portal.ledgerHolds()
    expect((await get<unknown[]>(an, '/api/payments/stripe/invoices')).body.result).toHaveLength(1)
    expect((await get<unknown[]>(binh, '/api/payments/stripe/invoices')).body.result).toEqual([])
    await letterTo(an.email, /đã nhận máy chủ/)
    const day = new Intl.DateTimeFormat('en-CA', { timeZone: 'Asia/Ho_Chi_Minh' }).format(
      new Date(renewsAt),
    )
    expect((await letterTo(binh.email, /nay thuộc về bạn/)).text).toContain(
      `Từ ngày ${day} máy chủ được gia hạn với giá`,
    )
    const listed = await get<HandOver[]>(an, '/api/v1/hand-overs')
    expect(listed.body.result).toMatchObject([{ name: server.name, email: binh.email }])
    expect(listed.body.result[0]?.acceptedAt).not.toBeNull()
    // The new owner is not promised a credit for a period that somebody else paid.
    const { subscriptionId } = shown.body.result
    const of = await get<{ unused: number }>(binh, `/api/subscriptions/${subscriptionId}`)
    expect(of.body.result.unused).toBe(0)
    // The former owner cannot close the account while a credit may still come.
    expect(await obstacles(an)).toEqual(['handedOver', 'balance'])
    const early = await portal.call('POST', '/api/v1/account/close', {
      token: an.token,
      body: { password: an.password },
    })
    expect(code(early)).toEqual([409, 'conflict'])
    expect(early.body.error?.fields?.['account']).toContain('handed over')

    // The next month.
    clock.advance(days(32))
    await portal.app.bills.sweep()
    const next = await portal.signIn(binh)
    const renewed = await eventually('the renewal', async () => {
      const { result } = (
        await get<{ status: string; total: number }[]>(next, '/api/payments/stripe/invoices')
      ).body
      return result.length === 1 && result[0]?.status === 'paid' && result[0]
    })
    expect(await balanceOf(next)).toBe(500_000 - renewed.total)
    const former = await portal.signIn(an)
    expect(await balanceOf(former)).toBe(before)
    expect(await obstacles(former)).toEqual(['balance'])
    await portal.ledgerHolds()
  })

  test('ends what opens it for the former owner', async () => {
    const { an, server } = await withServer()
    const binh = await portal.customer()
    const { db } = portal.app
    const ran = await portal.call('POST', `/api/wp/${server.id}/console`, {
      token: an.token,
      body: { command: 'option get blogname' },
    })
    expect(ran.status, ran.text).toBe(200)
    expect((await get(an, `/api/wp/${server.id}/log`)).status).toBe(200)
    await offer(an, { kind: 'server', id: server.id, email: binh.email })
    expect((await accept(binh, await offered(binh.email))).status).toBe(200)
    for (const table of [
      'site_ssh_key',
      'site_command',
      'log_ticket',
      'site_database_access',
    ] as const)
      expect(
        await db.selectFrom(table).select('site_id').where('site_id', '=', server.id).execute(),
        table,
      ).toEqual([])
    const history = await get<unknown[]>(binh, `/api/wp/${server.id}/console/history`)
    expect(history.body.result).toEqual([])
  })

  test('that goes over while its former owner deletes it stays', async () => {
    const { an, server } = await withServer()
    const binh = await portal.customer()
    let go = (): void => undefined
    const mayGo = new Promise<void>((resolve) => (go = resolve))
    let holds = (): void => undefined
    const isHeld = new Promise<void>((resolve) => (holds = resolve))
    const goesOver = transaction(portal.app.db, async (tx) => {
      await tx
        .updateTable('site')
        .set({ customer_id: binh.id })
        .where('id', '=', server.id)
        .execute()
      holds()
      await mayGo
    })
    await isHeld
    const deletes = portal.call('DELETE', `/api/wp/${server.id}`, { token: an.token })
    await eventually('the delete that waits for the row', async () => {
      const { rows } = await sql`select 1 from pg_stat_activity
        where datname = current_database() and wait_event_type = 'Lock'`.execute(portal.app.db)
      return rows.length > 0
    })
    go()
    await goesOver
    expect((await deletes).status).toBe(404)
    const { status } = await portal.app.db
      .selectFrom('site')
      .select('status')
      .where('id', '=', server.id)
      .executeTakeFirstOrThrow()
    expect(status).toBe('running')
  })

  test('that is deleted by its new owner gives what is unused back to who paid it', async () => {
    const { an, server } = await withServer()
    const binh = await portal.customer()
    await offer(an, { kind: 'server', id: server.id, email: binh.email })
    expect((await accept(binh, await offered(binh.email))).status).toBe(200)
    const before = await balanceOf(an)
    clock.advance(days(10))
    const [payer, owner] = [await portal.signIn(an), await portal.signIn(binh)]
    const deleted = await portal.call('DELETE', `/api/wp/${server.id}`, { token: owner.token })
    expect(deleted.status, deleted.text).toBe(200)
    expect(await balanceOf(payer)).toBeGreaterThan(before)
    expect(await balanceOf(owner)).toBe(0)
    await portal.ledgerHolds()
  })

  test('pays with what comes back what its former owner has waiting', async () => {
    const { an, server } = await withServer()
    const binh = await portal.customer()
    await portal.topUp(binh, 500_000)
    await offer(an, { kind: 'server', id: server.id, email: binh.email })
    expect((await accept(binh, await offered(binh.email))).status).toBe(200)
    // More than the wallet has, and less than it has with what comes back.
    const left = await balanceOf(an)
    const waiting = await portal.call<{ id: string }>('POST', '/api/wp', {
      token: an.token,
      body: { ...order, replicate: 7 },
    })
    expect(waiting.status, waiting.text).toBe(201)
    const invoices = async () =>
      (
        await get<{ status: string; total: number }[]>(an, '/api/payments/stripe/invoices')
      ).body.result.map(({ status, total }) => [status, total])
    const open = (await invoices()).find(([status]) => status === 'open')
    expect(open?.[1]).toBeGreaterThan(left)
    const deleted = await portal.call('DELETE', `/api/wp/${server.id}`, { token: binh.token })
    expect(deleted.status, deleted.text).toBe(200)
    await eventually('the order is paid', async () =>
      (await invoices()).some(([status, total]) => status === 'paid' && total === open?.[1]),
    )
    await portal.ledgerHolds()
  })

  test('is taken once, however often the press is repeated at once', async () => {
    const { an, server } = await withServer()
    const binh = await portal.customer()
    await offer(an, { kind: 'server', id: server.id, email: binh.email })
    const token = await offered(binh.email)
    const answers = await Promise.all([
      accept(binh, token),
      accept(binh, token),
      accept(binh, token),
    ])
    expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 422, 422])
    await portal.ledgerHolds()
  })

  test('is refused while something is owed, done or held, and to another region', async () => {
    const { an, server } = await withServer()
    const binh = await portal.customer()
    const wish = { kind: 'server', id: server.id, email: binh.email }
    const said = async (): Promise<string> => {
      const refused = await offer(an, wish)
      expect(code(refused)).toEqual([409, 'conflict'])
      return refused.body.message
    }
    const { db } = portal.app
    const { subscription_id: subscription } = await db
      .selectFrom('site')
      .select('subscription_id')
      .where('id', '=', server.id)
      .executeTakeFirstOrThrow()
    // The renewal is cancelled.
    const at = (verb: string) =>
      portal.call('POST', `/api/subscriptions/${subscription}/${verb}`, {
        token: an.token,
        ...(verb === 'cancel' && { body: { when: 'period_end' } }),
      })
    expect((await at('cancel')).status).toBe(200)
    expect(await said()).toContain('cancelled')
    expect((await at('resume')).status).toBe(200)
    // A site is about to move in.
    const begun = await portal.call<{ id: string }>('POST', `/api/wp/${server.id}/import`, {
      token: an.token,
      body: { files: [{ name: 'site.zip', bytes: 1000 }] },
    })
    expect(begun.status, begun.text).toBe(201)
    expect(await said()).toContain('being done')
    const importPath = `/api/wp/${server.id}/import/${begun.body.result.id}`
    expect((await portal.call('DELETE', importPath, { token: an.token })).status).toBe(200)
    const pending = await portal.call<{ id: string }>('POST', '/api/wp', {
      token: binh.token,
      body: order,
    })
    const unpaid = await offer(binh, {
      kind: 'server',
      id: pending.body.result.id,
      email: an.email,
    })
    expect(unpaid.body.message).toContain('Only a server that runs')
    // Another currency: the preview says so, and accepting is refused.
    const eve = await portal.customer({ region: 'AUD' })
    await offer(an, { ...wish, email: eve.email })
    const refused = await accept(eve, await offered(eve.email))
    expect(code(refused)).toEqual([409, 'conflict'])
    expect(refused.body.message).toContain('another region or currency')
    expect((await get(an, `/api/wp/${server.id}`)).status).toBe(200)
    // Nobody can offer another customer's server.
    expect((await offer(eve, { ...wish })).status).toBe(404)
    // The provider suspends it.
    const { jobs } = portal.app
    await transaction(db, (tx) => holdServer(tx, { clock, jobs }, server.id, 'It sends spam'))
    expect(await said()).toContain('provider has suspended')
  })
})

describe('an offer', () => {
  test('is accepted by nobody else, ends after a week, and when it is taken back', async () => {
    const [an, binh, chi] = [
      await portal.customer(),
      await portal.customer(),
      await portal.customer(),
    ]
    const domain = await activeDomain(an, 'chuyen-giao-mot.com.vn')
    const wish = { kind: 'domain', id: domain, email: binh.email }
    expect((await offer(an, { ...wish, email: an.email })).body.error?.fields).toHaveProperty(
      'email',
    )
    const first = await offer(an, wish)
    const token = await offered(binh.email)
    const stolen = await accept(chi, token)
    expect(code(stolen)).toEqual([403, 'forbidden'])
    expect(stolen.text).not.toContain(binh.email)
    expect(code(await look(chi, token))).toEqual([403, 'forbidden'])
    // A newer one takes its place.
    const second = await offer(an, wish)
    const newer = await offered(binh.email, [token])
    expect(code(await accept(binh, token))).toEqual([422, 'link_expired'])
    const takeBack = (id: string, who = an) =>
      portal.call('DELETE', `/api/v1/hand-overs/${id}`, { token: who.token })
    expect((await takeBack(first.body.result.id)).status).toBe(404)
    expect((await takeBack(second.body.result.id, binh)).status).toBe(404)
    expect((await takeBack(second.body.result.id)).status).toBe(200)
    expect(code(await accept(binh, newer))).toEqual([422, 'link_expired'])
    await offer(an, wish)
    const last = await offered(binh.email, [token, newer])
    clock.advance(days(7) + minutes(1))
    expect(code(await accept(await portal.signIn(binh), last))).toEqual([422, 'link_expired'])
  })

  test('of who is blocked, or to who has the name, changes nothing', async () => {
    const [an, binh] = [await portal.customer(), await portal.customer()]
    const domain = await activeDomain(an, 'chuyen-giao-hai.com.vn')
    const pending = await portal.call<{ id: string }>('POST', '/api/dns', {
      token: an.token,
      body: { name: 'dang-cho.com.vn' },
    })
    const early = await offer(an, {
      kind: 'domain',
      id: pending.body.result.id,
      email: binh.email,
    })
    expect(early.body.message).toContain('verified')
    await offer(an, { kind: 'domain', id: domain, email: binh.email })
    const token = await offered(binh.email)
    const acts = createAccountActs({
      clock,
      endLive: async () => undefined,
      endPrograms: createEndPrograms(clock),
      endTeam,
    })
    await transaction(portal.app.db, (tx) => acts.block(tx, an.id))
    expect(code(await accept(binh, token))).toEqual([422, 'link_expired'])
    await transaction(portal.app.db, (tx) => acts.unblock(tx, an.id))
    // A blocked customer cannot accept, even if the block comes during the call.
    await transaction(portal.app.db, (tx) => acts.block(tx, binh.id))
    const { email } = binh
    const person = { id: binh.id, email, currency: 'VND', regionCode: 'VN' } as const
    await expect(
      transaction(portal.app.db, (tx) => acceptOffer(tx, clock, { token, person })),
    ).rejects.toMatchObject({ code: 'account_blocked' })
    await transaction(portal.app.db, (tx) => acts.unblock(tx, binh.id))
    expect((await accept(await portal.signIn(binh), token)).status).toBe(200)
  })

  test('ends with a sign-in that was not the owner’s, and with a new password', async () => {
    const [an, binh] = [await portal.customer(), await portal.customer()]
    const wish = {
      kind: 'domain',
      id: await activeDomain(an, 'khong-phai-toi.com.vn'),
      email: binh.email,
    }
    await offer(an, wish)
    const first = await offered(binh.email)
    await portal.call('POST', '/api/v1/auth/recover', { body: { email: an.email } })
    const { text: mailed } = await letterTo(an.email, /Mã khôi phục/)
    const password = 'Another-horse-10'
    const reset = await portal.call('POST', '/api/v1/auth/reset', {
      body: { email: an.email, code: /\d{6}/.exec(mailed)?.[0], password },
    })
    expect(reset.status, reset.text).toBe(200)
    expect(code(await accept(binh, first))).toEqual([422, 'link_expired'])

    clock.advance(hours(1))
    const entered = await portal.call<{ token: { accessToken: string } }>(
      'POST',
      '/api/v1/auth/login',
      {
        body: { email: an.email, password },
        headers: { 'x-forwarded-for': '203.0.113.88', 'user-agent': 'Mozilla/5.0 Firefox/140.0' },
      },
    )
    const told = await letterTo(an.email, /auth\/not-me/)
    const { accessToken } = entered.body.result.token
    expect((await offer({ ...an, password, token: accessToken }, wish)).status).toBe(201)
    const second = await offered(binh.email, [first])
    const denied = await portal.call('POST', '/api/v1/auth/not-me', {
      body: { token: /token=([\w-]+)/.exec(told.text)?.[1] ?? '' },
    })
    expect(denied.status, denied.text).toBe(200)
    expect(code(await accept(binh, second))).toEqual([422, 'link_expired'])
  })
})

test('a domain goes over with its records and its name servers', async () => {
  const [an, binh] = [await portal.customer(), await portal.customer()]
  const domain = await activeDomain(an, 'chuyen-giao-ba.com.vn')
  const record = { name: 'www', type: 'A', content: '203.0.113.7', ttl: 300, proxied: false }
  const added = await portal.call('POST', `/api/dns/${domain}/records`, {
    token: an.token,
    body: record,
  })
  expect(added.status, added.text).toBe(201)
  const before = await get<{ nameserver: string[] }>(an, `/api/dns/${domain}`)
  await offer(an, { kind: 'domain', id: domain, email: binh.email })
  expect((await accept(binh, await offered(binh.email))).status).toBe(200)
  expect((await get(an, `/api/dns/${domain}`)).status).toBe(404)
  const after = await get<{ nameserver: string[]; active: boolean }>(binh, `/api/dns/${domain}`)
  expect(after.body.result).toMatchObject({
    active: true,
    nameserver: before.body.result.nameserver,
  })
  const records = await get<{ data: { name: string }[] }>(binh, `/api/dns/${domain}/records`)
  expect(records.body.result.data.map(({ name }) => name)).toContain('www')
  // Its former owner may not claim it back with the name servers that it has.
  const again = await portal.call('POST', '/api/dns', {
    token: an.token,
    body: { name: 'chuyen-giao-ba.com.vn' },
  })
  expect(code(again)).toEqual([409, 'conflict'])
  // Its history is read by its new owner, also when the former one has gone.
  const closed = await portal.call('POST', '/api/v1/account/close', {
    token: an.token,
    body: { password: an.password },
  })
  expect(closed.status, closed.text).toBe(200)
  const changes = await get<{ data: unknown[] }>(binh, `/api/dns/${domain}/changes`)
  expect(changes.body.result.data, changes.text).toHaveLength(1)
  clock.advance(hours(1))
})
