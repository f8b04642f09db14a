/**
 * The Cloudflare driver against its stand-in, which validates every request by the published
 * schema.
 */
import { expect, test } from 'vitest'
import { openCloudflare } from '../../../../sandbox/cloudflare/index.ts'
import { openNameServer, type NameServer } from '../../../../sandbox/name-server.ts'
import { askFor } from '../../../../test/dns-question.ts'
import { openHttp } from '../../../../test/http-server.ts'
import type { DnsDriver } from '../../driver.ts'
import { conformance } from '../conformance.ts'
import { createCloudflare } from './index.ts'
import { settings } from './settings.ts'

async function open({ changesPerCall = 200 } = {}): Promise<{
  driver: DnsDriver
  url: string
  names: NameServer
  close(): Promise<void>
}> {
  const standIn = openCloudflare({ apiToken: 'token', changesPerCall })
  const log = (line: string): void => {
    throw new Error(line)
  }
  const http = await openHttp(standIn.routes)
  const names = await openNameServer({
    host: '127.0.0.1',
    port: 0,
    answer: (question) => standIn.answer(question),
    log,
  })
  const url = `${http.url}/client/v4`
  const driver = createCloudflare(
    settings.parse({ url, apiToken: 'token', accountId: 'account', minTtlSeconds: 30 }),
  )
  return {
    driver,
    url,
    names,
    close: async () => void (await Promise.all([http.close(), names.close()])),
  }
}

conformance('cloudflare (stand-in)', async () => {
  const { driver, names, close } = await open()
  return { driver, ask: askFor(names.port), settlesMs: 5000, ownNameServers: false, dispose: close }
})

const head = {
  id: '0190a3f4-0000-7000-8000-000000000001',
  name: 'shop.example',
  serial: 1,
  nameServers: ['ns1.dns.example', 'ns2.dns.example'],
  apexTtlSeconds: 3600,
  soa: {
    contact: 'hostmaster.dns.example',
    refresh: 7200,
    retry: 900,
    expire: 1_209_600,
    minimum: 60,
  },
}
const api = async (
  url: string,
  path: string,
  body?: object,
): Promise<{ result: { id: string; name: string; type: string }[] }> =>
  (await (
    await fetch(`${url}${path}`, {
      headers: { authorization: 'Bearer token' },
      ...(body && { method: 'POST', body: JSON.stringify(body) }),
    })
  ).json()) as { result: { id: string; name: string; type: string }[] }

test('a proxied name is answered with the addresses of the proxy', async () => {
  const { driver, names, close } = await open()
  await driver.putZone(head, [
    {
      name: 'www.shop.example',
      type: 'A',
      ttlSeconds: 300,
      proxied: true,
      values: ['203.0.113.7'],
    },
  ])
  const told = await askFor(names.port)('www.shop.example', 'A')
  expect(told).toEqual({ rcode: 'NOERROR', values: ['192.0.2.250'], ttlSeconds: 300 })
  await close()
})

test('zones and records of the account that are not ours stay as they are', async () => {
  const { driver, url, close } = await open()
  await api(url, '/zones', { name: 'private.example', account: { id: 'account' } })
  await driver.putZone(head, [])
  expect(await driver.list()).toEqual(['shop.example'])
  expect(await driver.held('private.example')).toBeUndefined()
  await close()
})

test('what has not changed is not written again', async () => {
  const { driver, url, close } = await open()
  const sets = [
    {
      name: 'shop.example',
      type: 'TXT' as const,
      ttlSeconds: 300,
      proxied: false,
      values: ['one', 'hai "2"'],
    },
  ]
  await driver.putZone(head, sets)
  const zone = (await api(url, '/zones?name=shop.example')).result[0]?.id ?? ''
  const ids = async (): Promise<string[]> =>
    (await api(url, `/zones/${zone}/dns_records?name=shop.example`)).result
      .map(({ id }) => id)
      .toSorted()
  const before = await ids()
  await driver.putZone({ ...head, serial: 2 }, sets)
  expect(await ids()).toEqual(before)
  await close()
})

test('the fewest permitted changes a call carry a zone over; fewer are refused', async () => {
  const few = { apiToken: 'token', accountId: 'account', changesPerCall: 3 }
  for (const changesPerCall of [2, 0, -1, 3.5])
    expect(settings.safeParse({ ...few, changesPerCall }).success, String(changesPerCall)).toBe(
      false,
    )
  const { url, close } = await open({ changesPerCall: few.changesPerCall })
  const driver = createCloudflare(settings.parse({ ...few, url }))
  const values = ['one', 'two', 'three', 'four', 'five']
  const sets = [
    { name: 'shop.example', type: 'TXT' as const, ttlSeconds: 300, proxied: false, values },
  ]
  await driver.putZone(head, sets)
  await driver.putZone(
    { ...head, serial: 2 },
    sets.map((set) => ({ ...set, values: values.slice(1) })),
  )
  expect(await driver.held('shop.example')).toEqual({ id: head.id, serial: 2 })
  const zone = (await api(url, '/zones?name=shop.example')).result[0]?.id ?? ''
  expect((await api(url, `/zones/${zone}/dns_records?name=shop.example`)).result).toHaveLength(4)
  await close()
})

test('a wrong token is a rejection, and the health says so', async () => {
  const { url, close } = await open()
  const driver = createCloudflare(settings.parse({ url, apiToken: 'wrong', accountId: 'account' }))
  await expect(driver.putZone(head, [])).rejects.toMatchObject({ kind: 'rejected' })
  expect(await driver.health()).toBe('cloudflare: GET: status 403')
  await close()
})
