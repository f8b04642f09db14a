/**
 * Tickets: a customer asks in the portal, the staff answers, and old uploads, files and tickets are
 * deleted.
 */
import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Ticket, TicketFile, TicketWithMessages } from '../../contract/tickets.ts'
import { manualClock, openTestPortal, eventually } from '../../test/portal.ts'
import type { TestCustomer, TestPortal } from '../../test/portal.ts'
import { newMember, type TestMember } from '../../test/staff.ts'
import { ticketsOf } from '../../test/ticket-world.ts'
import { days, hours, minutes } from '../platform/clock.ts'
import { transaction, type Tx } from '../platform/db.ts'
import { dropOldTickets } from './tidy.ts'

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
const upload = (of: TestCustomer, content: string | Uint8Array, name = 'error.log', key?: string) =>
  fetch(`${portal.url}/api/tickets/files?name=${encodeURIComponent(name)}`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${of.token}`,
      'content-type': 'application/octet-stream',
      ...(key !== undefined && { 'idempotency-key': key }),
    },
    body: content as BodyInit,
  })
const uploaded = async (of: TestCustomer, content: string, name?: string): Promise<TicketFile> => {
  const answer = await upload(of, content, name)
  expect(answer.status).toBe(201)
  return ((await answer.json()) as { result: TicketFile }).result
}
/** Begins calls while a transaction holds their lock; releases it once `waiting` calls wait. */
async function whileHeld<T>(
  hold: (tx: Tx) => Promise<unknown>,
  begin: () => readonly T[],
  waiting: number,
): Promise<readonly T[]> {
  const { db } = portal.app
  const [held, seen] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const holding = transaction(db, async (tx) => {
    await hold(tx)
    held.resolve()
    await seen.promise
  })
  await Promise.race([held.promise, holding])
  const begun = begin()
  try {
    await eventually('the calls wait', async () => {
      const { rows } = await sql`
        select from pg_stat_activity
        where datname = current_database() and wait_event_type = 'Lock'`.execute(db)
      return rows.length >= waiting
    })
  } finally {
    seen.resolve()
    await holding
  }
  return begun
}
const letters = async (of: TestCustomer, about: string): Promise<string[]> =>
  (await portal.inbox(of.email)).map(({ text }) => text).filter((text) => text.includes(about))

describe('a conversation', () => {
  test('is opened, answered, rated, closed and opened again', async () => {
    const ticket = await opened(an)
    expect(ticket).toMatchObject({ state: 'open', rateable: false, rating: null, object: null })
    const reference = `#${ticket.number}`
    await eventually('a receipt', async () => (await letters(an, reference)).length === 1)
    const [waiting] = await queue('?assignee=nobody')
    expect(waiting).toMatchObject({
      id: ticket.id,
      priority: 'normal',
      assignee: null,
      customer: { id: an.id, email: an.email },
    })
    clock.advance(minutes(5))
    await done('ticket.note', { ticket: ticket.id, text: 'Its node was restarted.' })
    const text = 'It is fast again.\nWe moved it.'
    await done('ticket.answer', { ticket: ticket.id, text })
    const answered = await shown(an, ticket.id)
    expect(answered).toMatchObject({ state: 'answered', rateable: true })
    // The note is the staff's alone.
    expect(answered.messages.map(({ from, author, text: said }) => [from, author, said])).toEqual([
      ['customer', 'Nguyễn Văn An', 'Since this morning.'],
      ['staff', support.name, text],
    ])
    expect((await atDesk(ticket.id)).messages.map(({ from }) => from)).toEqual([
      'customer',
      'note',
      'staff',
    ])
    // The first member to answer becomes its assignee.
    expect((await queue('?state=answered&assignee=mine')).map(({ id }) => id)).toEqual([ticket.id])
    const letter = await eventually('the answer by letter', async () =>
      (await letters(an, reference)).find((one) => one.includes('We moved it.')),
    )
    expect(letter).toContain(`${portal.url}/support?ticket=${ticket.id}`)
    expect(letter).not.toContain('node')
    const bell = await eventually('the bell', async () => {
      const { body } = await portal.call<{ data: { event: string; title: string }[] }>(
        'GET',
        '/api/notifications',
        { token: an.token },
      )
      return body.result.data.find(({ event }) => event === 'ticket.answered')
    })
    expect(bell.title).toBe(`Ticket ${reference} My site is slow was answered`)

    const rated = await call<Ticket>(an, 'PUT', `/${ticket.id}/rating`, { rating: 'good' })
    expect(rated.body.result.rating).toBe('good')
    expect((await atDesk(ticket.id)).rating).toBe('good')
    const closed = await call<Ticket>(an, 'PUT', `/${ticket.id}/state`, { state: 'closed' })
    expect(closed.body.result.state).toBe('closed')
    // Whatever is written opens it again, and waits since then.
    clock.advance(hours(1))
    const again = await call<Ticket>(an, 'POST', `/${ticket.id}/messages`, { text: 'Slow again' })
    expect(again.body.result).toMatchObject({ state: 'open', since: clock.now().toISOString() })
  })

  test('is written to in the customer’s language', async () => {
    await portal.app.db
      .updateTable('customer')
      .set({ language: 'vi' })
      .where('id', '=', binh.id)
      .execute()
    const ticket = await opened(binh, { subject: 'Trang chậm', text: 'Từ sáng nay.' })
    expect((await atDesk(ticket.id)).language).toBe('vi')
    await done('ticket.answer', { ticket: ticket.id, text: 'Đã xong.', close: 'yes' })
    expect((await shown(binh, ticket.id)).state).toBe('closed')
    const letter = await eventually('the answer', async () =>
      (await letters(binh, `#${ticket.number}`)).find((one) => one.includes('Đã xong.')),
    )
    expect(letter).toContain('Yêu cầu này đã được đóng.')
  })

  test('is about what the customer has, by its name, and about nothing else', async () => {
    const { transactionCode } = await portal.topUp(an, 100_000)
    const object = { kind: 'payment', id: transactionCode }
    const known = await call(an, 'GET', `/objects/payment/${transactionCode}`)
    expect(known.body.result).toEqual({ ...object, name: transactionCode })
    expect((await opened(an, { object })).object).toEqual({ ...object, name: transactionCode })
    // An object of another customer is unknown.
    expect((await call(binh, 'GET', `/objects/payment/${transactionCode}`)).status).toBe(404)
    for (const wrong of [object, { kind: 'server', id: 'none' }, { kind: 'domain', id: an.id }]) {
      const refused = await call(binh, 'POST', '', { subject: 'Help', text: 'Me', object: wrong })
      expect(refused.status).toBe(422)
      expect(Object.keys(refused.body.error?.fields ?? {})).toEqual(['object'])
    }
    const party = await call(an, 'POST', '', {
      subject: 'Help',
      text: 'Me',
      object: { kind: 'party', id: '1' },
    })
    expect(party.status).toBe(422)
  })

  test('is nobody else’s', async () => {
    const ticket = await opened(an)
    for (const [method, path, body] of [
      ['GET', '', undefined],
      ['POST', '/messages', { text: 'Mine' }],
      ['PUT', '/state', { state: 'closed' }],
      ['PUT', '/rating', { rating: 'bad' }],
    ] as const) {
      const answer = await call(binh, method, `/${ticket.id}${path}`, body)
      expect([path, answer.status]).toEqual([path, 404])
    }
    const early = await call(an, 'PUT', `/${ticket.id}/rating`, { rating: 'bad' })
    expect(early.status).toBe(422)
    const own = await call<Ticket[]>(binh, 'GET', '')
    expect(own.body.result.some(({ id }) => id === ticket.id)).toBe(false)
    const pages = await call<Ticket[]>(an, 'GET', '?limit=1')
    expect(pages.body.result.map(({ id }) => id)).toEqual([ticket.id])
    const next = await call<Ticket[]>(an, 'GET', `?limit=1&cursor=${pages.body.page?.next}`)
    expect(next.body.result.map(({ number }) => number)).toEqual([ticket.number - 1])
  })

  test('is not opened for an account that is closed meanwhile', async () => {
    const leaving = await portal.customer()
    const { db } = portal.app
    const at = clock.now()
    const [opening] = await whileHeld(
      async (tx) => {
        await sql`select from customer where id = ${leaving.id} for update`.execute(tx)
        await tx
          .updateTable('customer')
          .set({ blocked_at: at, closed_at: at })
          .where('id', '=', leaving.id)
          .execute()
      },
      () => [call(leaving, 'POST', '', { subject: 'Help', text: 'Me' })],
      1,
    )
    expect((await opening)?.body.error?.code).toBe('account_blocked')
    const left = await db
      .selectFrom('ticket')
      .select('id')
      .where('customer_id', '=', leaving.id)
      .execute()
    expect(left).toEqual([])
  })

  test('shows no control characters, and ends when it is too long', async () => {
    const ticket = await opened(an, { text: 'a\u202Eb\u0007c\r\nd' })
    expect(ticket.messages[0]?.text).toBe('abc\nd')
    await portal.app.db
      .updateTable('ticket')
      .set({ messages: 300 })
      .where('id', '=', ticket.id)
      .execute()
    const refused = await call(an, 'POST', `/${ticket.id}/messages`, { text: 'One more' })
    expect(refused.status).toBe(422)
    expect(refused.body.error?.fields?.['text']).toContain('too long')
  })
})

describe('files', () => {
  test('are downloads, of the customer’s own tickets alone', async () => {
    const page = await uploaded(an, '<script>alert(1)</script>', '../Lỗi trang.html')
    expect(page).toMatchObject({ name: 'Lỗi trang.html', bytes: 25, kept: true })
    const ticket = await opened(an, { files: [page.id] })
    expect(ticket.messages[0]?.files).toEqual([page])
    const path = `/api/tickets/${ticket.id}/files/${page.id}`
    const file = await portal.call('GET', path, { token: an.token })
    expect(file.text).toBe('<script>alert(1)</script>')
    expect(file.headers.get('content-type')).toBe('application/octet-stream')
    expect(file.headers.get('content-disposition')).toBe('attachment; filename="loi_trang.html"')
    expect(file.headers.get('x-content-type-options')).toBe('nosniff')
    expect((await portal.call('GET', path, { token: binh.token })).status).toBe(404)
    const other = await opened(an)
    const elsewhere = `/api/tickets/${other.id}/files/${page.id}`
    expect((await portal.call('GET', elsewhere, { token: an.token })).status).toBe(404)
    const seen = await support.call('GET', `/api/operator/tickets/${ticket.id}/files/${page.id}`)
    expect(seen.text).toBe('<script>alert(1)</script>')
  })

  test('belong to who uploaded them, and to one message', async () => {
    const own = await uploaded(an, 'mine')
    const stolen = await call(binh, 'POST', '', { subject: 'Help', text: 'Me', files: [own.id] })
    expect(stolen.status).toBe(422)
    expect(Object.keys(stolen.body.error?.fields ?? {})).toEqual(['files'])
    const ticket = await opened(an, { files: [own.id] })
    const twice = await call(an, 'POST', `/${ticket.id}/messages`, { text: 'x', files: [own.id] })
    expect(twice.status).toBe(422)
    // A refused message was not stored either.
    expect((await shown(an, ticket.id)).messages).toHaveLength(1)
    const six = await call(an, 'POST', '', {
      subject: 'Help',
      text: 'Me',
      files: Array.from({ length: 6 }, () => own.id),
    })
    expect(six.status).toBe(422)
  })

  test('are refused when they are empty or larger than 10 MB', async () => {
    expect((await upload(an, '')).status).toBe(422)
    const large = await upload(an, new Uint8Array(10_000_001))
    expect(large.status).toBe(422)
    const { error } = (await large.json()) as { error: { fields: Record<string, string> } }
    expect(error.fields['files']).toBe('A file may have 10 MB at most.')
    expect((await upload(an, new Uint8Array(10_000_000))).status).toBe(201)
  })

  test('are uploaded once under an Idempotency-Key, which takes no other file', async () => {
    const send = async (content: string | Uint8Array) => {
      const answer = await upload(an, content, 'page.log', 'upload of the log')
      const body = (await answer.json()) as { result?: TicketFile; error?: { code: string } }
      return { status: answer.status, headers: answer.headers, ...body }
    }
    const first = await send('the first lines')
    const second = await send('the first lines')
    expect([second.status, second.result]).toEqual([201, first.result])
    expect(second.headers.get('idempotency-replayed')).toBe('true')
    const other = await send('the other lines')
    expect([other.status, other.error?.code]).toEqual([422, 'idempotency_key_reused'])
    const large = await upload(an, new Uint8Array(20_000_000), 'page.log', 'a large upload')
    expect(large.status).toBe(422)
    const kept = await portal.app.db
      .selectFrom('ticket_file')
      .select('id')
      .where('customer_id', '=', an.id)
      .where('name', '=', 'page.log')
      .execute()
    expect(kept).toEqual([{ id: first.result?.id }])
  })

  test('have a bound for all of one uploader together', async () => {
    const chi = await portal.customer()
    const grow = (id: string, bytes: number) =>
      portal.app.db.updateTable('ticket_file').set({ bytes }).where('id', '=', id).execute()
    const refusal = async (answer: Response): Promise<string | undefined> => {
      const { error } = (await answer.json()) as { error?: { fields?: Record<string, string> } }
      return `${answer.status} ${error?.fields?.['files']}`
    }
    const first = await uploaded(chi, 'a')
    await grow(first.id, 99_999_999)
    const last = await uploaded(chi, 'b')
    expect(await refusal(await upload(chi, 'c'))).toMatch(/^422 .*100 MB/)
    await opened(chi, { files: [first.id, last.id] })
    await grow(first.id, 999_999_989)
    // Two parallel uploads do not both get the space for one: neither is written before both have
    // been checked.
    const two = await whileHeld(
      (tx) => sql`lock table ticket_file in share mode`.execute(tx),
      () => [upload(chi, '0123456789'), upload(chi, '0123456789')],
      2,
    )
    const both = await Promise.all(two)
    expect(both.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([201, 422])
    expect(await refusal(await upload(chi, 'c'))).toMatch(/^422 .*1 GB/)

    const byStaff = () =>
      fetch(`${portal.url}/api/operator/tickets/files?name=plan.txt`, {
        method: 'POST',
        headers: { ...support.headers, 'content-type': 'application/octet-stream' },
        body: 'plan',
      })
    const { result } = (await (await byStaff()).json()) as { result: TicketFile }
    await grow(result.id, 99_999_999)
    expect(await refusal(await byStaff())).toMatch(/^422 .*100 MB/)
    await grow(result.id, 4)
  })

  test('of a note are the staff’s alone', async () => {
    const answer = await fetch(`${portal.url}/api/operator/tickets/files?name=plan.txt`, {
      method: 'POST',
      headers: { ...support.headers, 'content-type': 'application/octet-stream' },
      body: 'secret plan',
    })
    const { result } = (await answer.json()) as { result: TicketFile }
    const ticket = await opened(an)
    const files = [result.id]
    await done('ticket.note', { ticket: ticket.id, text: 'See the file', files })
    const path = `/tickets/${ticket.id}/files/${result.id}`
    expect((await portal.call('GET', `/api${path}`, { token: an.token })).status).toBe(404)
    expect((await support.call('GET', `/api/operator${path}`)).text).toBe('secret plan')
  })
})

test('what is over is deleted: uploads, then files, then tickets', async () => {
  const file = await uploaded(an, 'to keep')
  const lost = await uploaded(an, 'never sent')
  const { id } = await opened(an, { files: [file.id] })
  await done('ticket.close', { ticket: id })
  const files = async () =>
    await portal.app.db
      .selectFrom('ticket_file')
      .select('id')
      .where('id', 'in', [file.id, lost.id])
      .execute()
  clock.advance(hours(25))
  await dropOldTickets(portal.app.db, clock)
  expect(await files()).toEqual([{ id: file.id }])
  clock.advance(days(180))
  await dropOldTickets(portal.app.db, clock)
  const later = await portal.signIn(an)
  const [message] = (await shown(later, id)).messages
  expect(message?.files).toEqual([{ ...file, kept: false }])
  const gone = await call(later, 'GET', `/${id}/files/${file.id}`)
  expect(gone.status).toBe(404)
  clock.advance(days(730))
  await dropOldTickets(portal.app.db, clock)
  expect((await call(await portal.signIn(an), 'GET', `/${id}`)).status).toBe(404)
  expect(await files()).toEqual([])
})

test('what stays answered for 30 days is closed by itself', async () => {
  const answered = async (): Promise<TicketWithMessages> => {
    const ticket = await opened(await portal.signIn(an))
    const member = await newMember(portal, 'support', { clock })
    await done('ticket.answer', { ticket: ticket.id, text: 'Is it fast again?' }, member)
    return ticket
  }
  const quiet = await answered()
  clock.advance(days(2))
  const fresh = await answered()
  clock.advance(days(29))
  await transaction(portal.app.db, (tx) => portal.app.jobs.add(tx, 'tidy', {}))
  const own = await portal.signIn(an)
  await eventually('it is closed', async () => (await shown(own, quiet.id)).state === 'closed')
  expect((await shown(own, fresh.id)).state).toBe('answered')
  await eventually('the bell', async () => {
    const { body } = await portal.call<{ data: { title: string }[] }>('GET', '/api/notifications', {
      token: own.token,
    })
    return body.result.data.some(({ title }) => title.includes(`#${quiet.number}`))
  })
  expect(
    (await call<Ticket>(own, 'POST', `/${quiet.id}/messages`, { text: 'No' })).body.result,
  ).toMatchObject({ state: 'open' })
})

test('a second answer begins anew the days until it is closed and deleted', async () => {
  const member = await newMember(portal, 'support', { clock })
  const own = await portal.signIn(an)
  const answered = async (close: 'yes' | 'no' = 'no'): Promise<string> => {
    const { id } = await opened(own)
    await done('ticket.answer', { ticket: id, text: 'We look into it.', close }, member)
    return id
  }
  const [once, twice, shut] = [await answered(), await answered(), await answered('yes')]
  clock.advance(days(20))
  const again = await newMember(portal, 'support', { clock })
  await done('ticket.answer', { ticket: twice, text: 'We found it.' }, again)
  await done('ticket.answer', { ticket: shut, text: 'One more thing.', close: 'yes' }, again)
  const answeredAt = clock.now()
  const row = async (of: string) =>
    await portal.app.db
      .selectFrom('ticket')
      .select(['state', 'waiting_since', 'closed_at'])
      .where('id', '=', of)
      .executeTakeFirstOrThrow()
  const tidied = async (closes: string): Promise<void> => {
    await transaction(portal.app.db, (tx) => portal.app.jobs.add(tx, 'tidy', {}))
    await eventually('it is closed', async () => (await row(closes)).state === 'closed')
  }
  clock.advance(days(11))
  await tidied(once)
  expect(await row(twice)).toMatchObject({ state: 'answered', waiting_since: answeredAt })
  expect(await row(shut)).toMatchObject({ state: 'closed', closed_at: answeredAt })
  clock.advance(days(20))
  await tidied(twice)
})
