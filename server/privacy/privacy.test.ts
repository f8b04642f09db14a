/** A customer downloads all data stored about them, and nobody else's. */
import { readFileSync } from 'node:fs'
import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { rateLimits } from '../../contract/rate-limits.ts'
import { owners } from '../../test/tables.ts'
import { orderServer } from '../../test/ordered-servers.ts'
import {
  eventually,
  openTestPortal,
  type TestCustomer,
  type TestPortal,
} from '../../test/portal.ts'
import { stepOf, totpAt } from '../auth/totp.ts'
import { notStored, stored } from './stored.ts'

let portal: TestPortal
beforeAll(async () => {
  portal = await openTestPortal()
})
afterAll(() => portal.close())

type File = Readonly<Record<string, readonly Readonly<Record<string, unknown>>[]>>
const fetchData = (token: string) =>
  fetch(`${portal.url}/api/v1/account/data`, { headers: { authorization: `Bearer ${token}` } })
async function dataOf(customer: TestCustomer): Promise<{ text: string; file: File }> {
  const answer = await fetchData(customer.token)
  expect(answer.status).toBe(200)
  expect(answer.headers.get('content-disposition')).toMatch(/filename="data-[\d-]+\.json"/)
  const text = await answer.text()
  return { text, file: JSON.parse(text) as File }
}

describe('the file', () => {
  test('has account, money, servers, domains and letters, and nobody else’s', async () => {
    const [an, binh] = [await portal.customer(), await portal.customer()]
    for (const each of [an, binh]) {
      await portal.topUp(each, 500_000)
      await orderServer(portal, each)
    }
    await portal.call('POST', '/api/dns', { token: an.token, body: { name: 'du-lieu-an.vn' } })
    const { body } = await portal.call<{ secret: string }>('POST', '/api/v1/account/tokens', {
      token: an.token,
      body: { name: 'Backup', scopes: ['servers:read'], password: an.password },
    })
    const { text, file } = await dataOf(an)
    expect(file['customer']).toMatchObject([{ id: an.id, email: an.email }])
    expect(file['payment']).toMatchObject([{ amount: 500_000, currency: 'VND' }])
    expect(file['invoice']).toHaveLength(1)
    expect(file['invoice_line']).toMatchObject([{ invoice_id: file['invoice']?.[0]?.['id'] }])
    expect(file['site']).toHaveLength(1)
    expect(file['dns_zone']).toMatchObject([{ shown_name: 'du-lieu-an.vn' }])
    expect(file['program_token']).toMatchObject([{ name: 'Backup' }])
    expect(file['message']?.length).toBeGreaterThan(0)
    // The wallet's entries, newest last, end at its balance.
    const [wallet] = file['ledger_account'] ?? []
    expect(file['ledger_entry']?.at(-1)?.['ending_balance']).toBe(wallet?.['balance'])
    expect(file['ledger_transfer']).toHaveLength(file['ledger_entry']?.length ?? -1)
    for (const others of [binh.id, binh.email, binh.phone]) expect(text).not.toContain(others)
    const hash = await portal.app.db
      .selectFrom('customer')
      .select('password_hash')
      .where('id', '=', an.id)
      .executeTakeFirstOrThrow()
    for (const secret of [body.result.secret, hash.password_hash, an.password])
      expect(text).not.toContain(secret)
  })

  test('is read in pieces, however much there is', async () => {
    const an = await portal.customer()
    await sql`
      insert into sign_in (customer_id, at, ip, user_agent, outcome)
      select ${an.id}, now(), '203.0.113.9', 'agent ' || n, 'failed'
      from generate_series(1, 1234) n`.execute(portal.app.db)
    const { file } = await dataOf(an)
    const agents = (file['sign_in'] ?? []).map(({ user_agent: agent }) => agent)
    expect(agents.filter((agent) => String(agent).startsWith('agent '))).toEqual(
      Array.from({ length: 1234 }, (_, index) => `agent ${index + 1}`),
    )
  })

  test('is told by a letter, and given out so many times a day', async () => {
    const an = await portal.customer()
    for (let count = 0; count < rateLimits['data-export'].attempts; count++)
      expect((await fetchData(an.token)).status).toBe(200)
    expect((await fetchData(an.token)).status).toBe(429)
    await eventually('the letter comes', async () =>
      (await portal.inbox(an.email)).some(({ text }) => text.includes('127.0.0.1')),
    )
    expect((await fetch(`${portal.url}/api/v1/account/data`)).status).toBe(401)
  })

  test('asks again for a second factor', async () => {
    const an = await portal.customer()
    const { token } = an
    const { body } = await portal.call<{ secret: string }>(
      'POST',
      '/api/v1/account/security/totp',
      { token, body: { password: an.password } },
    )
    const code = totpAt(body.result.secret, stepOf(new Date()))
    const on = await portal.call('POST', '/api/v1/account/security/totp/confirm', {
      token,
      body: { code },
    })
    expect(on.status).toBe(200)
    await portal.app.db
      .updateTable('session')
      .set({ proven_at: null })
      .where('customer_id', '=', an.id)
      .execute()
    const answer = await fetchData(an.token)
    expect(answer.status).toBe(403)
    expect(await answer.text()).toContain('reauthentication_required')
  })
})

describe('the list', () => {
  const columnsOf = async (): Promise<Map<string, string[]>> => {
    const tables = Object.values(owners).flat()
    const { rows } = await sql<{ table: string; column: string }>`
      select table_name as "table", column_name as "column" from information_schema.columns
      where table_schema = 'public' and table_name = any(${tables})`.execute(portal.app.db)
    const all = new Map<string, string[]>()
    for (const { table, column } of rows) all.set(table, [...(all.get(table) ?? []), column])
    return all
  }

  test('decides about each table and column of the schema, once', async () => {
    const schema = await columnsOf()
    const left = Object.values(notStored).flat()
    const listed = [...stored.map(({ table }) => table), ...left]
    expect(listed.toSorted()).toEqual([...schema.keys()].toSorted())
    for (const { table, by, columns, left: leftColumns } of stored) {
      // The column that says whose it is need not be given out.
      const link = 'column' in by && !columns.includes(by.column) ? [by.column] : []
      const decided = [...new Set([...columns, ...leftColumns, ...link])]
      expect(decided.toSorted(), table).toEqual(schema.get(table)?.toSorted())
    }
  })

  test('gives out no bytes and nothing that is sealed or hashed', () => {
    const types = readFileSync(new URL('../platform/db-types.ts', import.meta.url), 'utf8')
    for (const { table, columns } of stored) {
      const name = table.replaceAll(/(?:^|_)(\w)/g, (_, letter: string) => letter.toUpperCase())
      const [, body = ''] = new RegExp(`interface ${name} {([^}]+)}`).exec(types) ?? []
      expect(body, name).not.toBe('')
      for (const column of columns) {
        expect(column).not.toMatch(/hash|sealed|secret|fingerprint/)
        expect(body).not.toMatch(new RegExp(`^  ${column}: (?:Generated<)?Buffer`, 'm'))
      }
    }
  })
})
