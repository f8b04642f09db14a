/** A line between two machines: only a peer with the key is served, and the line reopens. */
import net from 'node:net'
import { afterEach, expect, test } from 'vitest'
import { eventually, freePort } from '../../test/portal.ts'
import {
  openSecureLine,
  serveSecureLines,
  type SecureLine,
  type SecureLines,
} from './secure-line.ts'

const key = 'a key of a test, forty characters of it'
const log = { warn: () => undefined, info: () => undefined }
let served: SecureLines | undefined
const opened: SecureLine[] = []
afterEach(async () => {
  for (const line of opened.splice(0)) line.close()
  await served?.close()
})

async function serve(port: number): Promise<void> {
  served = await serveSecureLines({
    listen: `127.0.0.1:${port}`,
    key,
    log,
    onLine(line) {
      line.onRequest('double', (n: number) => n * 2)
      line.listen()
    },
  })
}
function open(port: number, withKey: string): SecureLine {
  const line = openSecureLine({
    address: `127.0.0.1:${port}`,
    key: withKey,
    log,
  })
  opened.push(line)
  return line
}
const double = (line: SecureLine, n: number) => line.line()?.sendRequest<number>('double', n)

test('asks and is answered, and goes on when the other end was away', async () => {
  const port = await freePort()
  const line = open(port, key)
  await serve(port)
  await eventually('a line', async () => line.line() !== undefined)
  expect(await double(line, 21)).toBe(42)
  const inHand = line
    .line()
    ?.sendRequest('never-answered')
    .catch(() => 'ended')
  await served?.close()
  expect(await inHand).toBe('ended')
  await eventually('no line', async () => line.line() === undefined)
  await serve(port)
  await eventually('another line', async () => line.line() !== undefined)
  expect(await double(line, 4)).toBe(8)
})

test('another key gets no line, and neither does one who says nothing or no TLS', async () => {
  const port = await freePort()
  await serve(port)
  const refusals: unknown[] = []
  const line = openSecureLine({
    address: `127.0.0.1:${port}`,
    key: `${key}!`,
    log: { ...log, warn: (detail: unknown) => void refusals.push(detail) },
  })
  opened.push(line)
  await eventually('a refusal', async () => refusals.length > 0)
  expect(line.line()).toBeUndefined()
  const plain = net.connect(port, '127.0.0.1')
  const ended = new Promise((resolve) => void plain.once('close', resolve))
  plain.on('error', () => undefined)
  plain.write('Content-Length: 2\r\n\r\n{}')
  await ended
  const good = open(port, key)
  await eventually('a line', async () => good.line() !== undefined)
})
