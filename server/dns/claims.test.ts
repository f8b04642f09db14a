/**
 * Claims of many accounts: each account gets its own pair while there are any; claims wait for
 * other claims only.
 */
import pg from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Domain } from '../../contract/dns.ts'
import { openTestPortal, type TestCustomer, type TestPortal } from '../../test/portal.ts'
import { lockKeys } from '../platform/lock-keys.ts'
import { checkLedger } from '../wallet/index.ts'

let portal: TestPortal
beforeAll(async () => {
  portal = await openTestPortal({ env: { DNS_NAME_SERVERS: 'ns[1-4].dns.example.net' } })
})
afterAll(() => portal.close())

let names = 0
async function claim({ token }: TestCustomer): Promise<string> {
  const made = await portal.call<Domain>('POST', '/api/dns', {
    token,
    body: { name: `claim${++names}.com` },
  })
  if (made.status !== 201) throw new Error(made.text)
  return made.body.result.nameserver.join(' ')
}
/** Holds one of the portal's locks, as another process would, while `act` runs. */
async function whileHeld(key: number, act: () => Promise<unknown>): Promise<void> {
  const other = new pg.Client({ connectionString: portal.databaseUrl })
  await other.connect()
  try {
    await other.query('select pg_advisory_lock($1)', [key])
    await act()
  } finally {
    await other.end()
  }
}

test('four name servers are six pairs: six accounts have one, the seventh shares', async () => {
  const accounts: TestCustomer[] = []
  for (let n = 0; n < 7; n++) accounts.push(await portal.customer())
  // In parallel: claims are serialized.
  const pairs = await Promise.all(accounts.slice(0, 6).map(claim))
  expect(new Set(pairs).size).toBe(6)
  expect(pairs).toContain(await claim(accounts[6] as TestCustomer))
  expect(await Promise.all(accounts.slice(0, 6).map(claim))).toEqual(pairs)
})

test('a claim does not wait while the ledger is checked, nor the ledger for claims', async () => {
  const an = await portal.customer()
  await whileHeld(lockKeys.walkLedger, () => claim(an))
  await portal.topUp(an, 100_000)
  await whileHeld(lockKeys.claimDomain, async () =>
    expect(await checkLedger(portal.app.db)).toEqual([]),
  )
})

test('no two of the portal’s locks are one', () => {
  const numbers = Object.values(lockKeys)
  expect(new Set(numbers).size).toBe(numbers.length)
})
