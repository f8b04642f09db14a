/** The browser's realtime client against the real server, over Node's own WebSocket. */
import net from 'node:net'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { Refused, ChannelSocket, type SocketOptions } from '../../web/realtime/socket.ts'
import { eventually, openTestPortal, type TestCustomer, type TestPortal } from '../portal.ts'

let portal: TestPortal
let customer: TestCustomer
let key = ''
const opened: { close(): void }[] = []

beforeAll(async () => {
  portal = await openTestPortal()
  customer = await portal.customer()
  const config = await portal.call<{ realtime: { key: string } }>('GET', '/api/config')
  key = config.body.result.realtime.key
})
afterEach(() => {
  for (const one of opened.splice(0)) one.close()
})
afterAll(() => portal?.close())

interface Recorded {
  events: { name: string; data: unknown }[]
  subscriptions: number
  connected: boolean
  authorisations: number
}

function listen(change: Partial<SocketOptions> & { port?: number } = {}): Recorded {
  const heard: Recorded = { events: [], subscriptions: 0, connected: false, authorisations: 0 }
  const { hostname, port } = new URL(portal.url)
  const socket = new ChannelSocket({
    at: { key, wsHost: hostname, wsPort: change.port ?? Number(port), forceTLS: false },
    channel: `private-${customer.id}`,
    authorise: async (socketId, channel) => {
      heard.authorisations += 1
      const answer = await fetch(`${portal.url}/api/v1/auth/pusher`, {
        method: 'POST',
        headers: { authorization: `Bearer ${customer.token}` },
        body: new URLSearchParams({ socket_id: socketId, channel_name: channel }),
      })
      if (answer.status === 401 || answer.status === 403) throw new Refused()
      return ((await answer.json()) as { auth: string }).auth
    },
    onSubscribed: () => {
      heard.subscriptions += 1
    },
    onEvent: (name, data) => heard.events.push({ name, data }),
    onConnected: (connected) => {
      heard.connected = connected
    },
    onEnded: () => undefined,
    ...change,
  })
  opened.push(socket)
  return heard
}

/** A proxy that can be cut: it forwards bytes to the portal, and counts the connections. */
async function wire() {
  const { hostname, port } = new URL(portal.url)
  const held = new Set<net.Socket>()
  const state = { connections: 0, port: 0, cut: () => held.forEach((socket) => socket.destroy()) }
  const server = net.createServer((near) => {
    state.connections += 1
    const far = net.connect(Number(port), hostname)
    for (const socket of [near, far]) {
      held.add(socket)
      socket.on('error', () => undefined).on('close', () => held.delete(socket))
    }
    near.pipe(far).pipe(near)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  state.port = (server.address() as net.AddressInfo).port
  opened.push({
    close() {
      state.cut()
      server.close()
    },
  })
  return state
}

test('subscribes to the private channel and hears a top-up', async () => {
  const heard = listen()
  await eventually('the subscription', async () => heard.subscriptions === 1)
  expect(heard.connected).toBe(true)
  const { transactionCode } = await portal.topUp(customer, 200_000)
  const event = await eventually('the event', async () =>
    heard.events.find(({ name }) => name === 'wallet.credited'),
  )
  expect(event.data).toMatchObject({
    wallet: { amount: 200_000, currency: 'VND', transactionCode },
    notificationId: expect.any(String),
  })
})

test('a cut connection comes back and subscribes again', async () => {
  const cable = await wire()
  const heard = listen({ port: cable.port })
  await eventually('the subscription', async () => heard.subscriptions === 1)
  cable.cut()
  await eventually('the loss is noticed', async () => !heard.connected)
  await eventually('the second subscription', async () => heard.subscriptions === 2)
  await portal.topUp(customer, 50_000)
  await eventually('the event', async () => heard.events.length > 0)
  expect(heard.events[0]?.name).toBe('wallet.credited')
})

test("another customer's channel is refused for good", async () => {
  const cable = await wire()
  const heard = listen({ port: cable.port, channel: 'private-someone-else' })
  await eventually(
    'the connection is given up',
    async () => cable.connections === 1 && heard.authorisations === 1 && !heard.connected,
  )
  // A forged signature that skips the endpoint; the socket refuses it as well.
  const forged = listen({
    channel: 'private-someone-else',
    authorise: async () => `${key}:${'0'.repeat(64)}`,
  })
  await portal.topUp(customer, 50_000)
  expect([heard.subscriptions, forged.subscriptions, cable.connections]).toEqual([0, 0, 1])
})

test('an unknown key is a close code that never comes back', async () => {
  const cable = await wire()
  const { hostname } = new URL(portal.url)
  const heard = listen({
    at: { key: 'nobody', wsHost: hostname, wsPort: cable.port, forceTLS: false },
  })
  const alive = listen({ port: cable.port })
  await eventually('the other one is subscribed', async () => alive.subscriptions === 1)
  // The valid one is cut and reconnects; the refused one does not.
  cable.cut()
  await eventually('the good one is back', async () => alive.subscriptions === 2)
  expect([cable.connections, heard.authorisations]).toEqual([3, 0])
})
