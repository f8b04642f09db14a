/** Who may visit a server: its owner sets a password, and denies networks. */
import http from 'node:http'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { SiteVisitors } from '../../contract/wordpress-visitors.ts'
import {
  eventually,
  openTestPortal,
  type TestCustomer,
  type TestPortal,
} from '../../test/portal.ts'

const order = {
  size: 1,
  region: 1,
  disk: 10_240,
  mariadb_disk_size: 10_240,
  user: 'an',
  password: 'Mat-khau-9!',
  replicate: 1,
}
let portal: TestPortal
let owner: TestCustomer
let id: string
let host: string
beforeAll(async () => {
  portal = await openTestPortal({ env: { SITES_DOMAIN: 'sites.example.net' } })
  owner = await portal.customer()
  await portal.topUp(owner, 5_000_000)
  ;({ id } = (
    await portal.call<{ id: string }>('POST', '/api/wp', { token: owner.token, body: order })
  ).body.result)
  await eventually('the server runs', async () => {
    const { result } = (await call<{ status: string; name: string }>('GET', '')).body
    host = `${result.name}.sites.example.net`
    return result.status === 'running'
  })
})
afterAll(() => portal.close())

const call = <T = SiteVisitors>(method: string, path: string, body?: unknown, token?: string) =>
  portal.call<T>(method, `/api/wp/${id}${path}`, { token: token ?? owner.token, body })
const visit = (auth?: string): Promise<number> =>
  new Promise((resolve, reject) => {
    http
      .get(
        {
          host: '127.0.0.1',
          port: portal.config.SITES_PORT,
          headers: { host },
          agent: false,
          ...(auth === undefined ? {} : { auth }),
        },
        (answer) => resolve(answer.resume().statusCode ?? 0),
      )
      .once('error', reject)
  })
const visited = (status: number, auth?: string): Promise<unknown> =>
  eventually(`a visit that is answered ${status}`, async () => (await visit(auth)) === status)

test('everybody may visit it at first', async () => {
  expect((await call('GET', '/visitors')).body.result).toEqual({
    user: null,
    denied: [],
    address: '127.0.0.1',
  })
  await visited(200)
})

test('with a password only who knows it, until it is taken away', async () => {
  const { body } = await call('PUT', '/visitors/password', {
    user: ' khach ',
    password: 'mo cua ra',
  })
  expect(body.result).toMatchObject({ user: 'khach' })
  expect(JSON.stringify(body)).not.toContain('mo cua')
  await visited(401)
  expect(await visit('khach:mo cua ra')).toBe(200)
  expect((await call('DELETE', '/visitors/password')).body.result.user).toBeNull()
  await visited(200)
})

test('a network that is denied is told so, and nobody denies himself', async () => {
  const own = await call('PUT', '/visitors/denied', { networks: ['127.0.0.0/8'] })
  expect(own).toMatchObject({
    status: 422,
    body: { error: { fields: { networks: expect.stringContaining('127.0.0.0/8') as string } } },
  })
  expect(
    (await call('PUT', '/visitors/denied', { networks: ['192.0.2.9/24'] })).body.result.denied,
  ).toEqual(['192.0.2.0/24'])
  // The visitors of this test come from here, so the list is stored as if made elsewhere.
  await portal.app.db
    .updateTable('site')
    .set({ denied_networks: ['127.0.0.1'] })
    .where('id', '=', id)
    .execute()
  expect(
    (await call('PUT', '/visitors/password', { user: 'a', password: '12345678' })).status,
  ).toBe(200)
  await visited(403)
  expect((await call('PUT', '/visitors/denied', { networks: [] })).body.result.denied).toEqual([])
  await visited(401)
})

test.each([
  ['/visitors/password', { user: 'a:b', password: '12345678' }, 'user'],
  ['/visitors/password', { user: '', password: '12345678' }, 'user'],
  ['/visitors/password', { user: 'a', password: '1234567' }, 'password'],
  ['/visitors/denied', { networks: ['everybody'] }, 'networks'],
  ['/visitors/denied', { networks: Array.from({ length: 201 }, () => '192.0.2.1') }, 'networks'],
])('%s refuses %j', async (path, body, field) => {
  expect(await call('PUT', path, body)).toMatchObject({
    status: 422,
    body: { error: { code: 'invalid_input', fields: { [field]: expect.any(String) as string } } },
  })
})

test('it is nobody else’s to say', async () => {
  const other = await portal.customer()
  expect((await call('GET', '/visitors', undefined, other.token)).status).toBe(404)
  expect((await call('DELETE', '/visitors/password', undefined, other.token)).status).toBe(404)
  expect((await call('PUT', '/visitors/denied', { networks: [] }, other.token)).status).toBe(404)
})
