/**
 * TCP of the name server: who gets a slot, how long a connection lasts, and how long responses may
 * be.
 */
import { once } from 'node:events'
import net from 'node:net'
import { afterEach, expect, test } from 'vitest'
import { framed, sendTcp } from '../../../../test/dig.ts'
import { freePort } from '../../../../test/portal.ts'
import { listen, type Handler, type Ports } from './listen.ts'
import { Places } from './places.ts'
import type { TcpLimits } from './tcp.ts'

const limits: TcpLimits = {
  idleMs: 10_000,
  questionMs: 10_000,
  connections: 300,
  connectionsPerNetwork: 30,
}
const question = framed(Buffer.from('anything'))

let ports: Ports | undefined
let clients: net.Socket[] = []
afterEach(async () => {
  for (const client of clients) client.destroy()
  clients = []
  await ports?.close()
  ports = undefined
})

async function open(tcp: Handler['tcp'], own: Partial<TcpLimits> = {}): Promise<number> {
  const port = await freePort()
  const handler: Handler = { udp: () => undefined, tcp }
  ports = await listen({ host: '127.0.0.1', port, handler, limits: { ...limits, ...own } })
  return port
}
async function connect(port: number, from = '127.0.0.1'): Promise<net.Socket> {
  const client = net.connect({ port, host: '127.0.0.1', localAddress: from, allowHalfOpen: true })
  client.on('error', () => undefined)
  clients.push(client)
  await once(client, 'connect')
  return client
}
async function ask(client: net.Socket): Promise<void> {
  client.write(question)
  await once(client, 'data')
}
const echo = (bytes: Buffer): Buffer[] => [bytes]

test('the addresses of one IPv6 /64 share its places, and others keep theirs', () => {
  const places = new Places({ connections: 300, connectionsPerNetwork: 30 })
  const ended: string[] = []
  const take = (address: string, nowMs: number) =>
    places.take(address, nowMs, () => ended.push(address))
  take('2001:db8:0:2::1', 0)
  for (let host = 1; host <= 30; host++) take(`2001:db8:0:1::${host.toString(16)}`, host)
  expect(ended).toEqual([])
  take('2001:db8:0:1:ffff::1', 31)
  expect(ended).toEqual(['2001:db8:0:1::1'])
})

test('where all places are taken the idlest connection ends, whatever bytes it sends', async () => {
  const port = await open(echo, { connections: 3 })
  const slow = await connect(port, '127.0.0.2')
  const [one, other] = [await connect(port, '127.0.0.3'), await connect(port, '127.0.0.4')]
  await ask(one)
  await ask(other)
  slow.write(question.subarray(0, 3))
  const closed = once(slow.resume(), 'end')
  await ask(await connect(port, '127.0.0.5'))
  await closed
  await ask(one)
  await ask(other)
})

test('a question that does not come to its end in time ends the connection', async () => {
  const port = await open(echo, { questionMs: 300 })
  const client = await connect(port)
  await ask(client)
  // A byte every 50 ms, each long before the connection would be idle.
  const bytes = framed(Buffer.alloc(60_000))
  let at = 0
  const drip = setInterval(() => void client.write(bytes.subarray(at, ++at)), 50)
  await once(client.resume(), 'end').finally(() => clearInterval(drip))
  expect(at).toBeLessThan(60)
})

const messageBytes = 16_000
function* large(): Generator<Buffer> {
  for (let index = 0; index < 1500; index++) yield Buffer.alloc(messageBytes, index)
}

test('an answer of 24 MB comes whole, also to who reads late or asks nothing more', async () => {
  const port = await open(large)
  const all = await sendTcp(port, question, ({ length }) => length === 1500)
  expect(all.map((message) => message[0])).toEqual(
    Array.from({ length: 1500 }, (_, index) => index % 256),
  )
  const client = await connect(port)
  client.pause()
  client.end(question)
  await expect.poll(() => client.bytesRead).toBeGreaterThan(0)
  client.resume()
  await once(client, 'end')
  expect(client.bytesRead).toBe(1500 * (messageBytes + 2))
})

test('who takes nothing of an answer is cut off', async () => {
  const { promise: left, resolve } = Promise.withResolvers<void>()
  const port = await open(
    function* () {
      try {
        yield* large()
      } finally {
        resolve()
      }
    },
    { idleMs: 300 },
  )
  const client = await connect(port)
  client.pause()
  client.write(question)
  await left
  client.resume()
  await once(client, 'end').catch(() => undefined)
  expect(client.bytesRead).toBeLessThan(1500 * messageBytes)
})
