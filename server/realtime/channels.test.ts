/**
 * Channels of the realtime server, with the unmodified pusher-js over real sockets: who may join
 * one, what the protocol contains, and what is refused.
 */
import { once } from 'node:events'
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { sql } from 'kysely'
import Pusher from 'pusher'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import WebSocket from 'ws'
import { createSecrets } from '../platform/secrets.ts'
import { systemClock } from '../platform/clock.ts'
import { transaction } from '../platform/db.ts'
import {
  eventually,
  openTestPortal,
  type TestCustomer,
  type TestPortal,
} from '../../test/portal.ts'
import { Client, clientsOf, heard, joined } from '../../test/pusher-clients.ts'
import { createHub } from './hub.ts'
import { createSockets } from './socket.ts'

let portal: TestPortal
let an: TestCustomer
let binh: TestCustomer
let key: string
beforeAll(async () => {
  portal = await openTestPortal()
  ;[an, binh] = await Promise.all([portal.customer(), portal.customer()])
  const config = await portal.call<{
    realtime: { key: string; wsHost: string; wsPort: number; authEndpoint: string }
  }>('GET', '/api/config')
  ;({ key } = config.body.result.realtime)
  expect(config.body.result.realtime).toMatchObject({
    wsHost: '127.0.0.1',
    wsPort: portal.config.PORT,
    forceTLS: false,
    authEndpoint: '/api/v1/auth/pusher',
  })
})
afterEach(() => disconnectAll())
afterAll(() => portal.close())

const { client, clients, disconnectAll, notifications } = clientsOf(
  () => portal,
  () => key,
)
/** Pusher's own server library signs as the portal does. */
const library = () =>
  new Pusher({
    appId: 'portal',
    key,
    secret: createSecrets(portal.rootSecret).derive('realtime-secret'),
    host: '127.0.0.1',
  })

describe('channels', () => {
  test('a socket has no name that would keep a session from ending', async () => {
    const { token } = await portal.signIn(an)
    const ask = (socket: string) =>
      portal.call('POST', '/api/v1/auth/pusher', {
        token,
        body: { socket_id: socket, channel_name: `private-${an.id}` },
      })
    expect((await ask(`1.${'2'.repeat(2500)}`)).status).toBe(422)
    // Any number of sockets does not prevent it, either.
    for (let at = 0; at < 400; at += 50)
      await Promise.all(
        Array.from({ length: 50 }, (_, n) => 2_000_000_000 + at + n).map((n) =>
          transaction(portal.app.db, (tx) =>
            tx
              .insertInto('channel_grant')
              .columns(['session_id', 'socket_id'])
              .expression((eb) =>
                eb
                  .selectFrom('session')
                  .select(['id', sql.lit(`${n}.${n}`).as('socket')])
                  .where('customer_id', '=', an.id)
                  .orderBy('created_at', 'desc')
                  .limit(1),
              )
              .execute(),
          ),
        ),
      )
    const left = await portal.call('POST', '/api/v1/auth/logout', { token })
    expect(left.status, left.text).toBe(200)
    expect((await portal.call('GET', '/api/v1/auth/me', { token })).status).toBe(401)
  })

  test('of one session the newest grants stay, and an older socket connects anew', async () => {
    const { token } = await portal.signIn(an)
    const own = client(token)
    await joined(own, an)
    const first = own.connection.socket_id
    for (let n = 1; n <= 100; n += 1) {
      const body = { socket_id: `9.${n}`, channel_name: `private-${an.id}` }
      expect((await portal.call('POST', '/api/v1/auth/pusher', { token, body })).status).toBe(200)
    }
    const grantsOf = async (socket: string) =>
      await sql`select 1 from channel_grant where socket_id like ${socket}`.execute(portal.app.db)
    await eventually('another connection with a grant', async () => {
      const { state, socket_id: now } = own.connection
      return state === 'connected' && now !== first && (await grantsOf(now)).rows.length === 1
    })
    expect((await grantsOf(first)).rows).toEqual([])
    expect((await grantsOf('9.%')).rows).toHaveLength(99)
    own.disconnect()
  })

  test('pusher-js connects, and hears on its own channel what the portal tells', async () => {
    const own = client(an.token)
    const channel = await joined(own, an)
    expect(own.connection.state).toBe('connected')
    expect(own.connection.socket_id).toMatch(/^\d+\.\d+$/)
    const told = heard<{ wallet: { amount: number }; notificationId: string }>(
      channel,
      'wallet.credited',
    )
    await portal.topUp(an, 150_000)
    const event = await told
    expect(event.wallet.amount).toBe(150_000)
    expect((await notifications(an)).result.data[0]).toMatchObject({
      id: event.notificationId,
      event: 'wallet.credited',
      read: false,
      payload: { wallet: { amount: 150_000 } },
    })
  })

  test('the options that older clients use', async () => {
    const old = {
      cluster: '',
      wsHost: '127.0.0.1',
      wsPort: portal.config.PORT,
      forceTLS: false,
      authEndpoint: `${portal.url}/api/v1/auth/pusher`,
      auth: { headers: { Authorization: `Bearer ${an.token}` } },
    }
    const own = new Client(key, old)
    clients.push(own)
    await joined(own, an)
  })

  test("another's channel 403, a dead token 401, a forged signature refused", async () => {
    const own = client(an.token)
    expect(
      await heard<{ status: number }>(
        own.subscribe(`private-${binh.id}`),
        'pusher:subscription_error',
      ),
    ).toMatchObject({ status: 403 })
    expect(
      await heard<{ status: number }>(
        client('garbage').subscribe(`private-${an.id}`),
        'pusher:subscription_error',
      ),
    ).toMatchObject({
      status: 401,
    })
    for (const auth of [`${key}:${'0'.repeat(64)}`, '', `${key}:`, 'x']) {
      const forger = client(an.token, {
        channelAuthorization: {
          customHandler: (_: unknown, done: (error: null, data: { auth: string }) => void) =>
            done(null, { auth }),
        },
      })
      expect(
        await heard<{ status: number }>(
          forger.subscribe(`private-${binh.id}`),
          'pusher:subscription_error',
        ),
      ).toMatchObject({
        status: 401,
      })
    }
  })

  test('a signature for one socket opens the channel to no other', async () => {
    const [one, two] = [client(an.token), client(an.token)]
    await joined(one, an)
    const { auth } = JSON.parse(
      (
        await portal.call('POST', '/api/v1/auth/pusher', {
          token: an.token,
          body: { socket_id: one.connection.socket_id, channel_name: `private-${an.id}` },
        })
      ).text,
    ) as { auth: string }
    await eventually('the second connection', async () => two.connection.state === 'connected')
    const raw = new WebSocket(`ws://127.0.0.1:${portal.config.PORT}/app/${key}?protocol=7`)
    const said = await new Promise<string>((resolve) => {
      raw.on('message', (text: Buffer) => {
        const message = JSON.parse(text.toString()) as { event: string }
        if (message.event === 'pusher:connection_established')
          raw.send(
            JSON.stringify({
              event: 'pusher:subscribe',
              data: { channel: `private-${an.id}`, auth },
            }),
          )
        else resolve(message.event)
      })
    })
    raw.close()
    expect(said).toBe('pusher:subscription_error')
  })

  test('authorisation takes a form and JSON, answers as Pusher, without envelope', async () => {
    const form = { socket_id: '12.34', channel_name: `private-${an.id}` }
    const json = await portal.call('POST', '/api/v1/auth/pusher', { token: an.token, body: form })
    const encoded = await portal.call('POST', '/api/v1/auth/pusher', {
      token: an.token,
      body: new URLSearchParams(form).toString(),
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
    })
    expect(encoded.text).toBe(json.text)
    expect(JSON.parse(json.text)).toEqual(library().authorizeChannel('12.34', `private-${an.id}`))
    for (const body of [
      { ...form, socket_id: '12.34:x' },
      { ...form, socket_id: 'x' },
      { socket_id: '1.2' },
    ])
      expect(
        (await portal.call('POST', '/api/v1/auth/pusher', { token: an.token, body })).status,
      ).toBe(422)
    for (const channel_name of [
      '',
      'private-',
      an.id,
      `presence-${an.id}`,
      `private-${an.id} `,
      `private-${an.id},private-${binh.id}`,
    ])
      expect(
        (
          await portal.call('POST', '/api/v1/auth/pusher', {
            token: an.token,
            body: { ...form, channel_name },
          })
        ).status,
      ).toBe(403)
  })

  test('and once under one key, as every other POST', async () => {
    const authorise = (socket_id: string) =>
      portal.call('POST', '/api/v1/auth/pusher', {
        token: an.token,
        body: { socket_id, channel_name: `private-${an.id}` },
        headers: { 'idempotency-key': 'pusher-1' },
      })
    const [first, again, other] = [
      await authorise('12.34'),
      await authorise('12.34'),
      await authorise('12.35'),
    ]
    expect([first.status, first.headers.get('idempotency-replayed')]).toEqual([200, null])
    expect([again.text, again.headers.get('idempotency-replayed')]).toEqual([first.text, 'true'])
    expect([other.status, other.body.error?.code]).toEqual([422, 'idempotency_key_reused'])
  })

  test('unsubscribe leaves the channel', async () => {
    const frames: { event: string; data: string }[] = []
    const socket = new WebSocket(`ws://127.0.0.1:${portal.config.PORT}/app/${key}?protocol=7`)
    socket.on('message', (text: Buffer) => {
      frames.push(JSON.parse(text.toString()) as (typeof frames)[number])
    })
    const frame = (event: string) =>
      eventually(event, async () => frames.find((one) => one.event === event))
    const { data } = await frame('pusher:connection_established')
    const { socket_id } = JSON.parse(data) as { socket_id: string }
    const channel = `private-${binh.id}`
    const { text } = await portal.call('POST', '/api/v1/auth/pusher', {
      token: binh.token,
      body: { socket_id, channel_name: channel },
    })
    const { auth } = JSON.parse(text) as { auth: string }
    socket.send(JSON.stringify({ event: 'pusher:subscribe', data: { channel, auth } }))
    await frame('pusher_internal:subscription_succeeded')
    socket.send(JSON.stringify({ event: 'pusher:unsubscribe', data: { channel } }))
    // Frames of one socket are taken in order.
    socket.send(JSON.stringify({ event: 'pusher:ping', data: {} }))
    await frame('pusher:pong')
    const other = heard(await joined(client(binh.token), binh), 'wallet.credited')
    await portal.topUp(binh, 50_000)
    await other
    expect(frames.map(({ event }) => event)).not.toContain('wallet.credited')
    socket.close()
  })
})

describe('the protocol', () => {
  const closing = (path: string): Promise<number> =>
    new Promise((resolve, reject) => {
      const socket = new WebSocket(`ws://127.0.0.1:${portal.config.PORT}${path}`)
      socket.on('close', resolve)
      socket.on('error', reject)
    })
  test.each([
    ['/app/nobody?protocol=7', 4001],
    ['/app/{key}/more?protocol=7', 4005],
    ['/app/{key}?protocol=seven', 4006],
    ['/app/{key}?protocol=99', 4007],
    ['/app/{key}?protocol=4', 4007],
    ['/app/{key}', 4008],
  ])('%s is closed with %i', async (path, code) =>
    expect(await closing(path.replace('{key}', key))).toBe(code),
  )

  test('pusher-js does not come back to an unknown app', async () => {
    const lost = client(an.token, {}, 'nobody')
    expect(await heard(lost.connection, 'error')).toMatchObject({ error: { data: { code: 4001 } } })
    await eventually('giving up', async () =>
      ['failed', 'disconnected', 'unavailable'].includes(lost.connection.state),
    )
  })

  test('client events are refused with 4301 and the connection stays', async () => {
    const own = client(an.token)
    const channel = await joined(own, an)
    const error = heard(own.connection, 'error')
    channel.trigger('client-hello', { a: 1 })
    expect(await error).toMatchObject({ data: { code: 4301 } })
    expect(own.connection.state).toBe('connected')
  })

  test('rubbish is answered with an error, not silence; frames are limited', async () => {
    const socket = new WebSocket(`ws://127.0.0.1:${portal.config.PORT}/app/${key}?protocol=7`)
    const answers: string[] = []
    socket.on('message', (text: Buffer) => answers.push(text.toString()))
    await eventually('greeting', async () => answers.length === 1)
    const rubbish = [
      '',
      '{',
      'null',
      '[]',
      '5',
      '{"event":5}',
      '{"event":"pusher:subscribe"}',
      '{"event":"pusher:subscribe","data":null}',
      '{"event":"pusher:subscribe","data":{"channel":{}}}',
      '{"event":"pusher:subscribe","data":"{"}',
      '{"event":"pusher:subscribe","data":{"channel":"public"}}',
      '{"event":"__proto__"}',
    ]
    for (const text of rubbish) socket.send(text)
    await eventually('an answer each', async () => answers.length === 1 + rubbish.length)
    socket.send(JSON.stringify({ event: 'pusher:ping', data: {} }))
    await eventually('pong', async () => answers.at(-1)?.includes('pusher:pong'))
    const closed = new Promise<number>((resolve) => socket.on('close', resolve))
    socket.send('x'.repeat(20_000))
    expect(await closed).toBe(1009)
    expect((await portal.call('GET', '/healthz')).status).toBe(200)
  })

  test('one network gets 500 connections, and another one its own', async () => {
    const hub = createHub()
    const sockets = createSockets({ id: 'a', key: 'k', secret: 's' }, hub, systemClock)
    let client = '2001:db8:0:1::1'
    const server = http
      .createServer()
      .on('upgrade', (request, socket, head) => sockets.upgrade(request, socket, head, client))
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const { port } = server.address() as AddressInfo
    const opened: WebSocket[] = []
    /** The first message on a connection. */
    const told = async (): Promise<string> => {
      const socket = new WebSocket(`ws://127.0.0.1:${port}/app/k?protocol=7`)
      opened.push(socket)
      const [text] = (await once(socket, 'message')) as [Buffer]
      return (JSON.parse(text.toString()) as { event: string }).event
    }
    await Promise.all(Array.from({ length: 500 }, told))
    client = '2001:db8:0:1::2'
    expect(await told()).toBe('pusher:error')
    client = '2001:db8:0:2::1'
    expect(await told()).toBe('pusher:connection_established')
    // A closed connection makes room.
    opened[0]?.close()
    await eventually('the member to be gone', async () => hub.size === 500)
    client = '2001:db8:0:1::2'
    expect(await told()).toBe('pusher:connection_established')
    for (const socket of opened) socket.terminate()
    sockets.close()
    server.close()
  })

  test('a silent connection is pinged, then let go with 4201', async () => {
    const hub = createHub()
    const sockets = createSockets({ id: 'a', key: 'k', secret: 's' }, hub, systemClock, {
      activity: 0.2,
      pong: 0.2,
    })
    const server = http
      .createServer()
      .on('upgrade', (request, socket, head) => sockets.upgrade(request, socket, head, '127.0.0.1'))
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const socket = new WebSocket(
      `ws://127.0.0.1:${(server.address() as { port: number }).port}/app/k?protocol=7`,
    )
    const events: string[] = []
    socket.on('message', (text: Buffer) =>
      events.push((JSON.parse(text.toString()) as { event: string }).event),
    )
    expect(await new Promise((resolve) => socket.on('close', resolve))).toBe(4201)
    expect(events).toEqual(['pusher:connection_established', 'pusher:ping', 'pusher:error'])
    await eventually('the member to be gone', async () => hub.size === 0)
    sockets.close()
    server.close()
  })
})
