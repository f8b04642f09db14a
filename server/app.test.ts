/**
 * The portal from outside, for an operator and a stranger: health, metrics, the API's own
 * description, public data, and long lists.
 */
import { sql } from 'kysely'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import * as contract from '../contract/index.ts'
import { endpoints } from '../test/endpoints.ts'
import {
  eventually,
  openTestPortal,
  type Answer,
  type TestCustomer,
  type TestPortal,
} from '../test/portal.ts'
import { transaction } from './platform/db.ts'
import { lockKeys } from './platform/lock-keys.ts'

const token = 'a token for the metrics'
let portal: TestPortal
let an: TestCustomer
beforeAll(async () => {
  portal = await openTestPortal({ env: { METRICS_TOKEN: token, TRUST_PROXY: 'on' } })
  an = await portal.customer()
})
afterAll(() => portal.close())

describe('the API describes itself', () => {
  type Json = Record<string, unknown>
  interface Document {
    openapi: string
    info: Json
    paths: Record<
      string,
      Record<
        string,
        {
          summary: string
          security: Json[]
          parameters: { $ref?: string; name: string; in: string; required: boolean; schema: Json }[]
          requestBody?: Json
          responses: Record<string, Json>
        }
      >
    >
    components: Record<string, Json>
  }
  const read = async (): Promise<Document> =>
    JSON.parse((await portal.call('GET', '/api/openapi.json')).text) as Document
  test('every endpoint of the contract is served and described', async () => {
    const { paths } = await read()
    expect(endpoints.length).toBeGreaterThan(20)
    for (const { method, path, summary } of endpoints)
      expect(
        paths[path.replace(/:(\w+)/g, '{$1}')]?.[method.toLowerCase()]?.summary,
        `${method} ${path}`,
      ).toBe(summary)
    expect(Object.values(paths).flatMap((operations) => Object.keys(operations))).toHaveLength(
      endpoints.length,
    )
  })

  test('as OpenAPI 3.1 wants it', async () => {
    const document = await read()
    expect(document.openapi).toMatch(/^3\.1\.\d+$/)
    expect(document.info).toMatchObject({
      title: expect.any(String) as string,
      version: expect.any(String) as string,
    })
    const find = (ref: string): unknown =>
      ref
        .slice(2)
        .split('/')
        .reduce<unknown>((at, key) => (at as Json | undefined)?.[key], document)
    const walk = (value: unknown): void => {
      if (typeof value !== 'object' || value === null) return
      for (const [key, inner] of Object.entries(value)) {
        if (key === '$ref') {
          expect(inner).toMatch(/^#\//)
          expect(find(inner as string), inner as string).toBeDefined()
        } else walk(inner)
      }
    }
    walk(document)
    for (const [path, operations] of Object.entries(document.paths)) {
      expect(path).toMatch(/^\/api\//)
      for (const [method, operation] of Object.entries(operations)) {
        const where = `${method} ${path}`
        const inPath = operation.parameters.filter((parameter) => parameter.in === 'path')
        expect(
          inPath.map(({ name }) => name),
          where,
        ).toEqual([...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name))
        for (const parameter of operation.parameters)
          if (parameter.$ref === undefined) expect(parameter.schema, where).toHaveProperty('type')
        for (const parameter of inPath) expect(parameter.required, where).toBe(true)
        expect(Object.keys(operation.responses), where).toContain('default')
        expect(
          Object.keys(operation.responses).some((status) => status === '200' || status === '201'),
          where,
        ).toBe(true)
        for (const need of operation.security)
          for (const name of Object.keys(need))
            expect(document.components['securitySchemes'], where).toHaveProperty(name)
        if (method === 'get') expect(operation.requestBody, where).toBeUndefined()
      }
    }
  })

  test('with the form that Pusher’s libraries send', async () => {
    const { paths } = await read()
    const form = { schema: expect.any(Object) as object }
    expect(paths['/api/v1/auth/pusher']?.['post']?.requestBody).toEqual({
      required: true,
      content: { 'application/json': form, 'application/x-www-form-urlencoded': form },
    })
  })

  test('/api/docs is a page', async () => {
    for (const path of ['/api/docs', '/api/docs/']) {
      const { status, headers, text } = await portal.call('GET', path)
      expect([status, headers.get('content-type')]).toEqual([
        200,
        expect.stringContaining('text/html'),
      ])
      expect(text).toContain('swagger-ui')
    }
  })
})

describe('what anybody may read', () => {
  test('GET /api/config', async () => {
    const { status, body } = await portal.call<{ regions: unknown[]; realtime: object }>(
      'GET',
      '/api/config',
    )
    expect(status).toBe(200)
    // The result holds no field that the document does not describe.
    expect(contract.system.Config.parse(body.result)).toEqual(body.result)
    expect(body.result).toMatchObject({
      products: {
        wordpress: true,
        antiDdos: true,
        hosting: true,
        dns: true,
        paas: true,
        svm: false,
        smsOtp: false,
        cloudDatabase: false,
      },
      regions: [
        { code: 'VN', currency: 'VND', language: 'vi' },
        { code: 'USD', currency: 'USD', language: 'en' },
        { code: 'EURO', currency: 'EUR', language: 'en' },
        { code: 'AUD', currency: 'AUD', language: 'aud' },
      ],
      cards: {
        provider: expect.any(String) as string,
        publishableKey: expect.any(String) as string,
      },
      realtime: {
        key: expect.stringMatching(/./) as string,
        wsHost: '127.0.0.1',
        wsPort: portal.config.PORT,
        forceTLS: false,
        authEndpoint: '/api/v1/auth/pusher',
      },
      sandbox: true,
    })
    expect(JSON.stringify(body)).not.toMatch(/secret/i)
  })

  test.each([
    ['ha noi', 'Hà Nội'],
    ['HA NOI', 'Hà Nội'],
    ['Hà Nội', 'Hà Nội'],
    ['Hà Nội'.normalize('NFD'), 'Hà Nội'],
    ['dong da', 'Đống Đa'],
    ['đà n', 'Đà Nẵng'],
    ['ho chi minh', 'TP. Hồ Chí Minh'],
    ['koln', 'Köln'],
  ])('the search for %s finds %s', async (search, name) => {
    const { body } = await portal.call<
      { id: string; name: string; type: string; country: string }[]
    >('GET', `/api/locations/search?search=${encodeURIComponent(search)}`)
    expect(body.result[0]).toEqual({
      id: expect.stringMatching(/^[a-z0-9-]+$/) as string,
      name,
      type: expect.stringMatching(/^(province|city|district)$/) as string,
      country: expect.stringMatching(/^[A-Z]{2}$/) as string,
    })
  })
  test('a long answer comes in pages, each place once', async () => {
    const all = await portal.call<{ id: string }[]>(
      'GET',
      '/api/locations/search?search=chau&limit=100',
    )
    const found: string[] = []
    for (let cursor: string | null = ''; cursor !== null;) {
      const { body }: Answer<{ id: string }[]> = await portal.call(
        'GET',
        `/api/locations/search?search=chau&limit=7${cursor && `&cursor=${cursor}`}`,
      )
      expect(body.result.length).toBeLessThanOrEqual(7)
      found.push(...body.result.map(({ id }) => id))
      cursor = body.page?.next ?? null
    }
    expect(found.length).toBeGreaterThan(14)
    expect(found).toEqual(all.body.result.map(({ id }) => id))
    expect((await portal.call('GET', '/api/locations/search?search=chau&limit=0')).status).toBe(422)
  })
  test('no text, no places; no nonsense either', async () => {
    for (const query of ['', '?search=', '?search=%20', '?search=.*', '?search=atlantis'])
      expect(
        (await portal.call('GET', `/api/locations/search${query}`)).body.result,
        query,
      ).toEqual([])
    expect(
      (await portal.call('GET', `/api/locations/search?search=${'x'.repeat(101)}`)).status,
    ).toBe(422)
    expect((await portal.call('GET', '/api/locations/search?search=a&search=b')).status).toBe(422)
  })
})

describe('metrics', () => {
  const ask = (headers: Record<string, string>) => portal.call('GET', '/metrics', { headers })
  const known = { authorization: `Bearer ${token}` }
  test('with the token, for behind a proxy every caller comes from this machine', async () => {
    expect((await ask({})).status).toBe(404)
    const here = await ask(known)
    expect(here.status).toBe(200)
    expect(here.headers.get('content-type')).toMatch(/^text\/plain/)
    expect(here.text).toMatch(
      new RegExp(
        /^http_request_duration_seconds_count\{route="\/api\/config",/.source +
          /method="GET",status="200"\} [1-9]/.source,
        'm',
      ),
    )
    expect(here.text).toMatch(/^ledger_findings 0$/m)
    expect(here.text).toMatch(/^ledger_check_failed 0$/m)
    expect(here.text).toMatch(/^ledger_check_good_timestamp_seconds \d/m)
    expect(
      (await ask({ 'x-forwarded-for': '203.0.113.5', authorization: `Bearer ${token}` })).status,
    ).toBe(200)
  })
  test('nobody else, whatever they claim', async () => {
    for (const headers of [
      {},
      { authorization: `Bearer ${token}x` },
      { authorization: token },
      { authorization: 'Bearer ' },
    ])
      expect((await ask({ 'x-forwarded-for': '203.0.113.5', ...headers })).status).toBe(404)
    expect((await ask({ 'x-forwarded-for': '127.0.0.1, 203.0.113.5' })).status).toBe(404)
  })
  test('ids do not become labels', async () => {
    await portal.call('GET', '/api/wp/one-of-many', { token: an.token })
    await portal.call('GET', '/api/nothing/one-of-many')
    expect((await ask(known)).text).not.toContain('one-of-many')
  })
})

describe('the transaction log', () => {
  interface Entry {
    id: string
    amount: number
    ending_balance: number
    created: number
  }
  const list = async (query = '') =>
    (await portal.call<Entry[]>('GET', `/api/payments/stripe${query}`, { token: an.token })).body
  let n = 0
  const credit = (amount: bigint) =>
    transaction(portal.app.db, (tx) =>
      portal.app.ledger.credit(tx, {
        key: `story:${n++}`,
        customerId: an.id,
        driver: 'vnpay',
        amount,
        currency: 'VND',
        details: { provider: 'VNPay' },
      }),
    )
  const charge = (amount: bigint) =>
    transaction(portal.app.db, (tx) =>
      portal.app.ledger.charge(tx, {
        key: `story:${n++}`,
        customerId: an.id,
        product: 'wordpress',
        amount,
        currency: 'VND',
        details: { invoice: 'VN-1' },
      }),
    )

  test('newest first, in pages, without a gap or a double while new entries arrive', async () => {
    for (let i = 1; i <= 120; i++) await (i % 4 === 0 ? charge(10n) : credit(1000n + BigInt(i)))
    const whole: Entry[] = []
    let cursor: string | null = null
    let pages = 0
    do {
      const page: Awaited<ReturnType<typeof list>> = await list(
        `?limit=25${cursor === null ? '' : `&cursor=${cursor}`}`,
      )
      whole.push(...page.result)
      cursor = page.page?.next ?? null
      pages += 1
      await credit(5n)
    } while (cursor !== null)
    expect([pages, whole.length, new Set(whole.map(({ id }) => id)).size]).toEqual([5, 120, 120])
    // Each entry's balance must follow from the next older one in the list.
    for (const [at, entry] of whole.entries())
      expect(entry.ending_balance - entry.amount).toBe(whole[at + 1]?.ending_balance ?? 0)
    const spent = await list('?direction=out&limit=100')
    expect([
      spent.result.length,
      spent.result.every(({ amount }) => amount === -10),
      spent.page,
    ]).toEqual([30, true, { next: null }])
    await portal.ledgerHolds()
  })
  test('50 unless told; 1 to 100', async () => {
    expect((await list()).result).toHaveLength(50)
    expect((await list('?limit=1')).result).toHaveLength(1)
    expect((await list('?limit=100')).result).toHaveLength(100)
    expect((await list('?limit=100')).result[0]?.created).toBeCloseTo(Date.now() / 1000, -2)
  })
  test.each([
    'limit=0',
    'limit=101',
    'limit=-1',
    'limit=1.5',
    'limit=x',
    'limit=',
    'limit=1&limit=2',
    'cursor=',
    'cursor=x',
    'cursor=djE6',
    'cursor=djE6LTE',
    `cursor=${'A'.repeat(201)}`,
    'cursor=v1:5',
    'direction=up',
    'limit=1e999',
  ])('?%s is refused', async (query) => {
    const { status, body } = await portal.call('GET', `/api/payments/stripe?${query}`, {
      token: an.token,
    })
    expect([status, Object.keys(body.error?.fields ?? {})]).toEqual([422, [query.split('=')[0]]])
  })
})

describe('health', () => {
  const ready = async () => {
    const { status, text } = await portal.call('GET', '/readyz', {
      headers: { authorization: `Bearer ${token}` },
    })
    const { notReady } = JSON.parse(text) as { notReady?: Record<string, string> }
    return { status, ...(notReady && { notReady }) }
  }
  test('up and ready', async () => {
    expect((await portal.call('GET', '/healthz')).text).toBe('{"status":"up"}')
    expect(await ready()).toEqual({ status: 200 })
  })

  test('a worker that the others lost shows itself again; its stop waits for none', async () => {
    // The same query with which a starting portal checks whether it is alone.
    const next = new pg.Client({ connectionString: portal.databaseUrl })
    await next.connect()
    const isAlone = async () =>
      (await next.query('select pg_try_advisory_lock($1) as alone', [lockKeys.jobWorkers]))
        .rows as unknown
    const release = () => next.query('select pg_advisory_unlock($1)', [lockKeys.jobWorkers])
    /**
     * The connection that shows the worker breaks, and the next portal has the lock before it is
     * taken again.
     */
    async function hidden(): Promise<void> {
      const has = next.query('select pg_advisory_lock($1)', [lockKeys.jobWorkers])
      const { db } = portal.app
      await eventually('the next one waits', async () => {
        const { rows } = await sql`select from pg_locks where locktype = 'advisory'
            and objid = ${lockKeys.jobWorkers} and not granted`.execute(db)
        return rows.length > 0
      })
      await sql`
        select pg_terminate_backend(pid) from pg_stat_activity
        where application_name = 'portal-presence' and datname = current_database()
      `.execute(db)
      await has
      await eventually(
        'not ready',
        async () => (await ready()).notReady?.['jobs'] === 'the job worker has no lease',
      )
    }
    expect(await isAlone()).toEqual([{ alone: false }])
    await hidden()
    await release()
    await eventually('ready again', async () => (await ready()).status === 200)
    expect(await isAlone()).toEqual([{ alone: false }])

    await hidden()
    const began = performance.now()
    await portal.reopen({}, async () => {
      expect(performance.now() - began).toBeLessThan(5000)
      await release()
    })
    expect(await ready()).toEqual({ status: 200 })
    expect(await isAlone()).toEqual([{ alone: false }])
    await next.end()
  })

  test('without its database: up, not ready, calls answer 503; it recovers by itself', async () => {
    const name = new URL(portal.databaseUrl).pathname.slice(1)
    const admin = new pg.Client({ connectionString: inject('adminUrl') })
    await admin.connect()
    await admin.query(`alter database ${name} allow_connections false`)
    await admin.query('select pg_terminate_backend(pid) from pg_stat_activity where datname = $1', [
      name,
    ])
    const down = await eventually('not ready', async () => {
      const answer = await ready()
      return answer.status === 503 && answer.notReady?.['realtime'] ? answer : undefined
    })
    expect(Object.keys(down.notReady ?? {})).toEqual(
      expect.arrayContaining(['database', 'realtime']),
    )
    expect(JSON.stringify(down)).not.toMatch(/postgres|connect |ECONN|test_[0-9a-f]{6}|password/i)
    expect((await portal.call('GET', '/healthz')).status).toBe(200)
    expect((await portal.call('GET', '/api/config')).status).toBe(200)
    const call = await portal.call('GET', '/api/v1/auth/me', { token: an.token })
    expect([
      call.status,
      call.body.error?.code,
      Number(call.headers.get('retry-after')) > 0,
    ]).toEqual([503, 'unavailable', true])
    await admin.query(`alter database ${name} allow_connections true`)
    await admin.end()
    await eventually('ready again', async () => (await ready()).status === 200)
    expect((await portal.call('GET', '/api/v1/auth/me', { token: an.token })).status).toBe(200)
  })
})
