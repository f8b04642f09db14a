/** The wire as a stranger meets it: envelopes, refusals, languages and sizes. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  openTestPortal,
  type Answer,
  type TestCustomer,
  type TestPortal,
} from '../../test/portal.ts'

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i
const checkout = '/api/payments/checkout'
const topUp = { amount: 50_000, type: 1, method: 'QRPAY' }

let portal: TestPortal
let an: TestCustomer
const lines: string[] = []
beforeAll(async () => {
  portal = await openTestPortal({ logLines: (line) => lines.push(line) })
  an = await portal.customer()
})
afterAll(() => portal.close())

const post = (path: string, body: unknown, headers: Record<string, string> = {}) =>
  portal.call('POST', path, { body, token: an.token, headers })

function refused(answer: Answer, status: number, code: string): Record<string, string> {
  expect({ status: answer.status, code: answer.body?.error?.code }, answer.text).toEqual({
    status,
    code,
  })
  expect(answer.body.statusCode).toBe(status)
  expect(answer.body.message).toMatch(/^\p{Lu}.{3,}[.!]$/u)
  expect(answer.body.error?.requestId).toMatch(uuid)
  expect(answer.headers.get('content-type')).toMatch(/^application\/json/)
  return answer.body.error?.fields ?? {}
}

describe('envelopes', () => {
  test('a success says its status twice and carries a result', async () => {
    const { status, body } = await portal.call('GET', '/api/v1/auth/me', { token: an.token })
    expect(status).toBe(200)
    expect(body).toMatchObject({ statusCode: 200, message: 'success', result: { id: an.id } })
    const list = await portal.call('GET', '/api/payments/stripe', { token: an.token })
    expect(list.body).toEqual({
      statusCode: 200,
      message: 'success',
      result: [],
      page: { next: null },
    })
  })

  test.each(['{', '{"amount":1', "{'a':1}", '{"a":}', 'undefined', '{"amount":NaN}'])(
    '%s is no JSON: 400',
    async (body) => {
      refused(await post(checkout, body), 400, 'bad_json')
    },
  )

  test('what fails its schema is named field by field', async () => {
    expect(Object.keys(refused(await post(checkout, {}), 422, 'invalid_input')).sort()).toEqual([
      'amount',
      'method',
      'type',
    ])
    expect(Object.keys(refused(await post(checkout, ''), 422, 'invalid_input')).sort()).toEqual([
      'amount',
      'method',
      'type',
    ])
    expect(Object.keys(refused(await post(checkout, 'null'), 422, 'invalid_input')).sort()).toEqual(
      ['amount', 'method', 'type'],
    )
    expect(
      Object.keys(
        refused(await post(checkout, { ...topUp, amount: '50000' }), 422, 'invalid_input'),
      ),
    ).toEqual(['amount'])
    expect(
      Object.keys(refused(await post(checkout, { ...topUp, amount: 0.5 }), 422, 'invalid_input')),
    ).toEqual(['amount'])
    expect(
      Object.keys(refused(await post(checkout, { ...topUp, amount: 1e300 }), 422, 'invalid_input')),
    ).toEqual(['amount'])
    expect(
      Object.keys(
        refused(await post(checkout, { ...topUp, method: 'CASH', type: 3 }), 422, 'invalid_input'),
      ).sort(),
    ).toEqual(['method', 'type'])
    expect(
      refused(await post(checkout, { ...topUp, amount: 100.5 }), 422, 'invalid_input'),
    ).toEqual({ amount: 'This has the wrong type.' })
    expect(refused(await post(checkout, { type: 1, method: null }), 422, 'invalid_input')).toEqual({
      amount: 'Please fill this in.',
    })
    for (const body of ['[]', '"text"', '7', 'true', '[{}]'])
      expect(refused(await post(checkout, body), 422, 'invalid_input'), body).toHaveProperty('body')
    const nested = await portal.call('POST', '/api/v1/auth/register', {
      body: {
        name: '',
        email: 'a',
        phone: 'x',
        password: 'short',
        region_code: 'MARS',
        address: { line: 5 },
      },
    })
    expect(Object.keys(refused(nested, 422, 'invalid_input')).sort()).toEqual([
      'address.line',
      'address.locationId',
      'email',
      'name',
      'password',
      'phone',
      'region_code',
    ])
  })

  test.each(['extra', 'constructor', 'toString', 'hasOwnProperty'])(
    'an unknown key is refused and named: %s',
    async (key) => {
      expect(
        Object.keys(
          refused(
            await post(checkout, JSON.stringify({ ...topUp, [key]: 1 })),
            422,
            'invalid_input',
          ),
        ),
      ).toEqual([key])
    },
  )

  test('a call that takes no body refuses one that says something', async () => {
    const id = '00000000-0000-4000-8000-000000000000'
    expect(
      refused(
        await post(`/api/payments/stripe/invoices/${id}/pay`, { amount: 5 }),
        422,
        'invalid_input',
      ),
    ).toHaveProperty('amount')
    for (const body of [undefined, '', '{}', 'null'])
      refused(await post(`/api/payments/stripe/invoices/${id}/pay`, body), 404, 'not_found')
  })

  test('text that PostgreSQL cannot hold is refused before it gets there', async () => {
    const form = {
      name: 'A',
      email: 'nul@example.vn',
      phone: '0912345678',
      password: 'Correct-horse-9',
      region_code: 'VN',
    }
    for (const bad of ['a\0b', '\ud800']) {
      expect(
        refused(
          await portal.call('POST', '/api/v1/auth/register', { body: { ...form, name: bad } }),
          422,
          'invalid_input',
        ),
      ).toHaveProperty('name')
      const address = { line: bad, locationId: 'vn-city-ha-noi' }
      expect(
        refused(
          await portal.call('POST', '/api/v1/auth/register', { body: { ...form, address } }),
          422,
          'invalid_input',
        ),
      ).toHaveProperty(['address.line'])
    }
    expect(
      refused(
        await portal.call('GET', '/api/payments/get-transaction?transactionCode=a%00b', {
          token: an.token,
        }),
        422,
        'invalid_input',
      ),
    ).toHaveProperty('transactionCode')
    refused(await portal.call('GET', '/api/invoices/a%00b'), 404, 'not_found')
    refused(await portal.call('GET', '/api/wp/%00', { token: an.token }), 404, 'not_found')
  })

  test('without a living token: 401', async () => {
    const { result } = (
      await portal.call<{ token: { accessToken: string } }>('POST', '/api/v1/auth/login', {
        body: { email: an.email, password: an.password },
      })
    ).body
    const dead = result.token.accessToken
    await portal.call('POST', '/api/v1/auth/logout', { token: dead })
    const headers = [
      {},
      ...[
        '',
        'Bearer',
        'Bearer ',
        `Bearer ${dead}`,
        `Bearer ${an.token}x`,
        `Basic ${an.token}`,
        an.token,
        `Bearer ${'x'.repeat(5000)}`,
        'Bearer \xff\xfe',
      ].map((authorization) => ({ authorization })),
    ]
    for (const header of headers)
      refused(
        await portal.call('GET', '/api/v1/auth/me', { headers: header }),
        401,
        'unauthenticated',
      )
    // An unauthenticated caller learns nothing about faults in the body either.
    refused(await portal.call('POST', checkout, { body: {} }), 401, 'unauthenticated')
  })

  test('an address under /api that does not exist: 404 in JSON, whatever the method', async () => {
    for (const method of ['GET', 'POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS'])
      refused(await portal.call(method, '/api/no/such/thing'), 404, 'not_found')
    for (const path of [
      '/api',
      '/api/',
      '/api/v1',
      '/api/V1/auth/me',
      '/apps/x',
      '/api/wp/..%2f..%2fetc%2fpasswd',
    ])
      refused(await portal.call('GET', path, { token: an.token }), 404, 'not_found')
  })

  test('an address that cannot be decoded, or is absurdly long: our own envelope', async () => {
    refused(await portal.call('GET', '/api/wp/%E0%A4%A', { token: an.token }), 404, 'not_found')
    refused(
      await portal.call('GET', `/api/wp/${'9'.repeat(5000)}`, { token: an.token }),
      404,
      'not_found',
    )
    refused(
      await portal.call('GET', `/api/wp/${'9'.repeat(200)}`, { token: an.token }),
      422,
      'invalid_input',
    )
  })

  test('more than 256 KiB: 413; just below: judged', async () => {
    refused(
      await post(checkout, JSON.stringify({ ...topUp, extra: 'x'.repeat(256 * 1024) })),
      413,
      'payload_too_large',
    )
    expect(
      refused(
        await post(checkout, JSON.stringify({ ...topUp, extra: 'x'.repeat(255 * 1024) })),
        422,
        'invalid_input',
      ),
    ).toHaveProperty('extra')
  })

  test('a body of megabytes is refused as well, and not by a connection that breaks', async () => {
    const extra = 'x'.repeat(12 * 1024 * 1024)
    for (let n = 0; n < 3; n += 1)
      refused(await post(checkout, JSON.stringify({ ...topUp, extra })), 413, 'payload_too_large')
  })

  test.each([
    'text/plain',
    'application/xml',
    'multipart/form-data; boundary=x',
    'nonsense',
    'application/jsonx',
  ])('%s is not taken: 415', async (type) => {
    refused(
      await post(checkout, JSON.stringify(topUp), { 'content-type': type }),
      415,
      'unsupported_media_type',
    )
  })

  test('deep nesting is refused, not recursed into', async () => {
    refused(
      await post(checkout, `${'['.repeat(60_000)}${']'.repeat(60_000)}`),
      422,
      'invalid_input',
    )
    refused(
      await post(checkout, `{"amount":${'{"a":'.repeat(30_000)}1${'}'.repeat(30_000)}}`),
      422,
      'invalid_input',
    )
  })
})

describe('language', () => {
  test('the message and the fields are in it', async () => {
    const vi = await post(
      checkout,
      { ...topUp, amount: 0 },
      { 'accept-language': 'vi-VN,vi;q=0.9,en;q=0.8' },
    )
    // Of one field the message is its sentence, where that says enough by itself.
    expect(vi.body.message).toBe('Nhập số tiền lớn hơn 0.')
    expect(vi.body.error?.fields).toEqual({ amount: 'Nhập số tiền lớn hơn 0.' })
    const general = await post(checkout, { amount: topUp.amount }, { 'accept-language': 'vi' })
    expect(general.body.message).toBe('Vui lòng kiểm tra lại các trường được đánh dấu.')
    const en = await post(checkout, { ...topUp, amount: 0 }, { 'accept-language': 'en' })
    expect(en.body.message).toBe('Enter an amount above 0.')
    expect(en.body.error?.fields).toEqual({ amount: 'Enter an amount above 0.' })
  })
})

describe('request ids', () => {
  test('a UUID is taken, anything else replaced; answer and failure carry it', async () => {
    const id = '7C9E6679-7425-40de-944b-e07fc1f90ae7'
    const taken = await portal.call('GET', '/api/nothing', { headers: { 'x-request-id': id } })
    expect([taken.headers.get('x-request-id'), taken.body.error?.requestId]).toEqual([id, id])
    for (const given of ['1', "' or 1=1", 'x'.repeat(300)]) {
      const made = await portal.call('GET', '/api/config', { headers: { 'x-request-id': given } })
      expect(made.headers.get('x-request-id')).toMatch(uuid)
    }
    expect(
      (
        await portal.call('GET', '/api/wp/%E0%A4%A', { headers: { 'x-request-id': id } })
      ).headers.get('x-request-id'),
    ).toBe(id)
  })
})

test('a call is a line at the default level, with its id and without what it asked', async () => {
  const id = '0d1f6a52-33a1-4d3c-8f1e-5b0f6f7f2a11'
  await portal.call('GET', '/api/locations/search?search=secret', {
    headers: { 'x-request-id': id },
  })
  await portal.call('GET', '/healthz', { headers: { 'x-request-id': id } })
  await expect.poll(() => lines.filter((line) => line.includes(id)).length).toBe(2)
  const [call, probe] = lines
    .filter((line) => line.includes(id))
    .map((line) => JSON.parse(line) as Record<string, unknown>)
  expect(call).toMatchObject({
    level: 30,
    method: 'GET',
    route: '/api/locations/search',
    status: 200,
    msg: 'request',
  })
  expect(JSON.stringify(call)).not.toContain('secret')
  expect(probe).toMatchObject({ level: 20, route: '/healthz' })
})
