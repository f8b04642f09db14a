/** Members of an account: how they join, and what they may do there. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { mostMembers, type Invitation } from '../../contract/team.ts'
import { code } from '../../test/newcomers.ts'
import {
  eventually,
  manualClock,
  openTestPortal,
  type Answer,
  type TestCustomer,
  type TestPortal,
} from '../../test/portal.ts'
import { accept, invitationOf, invite, join, teamAt, work } from '../../test/team.ts'
import { stepOf, totpAt } from '../auth/totp.ts'
import { days, minutes } from '../platform/clock.ts'

const clock = manualClock()
let portal: TestPortal
beforeAll(async () => {
  portal = await openTestPortal({ clock, env: { TRUST_PROXY: 'on' } })
})
afterAll(() => portal.close())
const { teamOf, actsOf, letterTo, invited } = teamAt(() => portal)

describe('an invitation', () => {
  test('leads by letter into the account, and the owner is told who has come', async () => {
    const [an, binh] = [await portal.customer(), await portal.customer()]
    const sent = await invite(portal, an, binh.email, { role: 'technical' })
    expect(sent.status, sent.text).toBe(201)
    const letter = await letterTo(binh.email, /account\/team#/)
    // The invited person's language is unknown: the letter has both.
    expect(letter.text).toContain('mời bạn làm việc')
    expect(letter.text).toContain('invites you to work')
    const token = await invited(binh.email)
    // The owner reads of it, without the link.
    const own = await letterTo(an.email, /được mời vào tài khoản của bạn/)
    expect(own.text).toContain(binh.email)
    expect(own.text).not.toContain(token)
    // Kept as a hash alone.
    const rows = await portal.app.db.selectFrom('team_invitation').selectAll().execute()
    expect(JSON.stringify(rows)).not.toContain(token)
    const looked = await portal.call('POST', '/api/v1/team/invitations/look', {
      token: binh.token,
      body: { token },
    })
    expect(looked.body.result).toMatchObject({ from: 'Nguyễn Văn An', role: 'technical' })
    const joined = await accept(portal, binh, token)
    expect(joined.status, joined.text).toBe(200)
    expect((await letterTo(an.email, /làm việc trong tài khoản/)).text).toContain(binh.email)
    const me = await portal.call<{ accounts: number }>('GET', '/api/v1/auth/me', {
      token: binh.token,
    })
    expect(me.body.result.accounts).toBe(1)
    const { members, invitations } = await teamOf(an)
    expect(members).toMatchObject([{ email: binh.email, role: 'technical', lastUsedAt: null }])
    expect(invitations).toEqual([])
    // The link works once.
    expect(code(await accept(portal, binh, token))).toEqual([422, 'link_expired'])
  })

  test('is accepted under the address that it was sent to, by nobody else', async () => {
    const [an, binh, chi] = [
      await portal.customer(),
      await portal.customer(),
      await portal.customer(),
    ]
    await invite(portal, an, binh.email.toUpperCase(), { role: 'owner' })
    const token = await invited(binh.email)
    const stolen = await accept(portal, chi, token)
    expect(code(stolen)).toEqual([403, 'forbidden'])
    expect(stolen.body.message).toContain('another e-mail address')
    expect(stolen.text).not.toContain(binh.email)
    expect(code(await accept(portal, an, token))).toEqual([403, 'forbidden'])
    expect((await teamOf(an)).members).toEqual([])
    expect((await accept(portal, binh, token)).status).toBe(200)
  })

  test('ends after a week, when it is taken back, and when a newer one is sent', async () => {
    const [an, binh] = [await portal.customer(), await portal.customer()]
    const first = await invite(portal, an, binh.email, { role: 'technical' })
    const old = await invited(binh.email)
    await invite(portal, an, binh.email, { role: 'billing' })
    const newer = await eventually('the newer letter', async () => {
      const found = await invitationOf(portal, binh.email)
      return found === old ? undefined : found
    })
    expect(code(await accept(portal, binh, old))).toEqual([422, 'link_expired'])
    const { invitations } = await teamOf(an)
    expect(invitations).toMatchObject([{ email: binh.email, role: 'billing' }])
    const takeBack = (who: TestCustomer, id: string) =>
      portal.call('DELETE', `/api/v1/team/invitations/${id}`, { token: who.token })
    // The first invitation no longer exists, and nobody can withdraw another account's.
    expect((await takeBack(an, first.body.result.id)).status).toBe(404)
    expect((await takeBack(binh, invitations[0]!.id)).status).toBe(404)
    expect((await takeBack(an, invitations[0]!.id)).status).toBe(200)
    expect(code(await accept(portal, binh, newer))).toEqual([422, 'link_expired'])

    const chi = await portal.customer()
    await invite(portal, an, chi.email, { role: 'technical' })
    const token = await invited(chi.email)
    clock.advance(days(7) + minutes(1))
    const again = await portal.signIn(chi)
    expect(code(await accept(portal, again, token))).toEqual([422, 'link_expired'])
    expect((await teamOf(await portal.signIn(an))).invitations).toEqual([])
  })

  test('says nothing of whether the address has an account', async () => {
    const [an, binh] = [await portal.customer(), await portal.customer()]
    const known = await invite(portal, an, binh.email, { role: 'technical' })
    const unknown = await invite(portal, an, 'khong-ai@example.vn', { role: 'technical' })
    const shape = ({ status, body }: Answer<Partial<Invitation>>) => {
      const { id: _id, email: _email, createdAt: _at, expiresAt: _end, ...rest } = body.result
      return [status, rest]
    }
    expect(shape(known)).toEqual(shape(unknown))
    expect((await invited('khong-ai@example.vn')).length).toBeGreaterThan(40)
  })

  test('needs the password, and goes to nobody who is a member or the owner', async () => {
    const [an, binh] = [await portal.customer(), await portal.customer()]
    await join(portal, an, binh, { role: 'technical' })
    const wrong = await portal.call('POST', '/api/v1/team/invitations', {
      token: an.token,
      body: { email: 'x@example.vn', role: 'owner', password: 'not this one' },
    })
    expect(wrong.body.error?.fields).toHaveProperty('password')
    for (const email of [an.email, binh.email])
      expect(
        (await invite(portal, an, email, { role: 'owner' })).body.error?.fields,
      ).toHaveProperty('email')
  })

  test('goes to few strangers a day, and there are never more than fifty', async () => {
    const [an, binh] = [await portal.customer(), await portal.customer()]
    const many = async (who: TestCustomer, count: number): Promise<Answer[]> => {
      const answers: Answer[] = []
      for (let n = 0; n < count; n++)
        answers.push(await invite(portal, who, `ban-${n}@example.vn`, { role: 'read_only' }))
      return answers
    }
    const sent = await many(an, 21)
    expect(sent.map(({ status }) => status)).toEqual([...Array<number>(20).fill(201), 429])
    // The same address is not written to by everybody.
    const others = [await portal.customer(), await portal.customer(), await portal.customer()]
    const toOne: number[] = []
    for (const who of others)
      toOne.push((await invite(portal, who, 'ban-0@example.vn', { role: 'read_only' })).status)
    expect(toOne).toEqual([201, 201, 429])
    const { db } = portal.app
    const rest = Array.from({ length: mostMembers - 20 }, (_, n) => n + 100)
    for (const n of rest) {
      await db.deleteFrom('rate_limit').execute()
      expect((await invite(portal, an, `ban-${n}@example.vn`, { role: 'billing' })).status).toBe(
        201,
      )
    }
    const beyond = await invite(portal, an, binh.email, { role: 'billing' })
    expect(code(beyond)).toEqual([409, 'conflict'])
    expect(beyond.body.error?.fields?.['email']).toContain('50 members')
  })
})

describe('a member at work', () => {
  let [an, binh]: TestCustomer[] = []
  let memberId: string
  let token: string
  beforeAll(async () => {
    an = await portal.customer()
    binh = await portal.customer()
    memberId = await join(portal, an, binh, { role: 'technical' })
    token = await work(portal, binh, memberId)
  })

  test('acts in the owner’s account under the own name, and the owner reads what', async () => {
    const added = await portal.call<{ id: string }>('POST', '/api/dns', {
      token,
      body: { name: 'viec-cua-nhom.vn' },
    })
    expect(added.status, added.text).toBe(201)
    const zone = added.body.result.id
    // Refused calls are not listed as acts.
    expect((await portal.call('DELETE', `/api/dns/${zone}`, { token })).status).toBe(403)
    const key = { 'idempotency-key': 'the same record' }
    const record = { name: 'www', type: 'A', content: '192.0.2.7', ttl: 300, proxied: false }
    const write = () =>
      portal.call('POST', `/api/dns/${zone}/records`, { token, body: record, headers: key })
    const [first, second] = [await write(), await write()]
    expect(first.status, first.text).toBe(201)
    expect(second.text).toBe(first.text)
    // It belongs to the owner.
    const own = await portal.call<{ data: { id: string }[] }>('GET', '/api/dns', {
      token: an!.token,
    })
    expect(own.body.result.data.map(({ id }) => id)).toEqual([zone])
    const acts = await actsOf(an!)
    expect(acts.map(({ what, subject }) => [what, subject?.name ?? null])).toEqual([
      ['Added a record', 'viec-cua-nhom.vn'],
      ['Added a domain', null],
      ['Opened the account', null],
    ])
    expect(acts[0]).toMatchObject({ name: 'Nguyễn Văn An', subject: { kind: 'domain', id: zone } })
    expect((await actsOf(an!, 'vi'))[0]?.what).toBe('Thêm bản ghi')
    // Acts in the member's own account are not listed here.
    expect(await actsOf(binh!)).toEqual([])
    expect((await teamOf(an!)).members[0]?.lastUsedAt).not.toBeNull()
  })

  test('writes to the support under the own name', async () => {
    await portal.app.db
      .updateTable('customer')
      .set({ name: 'Trần Thị Bình' })
      .where('id', '=', binh!.id)
      .execute()
    const opened = await portal.call<{ id: string; messages: { author: string }[] }>(
      'POST',
      '/api/tickets',
      { token, body: { subject: 'Một câu hỏi', text: 'Xin chào' } },
    )
    expect(opened.status, opened.text).toBe(201)
    expect(opened.body.result.messages[0]?.author).toBe('Trần Thị Bình')
    const answered = await portal.call<{ messages: { author: string }[] }>(
      'POST',
      `/api/tickets/${opened.body.result.id}/messages`,
      { token: an!.token, body: { text: 'Và tôi' } },
    )
    expect(answered.body.result.messages.map(({ author }) => author)).toEqual([
      'Trần Thị Bình',
      'Nguyễn Văn An',
    ])
  })

  test('does not read the owner’s e-mail, number and balance', async () => {
    const me = await portal.call('GET', '/api/v1/auth/me', { token })
    expect(me.body.result).toMatchObject({ id: an!.id, email: '', phone: '', balance: 0 })
    expect(me.text).not.toContain(an!.email)
    const billing = await portal.customer()
    const id = await join(portal, an!, billing, { role: 'billing' })
    const theirs = await work(portal, billing, id)
    const account = await portal.call('GET', '/api/v1/account', { token: theirs })
    expect(account.body.result).toMatchObject({ email: '', phone: '' })
    const changed = await portal.call('PUT', '/api/v1/account', {
      token: theirs,
      body: { company: 'Công ty Một', taxCode: '0312345678' },
    })
    expect(changed.body.result).toMatchObject({ company: 'Công ty Một', email: '' })
    const renamed = await portal.call('PUT', '/api/v1/account', {
      token: theirs,
      body: { name: 'Ai đó' },
    })
    expect(code(renamed)).toEqual([403, 'forbidden'])
    expect(renamed.body.message).toContain('owner of this account')
  })

  test('invites nobody, and makes no way in that would stay', async () => {
    for (const [method, path, body] of [
      ['POST', '/api/v1/team/invitations', { email: 'x@example.vn', role: 'owner', password: 'x' }],
      ['GET', '/api/v1/team/members', undefined],
      ['POST', '/api/v1/account/tokens', { name: 'x', scopes: [], password: 'x' }],
      ['POST', `/api/wp/${an!.id}/sftp/keys`, {}],
      ['POST', '/api/v1/auth/pusher', { socket_id: '1.1', channel_name: `private-${an!.id}` }],
    ] as const) {
      const refused = await portal.call(method, path, { token, ...(body && { body }) })
      expect(code(refused), path).toEqual([403, 'forbidden'])
    }
  })

  test('whose own second factor is asked for, and the owner’s is not', async () => {
    const chi = await portal.customer()
    const id = await join(portal, an!, chi, { role: 'owner' })
    const begun = await portal.call<{ secret: string }>('POST', '/api/v1/account/security/totp', {
      token: chi.token,
      body: { password: chi.password },
    })
    const { secret } = begun.body.result
    const now = () => totpAt(secret, stepOf(clock.now()))
    await portal.call('POST', '/api/v1/account/security/totp/confirm', {
      token: chi.token,
      body: { code: now() },
    })
    clock.advance(minutes(11))
    const theirs = await work(portal, chi, id)
    const zone = await portal.call<{ id: string }>('POST', '/api/dns', {
      token: theirs,
      body: { name: 'xoa-cua-nhom.vn' },
    })
    const remove = () => portal.call('DELETE', `/api/dns/${zone.body.result.id}`, { token: theirs })
    expect(code(await remove())).toEqual([403, 'reauthentication_required'])
    // Asked and given in the tab that works for another.
    const proven = await portal.call('POST', '/api/v1/auth/reauthenticate', {
      token: theirs,
      body: { code: now() },
    })
    expect(proven.status, proven.text).toBe(200)
    expect((await remove()).status).toBe(200)
    expect((await actsOf(an!))[0]).toMatchObject({
      what: 'Deleted the domain',
      subject: { name: 'xoa-cua-nhom.vn' },
    })
  })
})
