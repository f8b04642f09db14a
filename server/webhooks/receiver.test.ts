/** Receivers that the portal may call: only public ones, whatever a name resolves to. */
import https from 'node:https'
import net from 'node:net'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Delivery } from '../../contract/webhooks.ts'
import { openTestDns, type TestDns } from '../../test/dns-server.ts'
import { eventually, freePort, openTestPortal, type TestPortal } from '../../test/portal.ts'
import { createAuthority } from '../../test/tls-authority.ts'
import { receiver } from '../../test/webhook-receiver.ts'
import { createDnsLookup } from '../platform/dns-lookup.ts'
import { createReceivers, publicHttps, readReceiver } from './receiver.ts'

const never = new AbortController().signal
let dns: TestDns
beforeAll(async () => {
  dns = await openTestDns()
})
afterAll(() => dns.close())
const lookup = () => createDnsLookup([dns.address])

const own = [
  'https://127.0.0.1/',
  'https://127.1/',
  'https://2130706433/',
  'https://0x7f.0.0.1/',
  'https://0.0.0.0/',
  'https://10.0.0.8/',
  'https://172.16.4.4/',
  'https://192.168.1.1/',
  'https://100.64.0.1/',
  'https://169.254.169.254/latest/meta-data/',
  'https://[::1]/',
  'https://[::]/',
  'https://[::ffff:127.0.0.1]/',
  'https://[::ffff:a9fe:a9fe]/',
  'https://[fd00:ec2::254]/',
  'https://[fe80::1]/',
  'https://224.0.0.1/',
  'https://255.255.255.255/',
]

describe('an address', () => {
  test('is one of https, of a public host, without a password, at a usual port', () => {
    const read = (url: string) => readReceiver(url, { plain: false, mayConnect: publicHttps })
    expect(read('https://hooks.example.vn/a?b=c')).toBe('https://hooks.example.vn/a?b=c')
    expect(read('https://hooks.example.vn:8443/')).toBe('https://hooks.example.vn:8443/')
    expect(read('https://203.1.113.9/')).toBe('https://203.1.113.9/')
    const refused = [
      ...own,
      'http://hooks.example.vn/',
      'https://user:pass@hooks.example.vn/',
      'https://hooks.example.vn:22/',
      'https://localhost/',
      'https://hooks/',
      'https://hooks.example.vn/#part',
      'ftp://hooks.example.vn/',
      'file:///etc/passwd',
      'hooks.example.vn',
      '',
    ]
    expect(refused.filter((url) => read(url) !== undefined)).toEqual([])
  })

  test('that is no public one is not connected to, however it came to be kept', async () => {
    const receivers = createReceivers(lookup(), publicHttps)
    for (const url of own)
      expect(await receivers.call(url, {}, '{}', never), url).toMatchObject({
        status: null,
        error: 'address_refused',
      })
  })

  test('whose name leads to a private one, too, is not connected to', async () => {
    const receivers = createReceivers(lookup(), publicHttps)
    dns.records.set('A metadata.example.vn', ['169.254.169.254'])
    dns.records.set('A both.example.vn', ['203.1.113.9', '10.0.0.8'])
    dns.records.set('A six.example.vn', ['203.1.113.9'])
    dns.records.set('AAAA six.example.vn', ['::1'])
    for (const name of ['metadata', 'both', 'six'])
      expect(
        await receivers.call(`https://${name}.example.vn/`, {}, '{}', never),
        name,
      ).toMatchObject({ error: 'address_refused' })
    expect(await receivers.call('https://nothing.example.vn/', {}, '{}', never)).toMatchObject({
      error: 'unknown_host',
    })
  })

  test('whose name changes its mind after it was judged leads where it was judged', async () => {
    const judged = await receiver('127.0.0.1')
    const other = await receiver('127.0.0.2', judged.port)
    dns.records.set('A turns.example.vn', ['127.0.0.1'])
    const receivers = createReceivers(lookup(), (address) => {
      // From now on the name resolves to another address.
      dns.records.set('A turns.example.vn', ['127.0.0.2'])
      return address === '127.0.0.1'
    })
    const url = `http://turns.example.vn:${judged.port}/hook`
    expect(await receivers.call(url, {}, '{}', never)).toMatchObject({ status: 200 })
    expect(judged.calls[0]?.headers.host).toBe(`turns.example.vn:${judged.port}`)
    // Each call resolves and checks the name again.
    expect(await receivers.call(url, {}, '{}', never)).toMatchObject({ error: 'address_refused' })
    expect([judged.calls.length, other.calls.length]).toEqual([1, 0])
  })
})

test('a certificate that nobody vouches for is no receiver’s', async () => {
  const { certificate: cert, key } = createAuthority('Nobody').certify('secure.example.vn')
  const calls: string[] = []
  const server = https.createServer({ cert, key }, (request, response) => {
    calls.push(request.url ?? '')
    response.end()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  try {
    const { port } = server.address() as AddressInfo
    dns.records.set('A secure.example.vn', ['127.0.0.1'])
    const receivers = createReceivers(lookup(), () => true)
    expect(
      await receivers.call(`https://secure.example.vn:${port}/`, {}, '{}', never),
    ).toMatchObject({ status: null, error: 'certificate' })
    expect(calls).toEqual([])
  } finally {
    server.close()
  }
})

test('a receiver that changes to another protocol, or hangs up, is a failed call', async () => {
  dns.records.set('A odd.example.vn', ['127.0.0.1'])
  const receivers = createReceivers(lookup(), () => true)
  const head = 'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n'
  for (const answer of [head, 'HTTP/1.1 200 OK\r\nContent-Le', '']) {
    const server = net.createServer((socket) => socket.once('data', () => socket.end(answer)))
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const { port } = server.address() as AddressInfo
    try {
      expect(
        await receivers.call(`http://odd.example.vn:${port}/`, {}, '{}', never),
        JSON.stringify(answer),
      ).toMatchObject({ status: null, error: 'connection' })
    } finally {
      server.close()
    }
  }
})

describe('a whole portal', () => {
  let portal: TestPortal
  beforeAll(async () => {
    portal = await openTestPortal({
      env: { DNS_RESOLVERS: dns.address },
      timing: { webhookSeconds: [] },
    })
  })
  afterAll(() => portal.close())

  test('calls nothing of its own machine but the sandbox’s receiver', async () => {
    const an = await portal.customer()
    const inside = await receiver('127.0.0.1', await freePort())
    dns.records.set('A inside.example.vn', ['127.0.0.1'])
    const add = (url: string) =>
      portal.call<{ webhook: { id: string } }>('POST', '/api/v1/account/webhooks', {
        token: an.token,
        body: { url, events: ['dns.status'] },
      })
    expect((await add(inside.url)).body.error?.fields).toHaveProperty('url')
    const outcomeOf = async (url: string): Promise<Delivery> => {
      const made = await add(url)
      expect(made.status, made.text).toBe(201)
      const { id } = made.body.result.webhook
      await portal.call('POST', `/api/v1/account/webhooks/${id}/test`, { token: an.token })
      return await eventually('it is over', async () => {
        const { body } = await portal.call<{ deliveries: Delivery[] }>(
          'GET',
          `/api/v1/account/webhooks/${id}/deliveries`,
          { token: an.token },
        )
        return body.result.deliveries.find(({ state }) => state !== 'waiting')
      })
    }
    const refused = await outcomeOf(`http://inside.example.vn:${inside.port}/hook`)
    expect(refused).toMatchObject({ state: 'failed', attempts: [{ error: 'address_refused' }] })
    expect(inside.calls).toEqual([])
    const taken = await outcomeOf(`${portal.sandboxUrl}/hooks/an`)
    expect(taken).toMatchObject({ state: 'delivered', attempts: [{ status: 200 }] })
    const came = (await (await fetch(`${portal.sandboxUrl}/hooks.json?name=an`)).json()) as {
      headers: Record<string, string>
      body: string
    }[]
    expect(came[0]).toMatchObject({ body: taken.body })
    expect(came[0]?.headers['webhook-id']).toBe(taken.id)
  })
})
