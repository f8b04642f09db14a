import { createSocket } from 'node:dgram'
import { expect, test } from 'vitest'
import { createDelegation } from './addresses.ts'

/**
 * A parent zone on loopback that refers every name to a name server at a private address, on its
 * own port.
 */
async function referrer(): Promise<{ port: number; asked: string[]; close(): void }> {
  const queries: string[] = []
  const parent = createSocket('udp4')
  const inside = createSocket('udp4')
  await new Promise<void>((resolve) => parent.bind(0, '127.0.0.1', resolve))
  const { port } = parent.address()
  await new Promise<void>((resolve) => inside.bind(port, '127.0.0.7', resolve))
  inside.on('message', () => queries.push('127.0.0.7'))
  parent.on('message', (query, from) => {
    queries.push('parent')
    // A referral: com NS ns.inside.com, with the glue 127.0.0.7.
    const name = Buffer.from('\x03com\x00', 'latin1')
    const host = Buffer.from('\x02ns\x06inside\x03com\x00', 'latin1')
    const fixed = (type: number, length: number): Buffer => {
      const bytes = Buffer.alloc(10)
      bytes.writeUInt16BE(type, 0)
      bytes.writeUInt16BE(1, 2)
      bytes.writeUInt32BE(300, 4)
      bytes.writeUInt16BE(length, 8)
      return bytes
    }
    let end = 12
    while (query[end] !== 0) end += (query[end] ?? 0) + 1
    const head = Buffer.from(query.subarray(0, end + 5))
    head.writeUInt16BE(0x8000, 2)
    head.writeUInt16BE(1, 4)
    head.writeUInt16BE(0, 6)
    head.writeUInt16BE(1, 8)
    head.writeUInt16BE(1, 10)
    const ns = [name, fixed(2, host.length), host]
    const glue = [host, fixed(1, 4), Buffer.from([127, 0, 0, 7])]
    parent.send(Buffer.concat([head, ...ns, ...glue]), from.port, from.address)
  })
  return {
    port,
    asked: queries,
    close() {
      parent.close()
      inside.close()
    },
  }
}

test('private name servers are asked in the sandbox only', async () => {
  const world = await referrer()
  const check = (withSandbox: boolean) =>
    createDelegation({
      roots: [`127.0.0.1:${world.port}`],
      withSandbox,
      own: { addresses: [], port: 53, names: ['ns1.dns.example', 'ns2.dns.example'] },
      sites: { addresses: async () => [], certificateIssuers: [] },
    }).check({ domain: 'shop.com', expected: ['ns1.dns.example', 'ns2.dns.example'] })
  try {
    await check(false)
    expect(world.asked).toContain('parent')
    expect(world.asked).not.toContain('127.0.0.7')
    await check(true)
    expect(world.asked).toContain('127.0.0.7')
  } finally {
    world.close()
  }
}, 60_000)
