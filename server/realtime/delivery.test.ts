/**
 * Delivery of events, to pusher-js over real sockets and from real PostgreSQL: none is missed after
 * any failure, and the bell stores them.
 */
import net from 'node:net'
import { sql } from 'kysely'
import pg from 'pg'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { createLog } from '../platform/log.ts'
import { createNotices } from '../platform/notices.ts'
import { connect, transaction } from '../platform/db.ts'
import { systemClock } from '../platform/clock.ts'
import {
  eventually,
  openTestPortal,
  type TestCustomer,
  type TestPortal,
} from '../../test/portal.ts'
import { clientsOf, heard, joined, type Listed } from '../../test/pusher-clients.ts'
import { createEventOutbox } from './outbox.ts'
import { createSessionRevocations } from './session-revocations.ts'
import { createHub } from './hub.ts'
import { createListener } from './listener.ts'
import { markRead } from './notifications.ts'
import { createRelay, type Relay } from './relay.ts'

let portal: TestPortal
/**
 * The database of another process, which also writes events and lives on while this one is
 * reopened.
 */
let other: ReturnType<typeof connect>
let relay: Relay
let an: TestCustomer
let binh: TestCustomer
let key: string
beforeAll(async () => {
  portal = await openTestPortal()
  other = connect(portal.databaseUrl, 1, () => undefined)
  relay = createRelay(other.db, createLog('silent'))
  relay.start()
  ;[an, binh] = await Promise.all([portal.customer(), portal.customer()])
  ;({ key } = (
    await portal.call<{ realtime: { key: string } }>('GET', '/api/config')
  ).body.result.realtime)
})
afterEach(() => disconnectAll())
afterAll(async () => {
  await relay.stop()
  await other.close()
  await portal.close()
})

const { client, disconnectAll, notifications } = clientsOf(
  () => portal,
  () => key,
)
/** Writes an event as a module does, in a transaction of its own. */
const announce = (
  customer: TestCustomer,
  event: 'invoice.paid' | 'invoice.create',
  payload: object,
  wake: () => void = () => relay.wake(),
): Promise<void> =>
  transaction(portal.app.db, (tx) =>
    createEventOutbox(systemClock, wake).publishEvent(tx, customer.id, event, payload),
  )

describe('nothing is missed', () => {
  test('a restart of the portal: pusher-js comes back and reads what it missed', async () => {
    const own = client(an.token, { unavailableTimeout: 400 })
    // Left to itself it tries again after 15 s; the screens make it try at once, and so does this.
    own.connection.bind('unavailable', () => {
      own.disconnect()
      own.connect()
    })
    const channel = await joined(own, an)
    const last = (await notifications(an)).result.data[0]?.id ?? '0'
    const back = heard(own.connection, 'connecting').then(() =>
      heard(channel, 'pusher:subscription_succeeded'),
    )
    await portal.reopen()
    await announce(an, 'invoice.create', { payment: { number: 'while away' } })
    await back
    await eventually('the missed event', async () =>
      (await notifications(an, `?after=${last}`)).result.data.some(
        (event) => event.payload['payment'] !== undefined,
      ),
    )
    const after = heard<{ payment: { number: string } }>(channel, 'invoice.paid')
    // As if the process had crashed after its commit: the event is sent in the next round.
    await announce(an, 'invoice.paid', { payment: { number: 'after' } }, () => undefined)
    expect((await after).payment.number).toBe('after')
  })

  test('the LISTEN connection is killed at writes: all are delivered, once', async () => {
    const channel = await joined(client(binh.token), binh)
    const numbers: number[] = []
    channel.bind('invoice.paid', (event: { n: number }) => numbers.push(event.n))
    const admin = new pg.Client({ connectionString: portal.databaseUrl })
    await admin.connect()
    for (let n = 0; n < 60; n++) {
      if (n % 20 === 10)
        await admin.query(
          `select pg_terminate_backend(pid) from pg_stat_activity
            where application_name = 'portal-listen' and datname = current_database()`,
        )
      await announce(binh, 'invoice.paid', { n })
    }
    await eventually(
      'one LISTEN connection',
      async () =>
        (
          await admin.query<{ n: bigint }>(
            `select count(*) n from pg_stat_activity where application_name = 'portal-listen'
              and datname = current_database()`,
          )
        ).rows[0]?.n === 1n,
    )
    await admin.end()
    // What is sent a second time is sent in order, before an event that is announced later.
    await announce(binh, 'invoice.paid', { n: 60 })
    await eventually('all events', async () => numbers.includes(60))
    expect(numbers).toEqual(Array.from({ length: 61 }, (_, n) => n))
    expect((await notifications(binh)).result.unread).toBe(61)
  })

  test('a database that is gone is asked twice a second; later all is delivered', async () => {
    const database = new URL(portal.databaseUrl)
    /** Its Unix socket, if it has one. */
    const folder = database.searchParams.get('host')
    let gone = false
    const attempts: number[] = []
    // A wire to the database that can be cut.
    const wire = net.createServer((near) => {
      near.on('error', () => undefined)
      if (gone) {
        attempts.push(performance.now())
        near.destroy()
        return
      }
      const far =
        folder === null
          ? net.connect(Number(database.port), database.hostname)
          : net.connect(`${folder}/.s.PGSQL.${database.searchParams.get('port')}`)
      far.on('error', () => undefined).on('close', () => near.destroy())
      near
        .on('close', () => far.destroy())
        .pipe(far)
        .pipe(near)
      cut = () => far.destroy()
    })
    let cut = (): unknown => undefined
    await new Promise<void>((resolve) => wire.listen(0, '127.0.0.1', resolve))
    const url = new URL(database)
    url.search = ''
    url.hostname = '127.0.0.1'
    url.port = String((wire.address() as net.AddressInfo).port)
    const hub = createHub()
    const sent: string[] = []
    const member = hub.join(
      {
        send: (text) => void sent.push((JSON.parse(text) as { event: string }).event),
        close: () => undefined,
        bufferedAmount: 0,
      },
      0,
    )
    hub.subscribe(member, `private-${an.id}`)
    const log = createLog('silent')
    const listener = createListener(
      createNotices(url.href, log),
      portal.app.db,
      hub,
      createSessionRevocations(portal.app.db, hub, systemClock),
      log,
    )
    await listener.start()
    expect(listener.health()).toBeUndefined()
    gone = true
    cut()
    await eventually('six attempts', async () => attempts.length >= 6)
    expect((attempts[5] ?? 0) - (attempts[0] ?? 0)).toBeGreaterThan(2300)
    expect(listener.health()).toMatch(/does not hear/)
    // Placed in line by a relay while this listener is deaf; nothing follows that would wake it.
    const last = (await notifications(an)).result.data[0]?.id ?? '0'
    await announce(an, 'invoice.create', {})
    await eventually(
      'its place in line',
      async () => (await notifications(an, `?after=${last}`)).result.data.length === 1,
    )
    expect(sent).toEqual([])
    gone = false
    await eventually(
      'the event and the word to read again',
      async () => sent.includes('invoice.create') && sent.includes('portal.resync'),
    )
    await eventually('hearing again', async () => listener.health() === undefined)
    await listener.stop()
    wire.close()
  })

  test('a delivery that fails is tried again, though nothing would wake it', async () => {
    const { db } = portal.app
    // Its own way to the table, which goes away and comes back.
    await sql`create schema way`.execute(db)
    await sql`create view way.notification as select * from public.notification`.execute(db)
    const url = new URL(portal.databaseUrl)
    url.searchParams.set('options', '-c search_path=way')
    const way = connect(url.href, 1, () => undefined)
    const hub = createHub()
    const sent: string[] = []
    const member = hub.join(
      {
        send: (text) => void sent.push((JSON.parse(text) as { event: string }).event),
        close: () => undefined,
        bufferedAmount: 0,
      },
      0,
    )
    hub.subscribe(member, `private-${an.id}`)
    const lines: string[] = []
    const log = createLog('warn', { write: (line) => lines.push(line) })
    const listener = createListener(
      createNotices(portal.databaseUrl, log),
      way.db,
      hub,
      createSessionRevocations(way.db, hub, systemClock),
      log,
    )
    await listener.start()
    await sql`alter view way.notification rename to elsewhere`.execute(db)
    await announce(an, 'invoice.create', {})
    await eventually('the failure', async () =>
      lines.some((line) => line.includes('delivering events')),
    )
    expect(sent).toEqual([])
    await sql`alter view way.elsewhere rename to notification`.execute(db)
    await eventually('the event', async () => sent.includes('invoice.create'))
    await listener.stop()
    await way.close()
    await sql`drop schema way cascade`.execute(db)
  })

  test('transactions that end out of order skip nobody', async () => {
    const last = (await notifications(binh)).result.data[0]?.id ?? '0'
    await Promise.all(
      Array.from({ length: 20 }, (_, n) =>
        transaction(portal.app.db, async (tx) => {
          await createEventOutbox(systemClock, () => relay.wake()).publishEvent(
            tx,
            binh.id,
            'invoice.create',
            { n },
          )
          // The transactions that began first end last.
          if (n < 5)
            await eventually(
              'the others',
              async () => (await notifications(binh, `?after=${last}`)).result.data.length >= 10,
            )
        }),
      ),
    )
    const ids = await eventually('all', async () => {
      const { data } = (await notifications(binh, `?after=${last}`)).result
      return data.length === 20 ? data.map((event) => Number(event.id)) : undefined
    })
    expect(ids).toEqual(ids.toSorted((a, b) => b - a))
    expect(new Set(ids).size).toBe(20)
  })
})

describe('the bell', () => {
  test('paged newest first without a gap or a double while new ones arrive', async () => {
    const total = (await notifications(binh)).result.unread
    const seen: string[] = []
    let cursor: string | null = null
    do {
      const page = await notifications(
        binh,
        `?limit=7${cursor === null ? '' : `&cursor=${cursor}`}`,
      )
      seen.push(...page.result.data.map((event) => event.id))
      cursor = page.page?.next ?? null
      await announce(binh, 'invoice.create', {})
    } while (cursor !== null)
    expect(seen).toHaveLength(total)
    expect(seen).toEqual(seen.toSorted((a, b) => Number(b) - Number(a)))
    expect(new Set(seen).size).toBe(total)
    for (const query of [
      '?cursor=x',
      '?cursor=',
      '?cursor=djE6LTE',
      '?limit=0',
      '?limit=101',
      '?limit=x',
      '?limit=1.5',
      '?after=x',
      '?after=-1',
      `?after=${'9'.repeat(30)}`,
    ])
      expect(
        (await portal.call('GET', `/api/notifications${query}`, { token: binh.token })).status,
        query,
      ).toBe(422)
  })

  test("read: those named, then all; never another customer's", async () => {
    await announce(an, 'invoice.create', { payment: { number: 'VN-1' } })
    await announce(an, 'invoice.paid', {
      payment: { number: 'VN-1', amount_paid: 1_250_000, currency: 'VND' },
    })
    const mine = await eventually('both', async () => {
      const { result } = await notifications(an)
      return result.data
        .slice(0, 2)
        .every(
          (event) =>
            (event.payload['payment'] as { number: string } | undefined)?.number === 'VN-1',
        )
        ? result
        : undefined
    })
    const theirs = (await notifications(binh)).result
    const read = (customer: TestCustomer, body: unknown) =>
      portal.call<{ unread: number }>('PUT', '/api/notifications/read', {
        token: customer.token,
        body,
      })
    const named = await read(an, {
      ids: [mine.data[0]?.id, theirs.data[0]?.id, '999999'],
    })
    for (const body of [{ ids: ['nonsense'] }, { upTo: '-1' }])
      expect((await read(an, body)).status).toBe(422)
    expect(named.body.result.unread).toBe(mine.unread - 1)
    expect((await notifications(an)).result.data.slice(0, 2).map((event) => event.read)).toEqual([
      true,
      false,
    ])
    expect((await read(an, { ids: [] })).body.result.unread).toBe(mine.unread - 1)
    expect((await read(an, {})).body.result.unread).toBe(0)
    const left = (await notifications(binh)).result
    expect(left.unread).toBeGreaterThanOrEqual(theirs.unread)
    expect(left.data.every((event) => !event.read)).toBe(true)
    const vi = await portal.call<Listed>('GET', '/api/notifications?limit=1', {
      token: an.token,
      headers: { 'accept-language': 'vi' },
    })
    expect(vi.body.result.data[0]?.title).toBe('Đã thanh toán hoá đơn VN-1: 1.250.000\u00a0đ')
    expect(
      (await portal.call<Listed>('GET', '/api/notifications?limit=1', { token: an.token })).body
        .result.data[0]?.title,
    ).toBe('Invoice VN-1 paid: 1.250.000\u00a0đ')
    // What came after the newest one that was shown stays unread.
    const { id: shown } = (await notifications(an)).result.data[0] ?? {}
    await announce(an, 'invoice.create', { payment: { number: 'VN-2' } })
    await eventually('one more', async () => (await notifications(an)).result.data[0]?.id !== shown)
    expect((await read(an, { upTo: shown })).body.result.unread).toBe(1)
    // And so does what has no number yet.
    const unsent = await transaction(portal.app.db, async (tx) => {
      await createEventOutbox(systemClock, () => undefined).publishEvent(
        tx,
        an.id,
        'dns.status',
        {},
      )
      await markRead(tx, systemClock, an.id, {})
      return await tx
        .selectFrom('notification')
        .select('read_at')
        .where('customer_id', '=', an.id)
        .where('seq', 'is', null)
        .execute()
    })
    expect(unsent).toEqual([{ read_at: null }])
  })
})
