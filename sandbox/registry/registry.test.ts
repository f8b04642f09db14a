/** Tests of the registry for its users: a person on its page, a program, and DNS clients. */
import dgram from 'node:dgram'
import net from 'node:net'
import { decode, encode, type DecodedPacket, type RecordType } from 'dns-packet'
import { parse } from 'tldts'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createDelegationCheck } from '../../server/dns/delegation/index.ts'
import { testDatabase } from '../../test/database.ts'
import { startSandbox, type Sandbox } from '../index.ts'

let database: Awaited<ReturnType<typeof testDatabase>>
let sandbox: Sandbox
const logged: string[] = []
const pair = ['ns1.dns.example', 'ns2.dns.example']

beforeAll(async () => {
  database = await testDatabase()
  sandbox = await startSandbox({
    host: '127.0.0.1',
    port: 0,
    databaseUrl: database.url,
    portalUrl: 'http://127.0.0.1:9',
    gateways: {},
    esms: { apiKey: 'KEY', secretKey: 'SECRET' },
    log: (line) => logged.push(line),
  })
})
afterAll(async () => {
  await sandbox?.close()
  await database?.drop()
})

const registry = async (
  method: string,
  body?: object,
  query = '',
): Promise<{ status: number; value: unknown }> => {
  const response = await fetch(`${sandbox.url}/registry.json${query}`, {
    method,
    ...(body && { body: JSON.stringify(body) }),
  })
  return { status: response.status, value: await response.json() }
}
const register = (name: string, nameservers: readonly string[], ds: readonly string[] = []) =>
  registry('POST', { name, nameservers, ds })
beforeEach(async () => {
  const { value } = await registry('GET')
  for (const { name } of value as { name: string }[])
    await registry('DELETE', undefined, `?name=${name}`)
})

function overUdp(message: Buffer): Promise<Buffer> {
  const socket = dgram.createSocket('udp4')
  return new Promise((resolve) => {
    socket.once('message', (answer) => {
      socket.close()
      resolve(answer)
    })
    socket.send(message, sandbox.registryPort, '127.0.0.1')
  })
}
function overTcp(message: Buffer): Promise<Buffer> {
  const socket = net.connect(sandbox.registryPort, '127.0.0.1')
  const length = Buffer.alloc(2)
  length.writeUInt16BE(message.length)
  socket.write(Buffer.concat([length, message]))
  return new Promise((resolve) => {
    socket.once('data', (answer: Buffer) => {
      socket.destroy()
      resolve(answer.subarray(2))
    })
  })
}
/** The answer's code, and the records in its answer, authority and additional sections. */
async function ask(name: string, type: RecordType, over = overUdp): Promise<string[]> {
  const packet = decode(
    await over(encode({ type: 'query', id: 7, questions: [{ name, type }] })),
  ) as DecodedPacket & { rcode: string }
  expect(packet.id).toBe(7)
  const texts = (records: DecodedPacket['answers']): string =>
    (records ?? [])
      .map((record) =>
        (
          `${record.type} ${record.name} ` +
          `${'data' in record && typeof record.data === 'string' ? record.data : ''}`
        ).trim(),
      )
      .join(', ')
  return [
    `${packet.rcode}${packet.flag_aa ? ' AA' : ''}`,
    texts(packet.answers),
    texts(packet.authorities),
    texts(packet.additionals),
  ]
}

describe('the register', () => {
  it('takes, changes and gives back names', async () => {
    expect(await register('Shop.VN.', ['NS1.dns.example.', 'ns2.dns.example'])).toEqual({
      status: 200,
      value: { name: 'shop.vn', nameservers: pair, ds: [] },
    })
    expect((await register('chào.com.vn', pair)).value).toMatchObject({
      name: 'xn--cho-bla.com.vn',
    })
    await register('shop.vn', ['ns.old.example'], [`12345 13 2 ${'AB'.repeat(32)}`])
    expect((await registry('GET')).value).toEqual([
      { name: 'shop.vn', nameservers: ['ns.old.example'], ds: [`12345 13 2 ${'ab'.repeat(32)}`] },
      { name: 'xn--cho-bla.com.vn', nameservers: pair, ds: [] },
    ])
    expect((await registry('DELETE', undefined, '?name=shop.vn')).status).toBe(200)
    expect((await registry('DELETE', undefined, '?name=shop.vn')).status).toBe(404)
  })

  it.each([
    [{ name: 'com.vn', nameservers: pair }, 'name'],
    [{ name: 'www.shop.vn', nameservers: pair }, 'name'],
    [{ name: 'a b.vn', nameservers: pair }, 'name'],
    [{ nameservers: pair }, 'name'],
    [{ name: 'shop.vn' }, 'nameservers'],
    [{ name: 'shop.vn', nameservers: ['-x.vn'] }, 'nameservers'],
    [
      { name: 'shop.vn', nameservers: Array.from({ length: 14 }, (_, n) => `ns${n}.x.vn`) },
      'nameservers',
    ],
    [{ name: 'shop.vn', nameservers: pair, ds: ['1 2 3'] }, 'ds'],
  ])('refuses %j', async (body, field) => {
    const { status, value } = await registry('POST', body)
    expect([status, (value as { error: string }).error.split(':')[0]]).toEqual([422, field])
    expect((await registry('GET')).value).toEqual([])
  })

  it('has a counter for people', async () => {
    const post = (fields: Record<string, string>) =>
      fetch(`${sandbox.url}/registry`, {
        method: 'POST',
        body: new URLSearchParams(fields),
        redirect: 'manual',
      })
    expect(
      (
        await post({
          act: 'save',
          name: 'shop.vn',
          nameservers: 'ns1.dns.example, ns2.dns.example',
          ds: '',
        })
      ).status,
    ).toBe(303)
    const page = await (await fetch(`${sandbox.url}/registry`)).text()
    for (const text of ['SANDBOX', 'shop.vn', 'ns1.dns.example\nns2.dns.example', 'Đăng ký'])
      expect(page).toContain(text)
    expect(await (await fetch(`${sandbox.url}/registry?name=shop.vn`)).text()).toContain(
      'value="ns1.dns.example ns2.dns.example"',
    )
    const refused = await post({ act: 'save', name: '<b>', nameservers: '' })
    expect(refused.status).toBe(422)
    expect(await refused.text()).toContain('value="&lt;b&gt;"')
    await post({ act: 'drop', name: 'shop.vn' })
    expect((await registry('GET')).value).toEqual([])
  })
})

describe('its name server', () => {
  it('is the authority of the root and of every ending', async () => {
    const ownGlue = 'A a.registry.sandbox 127.0.0.1, A b.registry.sandbox 127.0.0.1'
    expect(await ask('.', 'NS')).toEqual([
      'NOERROR AA',
      'NS . a.registry.sandbox, NS . b.registry.sandbox',
      '',
      ownGlue,
    ])
    expect(await ask('com.vn', 'NS', overTcp)).toEqual([
      'NOERROR AA',
      'NS com.vn a.registry.sandbox, NS com.vn b.registry.sandbox',
      '',
      ownGlue,
    ])
    expect(await ask('a.registry.sandbox', 'A')).toEqual([
      'NOERROR AA',
      'A a.registry.sandbox 127.0.0.1',
      '',
      '',
    ])
    expect((await ask('nobody.vn', 'A'))[0]).toBe('NXDOMAIN AA')
    expect((await ask('x.notanending', 'A'))[0]).toBe('NXDOMAIN AA')
    expect((await ask('shop.vn', 'AXFR'))[0]).toBe('REFUSED')
  })

  it('refers to the name servers of what is registered, and vouches for its keys', async () => {
    await register('shop.vn', pair, [`12345 13 2 ${'ab'.repeat(32)}`])
    const referral = [
      'NOERROR',
      '',
      'NS shop.vn ns1.dns.example, NS shop.vn ns2.dns.example, DS shop.vn',
      'A ns1.dns.example 127.0.0.1, A ns2.dns.example 127.0.0.1',
    ]
    expect(await ask('shop.vn', 'NS')).toEqual(referral)
    expect(await ask('WWW.Shop.vn', 'A')).toEqual(referral)
    expect(await ask('shop.vn', 'DS')).toEqual(['NOERROR AA', 'DS shop.vn', '', ''])
    await register('parked.vn', [])
    expect(await ask('parked.vn', 'NS')).toEqual(['NOERROR AA', '', 'SOA vn', ''])
  })

  it('takes no harm from noise', async () => {
    const socket = dgram.createSocket('udp4')
    for (let count = 0; count < 200; count++) {
      socket.send(
        Buffer.from(Array.from({ length: 30 }, (_, at) => (at * 89 + count * 57) % 256)),
        sandbox.registryPort,
        '127.0.0.1',
      )
    }
    expect((await ask('com', 'SOA'))[0]).toBe('NOERROR AA')
    socket.close()
  })

  it('is where the portal’s own check finds the truth', async () => {
    const delegation = createDelegationCheck({
      roots: [{ address: '127.0.0.1', port: sandbox.registryPort }],
      port: sandbox.registryPort,
      allowPrivateAddresses: true,
      // Stands for the portal's name server, which does not serve the name.
      ourAddresses: [{ address: '127.0.0.1', port: sandbox.registryPort }],
      ourNames: pair,
      publicSuffix: (name) => parse(name).domain === null,
    })
    const reasonOf = async (domain: string): Promise<string | undefined> =>
      (await delegation.check({ domain, expected: pair })).reason
    expect(await reasonOf('shop.vn')).toBe('not_registered')
    await register('shop.vn', ['ns1.old.example'])
    expect(await reasonOf('shop.vn')).toBe('other_nameservers')
    await register('shop.vn', [pair[0] as string, 'ns1.old.example'])
    expect(await reasonOf('shop.vn')).toBe('extra_nameservers')
    await register('shop.vn', pair, [`1 13 2 ${'ab'.repeat(32)}`])
    expect(await reasonOf('shop.vn')).toBe('stale_ds')
    await register('shop.vn', pair)
    expect(await reasonOf('shop.vn')).toBe('not_answering')
    expect(await reasonOf('com.vn')).toBe('public_suffix')
  })
})
