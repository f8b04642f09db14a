/** A connection that the server ends in the moment in which it begins. */
import net from 'node:net'
import { expect, test } from 'vitest'
import { openPool } from './database-client.ts'

/** A message of PostgreSQL's protocol: its type, its length, and what it says. */
const message = (type: string, content: Buffer): Buffer => {
  const head = Buffer.alloc(5)
  head.write(type)
  head.writeInt32BE(content.length + 4, 1)
  return Buffer.concat([head, content])
}
const ready = Buffer.concat([
  message('R', Buffer.alloc(4)),
  message('Z', Buffer.from('I')),
  message('E', Buffer.from('SFATAL\0C57P01\0Mterminating connection\0\0')),
])

test('fails the query that waits for it, and nothing else', async () => {
  const server = net.createServer((socket) => {
    socket.on('error', () => undefined)
    socket.once('data', () => socket.end(ready))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as net.AddressInfo
  const settings = { application_name: 'test' }
  const pool = openPool(`postgres://an@127.0.0.1:${port}/an`, 1, settings, () => undefined)
  try {
    // An error event without a listener would end the test run.
    await expect(pool.query('select 1')).rejects.toThrow()
  } finally {
    await pool.end()
    await new Promise((resolve) => server.close(resolve))
  }
})
