/** Tickets at the desk: order, assignment, merging, and the staff's rights. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { ActOutcome } from '../../contract/operator-acts.ts'
import type { Ticket } from '../../contract/tickets.ts'
import { runCommand } from '../../test/operator.ts'
import { manualClock, openTestPortal } from '../../test/portal.ts'
import type { TestCustomer, TestPortal } from '../../test/portal.ts'
import { newMember, type TestMember } from '../../test/staff.ts'
import { ticketsOf } from '../../test/ticket-world.ts'
import { minutes } from '../platform/clock.ts'

const clock = manualClock()
let portal: TestPortal
let an: TestCustomer
let binh: TestCustomer
let support: TestMember
beforeAll(async () => {
  portal = await openTestPortal({ clock })
  an = await portal.customer()
  binh = await portal.customer()
  support = await newMember(portal, 'support', { clock })
})
afterAll(() => portal.close())

const { call, opened, shown, atDesk, done, queue } = ticketsOf(
  () => portal,
  () => support,
)

/** Events that a customer was told of, the oldest first. */
const told = async ({ token }: TestCustomer): Promise<string[]> => {
  const list = await portal.call<{ data: { event: string }[] }>('GET', '/api/notifications', {
    token,
  })
  return list.body.result.data.map(({ event }) => event).toReversed()
}

/** The tickets that these notifications are about. */
const ticketsTold = async ({ token }: TestCustomer): Promise<string[]> => {
  const list = await portal.call<{ data: { payload: { ticket: { id: string } } }[] }>(
    'GET',
    '/api/notifications',
    { token },
  )
  return list.body.result.data.map(({ payload }) => payload.ticket.id).toReversed()
}

describe('the desk', () => {
  test('lists the urgent first, then what waits longest', async () => {
    const made: string[] = []
    for (const subject of ['First', 'Second', 'Third']) {
      made.push((await opened(binh, { subject })).id)
      clock.advance(minutes(1))
    }
    const [first = '', second = '', third = ''] = made
    await done('ticket.priority', { ticket: third, priority: 'urgent' })
    await done('ticket.label', { ticket: first, label: 'mail' })
    await done('ticket.label', { ticket: second, label: 'mail' })
    const order = (await queue()).map(({ id }) => id).filter((id) => made.includes(id))
    expect(order).toEqual([third, first, second])
    expect((await queue('?label=mail')).map(({ id }) => id)).toEqual([first, second])
    expect((await queue('?priority=urgent')).map(({ id }) => id)).toEqual([third])
    const again = await support.act('ticket.label', { ticket: first, label: 'mail' })
    expect(again.status).toBe(409)
    await done('ticket.unlabel', { ticket: first, label: 'mail' })
    expect((await queue('?label=mail')).map(({ id }) => id)).toEqual([second])
    const other = await newMember(portal, 'support', { clock })
    await done('ticket.assign', { ticket: first, member: other.id })
    expect((await queue(`?assignee=${other.id}`)).map(({ id }) => id)).toEqual([first])
    await done('ticket.assign', { ticket: first })
    expect((await queue(`?assignee=${other.id}`)).length).toBe(0)
    const finance = await newMember(portal, 'finance', { clock })
    const refused = await support.act('ticket.assign', { ticket: first, member: finance.id })
    expect(refused.status).toBe(422)
  })

  test('hands back the tickets of a member who leaves, or answers no more', async () => {
    const owner = await newMember(portal, 'owner', { clock })
    for (const act of ['staff.disable', 'staff.change'] as const) {
      const leaving = await newMember(portal, 'support', { clock })
      const [open, answered, closed] = [await opened(an), await opened(an), await opened(an)]
      for (const { id } of [open, answered, closed])
        await done('ticket.assign', { ticket: id, member: leaving.id })
      await done('ticket.answer', { ticket: answered.id, text: 'Soon' }, leaving)
      await done('ticket.close', { ticket: closed.id })
      const wish = { member: leaving.id, ...(act === 'staff.change' && { role: 'finance' }) }
      const left = await owner.act<ActOutcome>(act, { ...wish, reason: 'Another desk' })
      expect(left.body.result).toMatchObject({ before: { tickets: 2 }, after: { tickets: 0 } })
      const free = (await queue('?assignee=nobody')).map(({ id }) => id)
      expect(free).toContain(open.id)
      for (const { id, noted } of [
        { ...open, noted: 1 },
        { ...answered, noted: 1 },
        { ...closed, noted: 0 },
      ]) {
        const { assignee, messages } = await atDesk(id)
        expect(assignee).toBeNull()
        const notes = messages.filter(({ from }) => from === 'note')
        expect(notes).toHaveLength(noted)
        for (const note of notes) {
          expect(note.author).toBe(owner.name)
          expect(note.text).toContain(`${leaving.name} answers no tickets any more`)
        }
      }
    }
  })

  test('merges tickets of one customer alone, and the old address leads to the one', async () => {
    const first = await opened(an, { subject: 'One', text: 'Part one' })
    const second = await opened(an, { subject: 'Two', text: 'Part two' })
    const foreign = await opened(binh)
    const merge = (into: string, reason = 'The same matter') =>
      support.act('ticket.merge', { ticket: second.id, into, ...(reason && { reason }) })
    expect((await merge(first.id, '')).status).toBe(422)
    const strangers = await merge(foreign.id)
    expect(strangers.body.error?.fields?.['into']).toContain('two people')
    expect((await merge(second.id)).status).toBe(422)
    const count = (messages: number) =>
      portal.app.db.updateTable('ticket').set({ messages }).where('id', '=', first.id).execute()
    await count(300)
    const long = await merge(first.id)
    expect(long.body.error?.fields?.['into']).toContain('more than 300 messages')
    await count(1)
    await done('ticket.answer', { ticket: first.id, text: 'What else?' })
    await portal.app.db.deleteFrom('notification').where('customer_id', '=', an.id).execute()
    expect((await merge(first.id)).status).toBe(200)
    await expect.poll(() => told(an)).toEqual(['ticket.closed', 'ticket.reopened'])
    expect(await ticketsTold(an)).toEqual([second.id, first.id])
    const whole = await shown(an, second.id)
    expect(whole.id).toBe(first.id)
    expect(whole.messages.map(({ text }) => text)).toEqual(['Part one', 'Part two', 'What else?'])
    const list = await call<Ticket[]>(an, 'GET', '')
    expect(list.body.result.some(({ id }) => id === second.id)).toBe(false)
    await done('ticket.answer', { ticket: second.id, text: 'Both' })
    expect((await shown(an, first.id)).messages).toHaveLength(4)
  })

  test('loses nothing when several act on a ticket at once', async () => {
    const one = await opened(an, { subject: 'One' })
    const two = await opened(an, { subject: 'Two' })
    const other = await newMember(portal, 'owner', { clock })
    const key = 'answer-at-once'
    const answers = await Promise.all([
      support.act('ticket.answer', { ticket: one.id, text: 'By support', key }),
      support.act('ticket.answer', { ticket: one.id, text: 'By support', key }),
      other.act('ticket.answer', { ticket: one.id, text: 'By the owner' }),
      other.act('ticket.merge', { ticket: one.id, into: two.id, reason: 'The same' }),
      ...Array.from({ length: 4 }, (_, n) =>
        call(an, 'POST', `/${one.id}/messages`, { text: `Line ${n}` }),
      ),
    ])
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 201, 201, 201, 201])
    const texts = (await shown(an, two.id)).messages.map(({ text }) => text)
    expect(texts.toSorted()).toEqual([
      'By support',
      'By the owner',
      'Line 0',
      'Line 1',
      'Line 2',
      'Line 3',
      'Since this morning.',
      'Since this morning.',
    ])
    const row = await portal.app.db
      .selectFrom('ticket')
      .select(['messages'])
      .where('id', '=', two.id)
      .executeTakeFirstOrThrow()
    expect(row.messages).toBe(8)
  })

  test('closes and opens again, each once', async () => {
    const { id } = await opened(an)
    await done('ticket.close', { ticket: id })
    expect((await support.act('ticket.close', { ticket: id })).status).toBe(409)
    await portal.app.db.deleteFrom('notification').where('customer_id', '=', an.id).execute()
    await done('ticket.reopen', { ticket: id })
    await expect.poll(() => told(an)).toEqual(['ticket.reopened'])
    // The customer closes it and opens it again, without a message as well.
    await call(an, 'PUT', `/${id}/state`, { state: 'closed' })
    await call(an, 'PUT', `/${id}/state`, { state: 'open' })
    await expect
      .poll(() => told(an))
      .toEqual(['ticket.reopened', 'ticket.closed', 'ticket.reopened'])
    expect((await support.act('ticket.reopen', { ticket: id })).status).toBe(409)
    expect((await support.act('ticket.close', { ticket: an.id })).status).toBe(404)
  })

  test('is closed to roles that do not answer, who read all the same', async () => {
    const { id } = await opened(an)
    for (const role of ['read_only', 'finance', 'operations'] as const) {
      const member = await newMember(portal, role, { clock })
      const refused = await member.act('ticket.answer', { ticket: id, text: 'Hello' })
      expect([role, refused.status]).toEqual([role, 403])
      const read = await member.call('GET', `/api/operator/tickets/${id}`)
      expect([role, read.status]).toEqual([role, 200])
    }
  })

  test('leaves what was written out of the trail, and acts once by its key', async () => {
    const { id } = await opened(an)
    const wish = { ticket: id, text: 'A very private answer', key: 'answer-once-1' }
    await done('ticket.answer', wish)
    const repeated = await done('ticket.answer', wish)
    expect(repeated.body.result).toMatchObject({ repeated: true })
    expect((await shown(an, id)).messages).toHaveLength(2)
    const other = await support.act('ticket.answer', { ...wish, text: 'Another answer' })
    expect(other.body.error?.code).toBe('idempotency_key_reused')
    const acts = await portal.app.db
      .selectFrom('operator_act')
      .select(['input', 'after', 'customer_id'])
      .where('subject_id', '=', id)
      .execute()
    expect(acts).toHaveLength(1)
    expect(acts[0]?.customer_id).toBe(an.id)
    expect(JSON.stringify(acts)).not.toContain('private')
    const verified = await support.call<{ findings: unknown[] }>(
      'GET',
      '/api/operator/trail/verification',
    )
    expect(verified.body.result.findings).toEqual([])
    const story = await support.call<{ tickets: Ticket[] }>(
      'GET',
      `/api/operator/customers/${an.id}`,
    )
    expect(story.body.result.tickets[0]).toMatchObject({ id, state: 'answered' })
  })

  test('finds a ticket by its number', async () => {
    const { id, number } = await opened(an, { subject: 'Lost in the list' })
    for (const typed of [`%23${number}`, number]) {
      const found = await support.call<object[]>('GET', `/api/operator/search?q=${typed}`)
      const text = `#${number} Lost in the list`
      expect(found.body.result).toContainEqual(
        expect.objectContaining({ kind: 'ticket', text, ticket: id }),
      )
    }
  })

  test('is answered by a command as well, which sends no files', async () => {
    const { id } = await opened(an)
    const answer = ['act', 'ticket.answer', '--ticket', id, '--text', 'By the shell']
    const refused = await runCommand(portal, {}, ...answer, '--files', id)
    expect(refused).toMatchObject({ code: 1 })
    expect(refused.said).toContain('signed in to the desk')
    expect(await runCommand(portal, {}, ...answer)).toMatchObject({ code: 0 })
    expect((await shown(an, id)).messages.at(-1)).toMatchObject({
      from: 'staff',
      author: 'Let’s Panel',
      text: 'By the shell',
    })
  })

  test('has canned answers in both languages, by names of their own', async () => {
    const wish = { name: 'Restarted', textEn: 'Dear {name}', textVi: 'Chào {name}' }
    const answers = async () =>
      (await support.call<{ id: string; name: string }[]>('GET', '/api/operator/canned-answers'))
        .body.result
    await done('ticket.save_canned', wish)
    const [made] = await answers()
    expect(made).toMatchObject({
      name: 'Restarted',
      text: { en: 'Dear {name}', vi: 'Chào {name}' },
      changedBy: support.name,
    })
    expect((await support.act('ticket.save_canned', wish)).status).toBe(409)
    const canned = made?.id ?? ''
    await done('ticket.save_canned', { ...wish, canned, name: 'Restarted, sorry' })
    expect((await answers()).map(({ name }) => name)).toEqual(['Restarted, sorry'])
    expect((await support.act('ticket.delete_canned', { canned })).status).toBe(422)
    await done('ticket.delete_canned', { canned, reason: 'Nobody uses it' })
    expect(await answers()).toEqual([])
  })
})
