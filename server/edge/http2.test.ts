/** How long requests and responses of HTTP/2 may take. */
import { once } from 'node:events'
import http2 from 'node:http2'
import net from 'node:net'
import { afterEach, expect, test } from 'vitest'
import { createHttp2Door } from './http2.ts'

const closers: (() => unknown)[] = []
afterEach(() => {
  for (const close of closers.splice(0)) close()
})
const requestMs = 50

/** A door whose visits are answered by `visit`, and a session to it. */
async function opened(
  visit: Parameters<typeof createHttp2Door>[0],
): Promise<http2.ClientHttp2Session> {
  const door = createHttp2Door(visit, { idleMs: 10_000, requestMs })
  const server = net.createServer((socket) => door.enter(socket)).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as net.AddressInfo
  const session = http2.connect(`http://127.0.0.1:${port}`)
  session.on('error', () => undefined)
  closers.push(() => (session.destroy(), door.destroy(), server.close()))
  return session
}

test('a response may take longer than a request', async () => {
  // It ends after three times the time limit of a request.
  const session = await opened((_request, response) => {
    response.writeHead(200)
    response.write('begun ')
    setTimeout(() => response.end('and ended'), requestMs * 3)
  })
  const stream = session.request({ ':path': '/' })
  let text = ''
  for await (const chunk of stream) text += String(chunk)
  expect([text, stream.rstCode]).toEqual(['begun and ended', http2.constants.NGHTTP2_NO_ERROR])
})

test('a request whose body never ends is given up', async () => {
  const session = await opened((request) => void request.resume())
  const stream = session.request({ ':path': '/', ':method': 'POST' })
  stream.on('error', () => undefined)
  stream.write('a part')
  await once(stream, 'close')
  expect(stream.rstCode).toBe(http2.constants.NGHTTP2_CANCEL)
})
