/**
 * PostgreSQL goes away during calls and jobs: it is killed and comes back after a while
 * (OUTAGE_SECONDS, 15 if absent), or its machine vanishes, so that open connections receive nothing
 * more.
 */
import { randomUUID } from 'node:crypto'
import net from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { sql } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { connect } from '../server/platform/db.ts'
import { eventually, freePort, openTestPortal, type TestPortal } from './portal.ts'
import { openPostgresServer, type PostgresServer } from './postgres-server.ts'

const outageMs = Number(process.env['OUTAGE_SECONDS'] ?? 15) * 1000
let server: PostgresServer
let portal: TestPortal

beforeAll(async () => {
  server = await openPostgresServer()
  portal = await openTestPortal({ database: { url: server.url, drop: () => Promise.resolve() } })
}, 120_000)
afterAll(async () => {
  await portal.close()
  await server.close()
})

const order = {
  size: 1,
  region: 1,
  disk: 10_240,
  mariadb_disk_size: 10_240,
  user: 'an',
  password: 'Mat-khau-9!',
  replicate: 1,
}
const unavailable = { error: { code: 'unavailable' } }

test(
  'calls get a clear no, and what was begun goes on by itself',
  { timeout: 60_000 + 2 * outageMs },
  async () => {
    const customers = await Promise.all(Array.from({ length: 4 }, () => portal.customer()))
    for (const customer of customers) {
      await portal.topUp(customer, 2_000_000)
      const { id } = customer
      await eventually('the money', async () => {
        const { balance } = await portal.app.ledger.balanceOf(portal.app.db, id)
        return balance > 0n
      })
    }
    const statuses = new Map<number, number>()
    const noted = <T extends { status: number; body: unknown }>(answer: T): T => {
      statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1)
      if (answer.status >= 400) expect(answer.body).toMatchObject(unavailable)
      return answer
    }
    /** Repeats one order with the same idempotency key until it is acknowledged. */
    const orderOnce = async (token: string): Promise<string> => {
      const headers = { 'idempotency-key': randomUUID() }
      return await eventually(
        'the order',
        async () => {
          const { status, body } = noted(
            await portal.call<{ id: string }>('POST', '/api/wp', { token, headers, body: order }),
          )
          return status === 201 && body.result.id
        },
        30 + outageMs / 1000,
      )
    }
    // One order is being set up when the database ends; the others are placed while it is away.
    const [first] = customers
    const begun = await orderOnce(first!.token)
    await server.kill()
    const diedAt = performance.now()
    const ordering = Promise.all(customers.slice(1).map(({ token }) => orderOnce(token)))
    while (performance.now() - diedAt < outageMs) {
      noted(await portal.call('GET', '/api/payments/stripe', { token: first!.token }))
      await pause(100)
    }
    expect([...statuses.keys()].toSorted((a, b) => a - b)).toEqual([201, 503])
    const { status, text } = await portal.call('GET', '/readyz')
    expect([status, text]).toEqual([503, expect.stringContaining('"database"')])
    await server.start()
    const backAt = performance.now()
    await eventually('an answer', async () => {
      const answer = await portal.call('GET', '/api/payments/stripe', { token: first!.token })
      return noted(answer).status === 200
    })
    const answeredMs = performance.now() - backAt
    const ids = [begun, ...(await ordering)]
    for (const [index, id] of ids.entries()) {
      const { token } = customers[index]!
      await eventually(
        'the server running',
        async () => {
          const { body } = await portal.call<{ status: string }>('GET', `/api/wp/${id}`, { token })
          return body.result.status === 'running'
        },
        90,
      )
    }
    const runningMs = performance.now() - backAt
    for (const { id } of customers) {
      const { rows } = await sql<{ sites: number; charges: number }>`
        select (select count(*)::int from site where customer_id = ${id}) as sites,
          (select count(*)::int from ledger_transfer t join ledger_entry e on e.transfer_id = t.id
            join ledger_account a on a.id = e.account_id
            where a.customer_id = ${id} and t.kind = 'charge') as charges`.execute(portal.app.db)
      expect(rows).toEqual([{ sites: 1, charges: 1 }])
    }
    await portal.ledgerHolds()
    expect([...statuses.keys()].toSorted((a, b) => a - b)).toEqual([200, 201, 503])
    expect(answeredMs).toBeLessThan(5_000)
    console.log(
      `away for ${outageMs / 1000} s: ${statuses.get(503)} calls were refused; the first answer ` +
        `${Math.round(answeredMs)} ms after it was back, every server ran after ` +
        `${Math.round(runningMs)} ms`,
    )
  },
)

/** Forwards bytes, until the connections that are then open are frozen and receive nothing more. */
async function openWire(port: number) {
  const frozen = new Set<net.Socket>()
  const open = new Set<net.Socket>()
  const wire = net.createServer((near) => {
    const far = net.connect(port, '127.0.0.1')
    for (const [one, other] of [
      [near, far],
      [far, near],
    ] as const) {
      open.add(one)
      one.on('data', (bytes) => void (frozen.has(one) || other.write(bytes)))
      one.on('error', () => one.destroy())
      one.on('close', () => {
        open.delete(one)
        if (!frozen.has(one)) other.destroy()
      })
    }
  })
  const at = await freePort()
  await new Promise<void>((resolve) => wire.listen(at, '127.0.0.1', resolve))
  return {
    port: at,
    freeze: () => open.forEach((socket) => frozen.add(socket)),
    async close() {
      for (const socket of open) socket.destroy()
      await new Promise((resolve) => wire.close(resolve))
    },
  }
}

test('a connection that hears nothing is given up, and not used again', async () => {
  const wire = await openWire(server.port)
  const { db, pool, close } = connect(
    server.url.replace(/:\d+\//, `:${wire.port}/`),
    3,
    () => undefined,
  )
  const ask = () => sql<{ one: number }>`select 1 as one`.execute(db)
  try {
    await Promise.all([ask(), ask(), ask()])
    const before = pool.totalCount
    expect(before).toBeGreaterThan(0)
    wire.freeze()
    const outcomes = await Promise.allSettled(Array.from({ length: before }, ask))
    expect(outcomes.map(({ status }) => status)).toEqual(outcomes.map(() => 'rejected'))
    // All frozen connections are gone, so the next call does not wait for an answer on one.
    const from = performance.now()
    expect((await ask()).rows).toEqual([{ one: 1 }])
    expect(performance.now() - from).toBeLessThan(1000)
  } finally {
    await close()
    await wire.close()
  }
}, 90_000)
