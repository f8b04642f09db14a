/**
 * kill -9 at random moments of the journey. After each restart everything acknowledged exists,
 * nothing exists twice, and the order continues. `KILLS=20 SEED=7 node node_modules/.bin/vitest run
 * test/kill.test.ts` runs more kills, or repeats the same ones.
 */
import path from 'node:path'
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { paymentDrivers } from '../server/payments/drivers/index.ts'
import { connect } from '../server/platform/db.ts'
import { createSecrets, loadRootSecret } from '../server/platform/secrets.ts'
import { checkLedger } from '../server/wallet/index.ts'
import { eventually } from './portal.ts'
import {
  credited,
  placeOrder,
  price,
  register,
  settled,
  topUp,
  type Customer,
  type Fact,
  type Outcome,
} from './kill-journey.ts'
import { PortalProcess } from './portal-process.ts'

const kills = Number(process.env['KILLS'] ?? 4)
const seed = Number(process.env['SEED'] ?? Date.now() % 1_000_000)

const stages = ['register', 'order', 'top-up', 'credit', 'provisioning']
/** Length of stages that take longer than some 60 ms. */
const lengthsMs: Record<string, number> = { register: 600, credit: 400, provisioning: 5000 }

/** mulberry32: the same seed gives the same moments. */
function randomFrom(state: number): () => number {
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296
  }
}

async function ledgerIsWhole(portal: PortalProcess): Promise<void> {
  const { db, close } = connect(await portal.database(), 1, () => undefined)
  try {
    expect(await checkLedger(db)).toEqual([])
  } finally {
    await close()
  }
}

async function stillTrue({ what, holds }: Fact): Promise<void> {
  try {
    await holds()
  } catch (error) {
    throw new Error(`no longer true: ${what}`, { cause: error })
  }
}

/**
 * One PostgreSQL and at most one process per site: no process of a killed portal remains beside the
 * present ones.
 */
function hasOneProcessEach(portal: PortalProcess): string | false {
  const commands = portal.processes().map(({ command }) => command)
  const postmasters = commands.filter(
    (command) => / -D \S+pgdata /.test(command) && !command.includes('pg-guard'),
  ).length
  const containers = [...portal.sites].map(
    (id) => commands.filter((command) => command.includes(`--site ${id}`)).length,
  )
  return postmasters === 1 && containers.every((count) => count <= 1) && 'one'
}

/**
 * The entries that every wallet must have: each paid top-up once, each order once, and its refund
 * if it failed.
 */
async function booksAreRight(portal: PortalProcess, customers: readonly Customer[]): Promise<void> {
  const secrets = createSecrets(loadRootSecret(portal.dataDir, undefined))
  const { sandboxKeys, inSandbox, open } = paymentDrivers.vnpay
  const vnpay = open(
    inSandbox(
      portal.sandboxUrl,
      sandboxKeys((purpose) => secrets.derive(purpose)),
    ),
    { webhookUrl: portal.url },
  )
  for (const { email, payments, orders } of customers) {
    const expected: string[] = []
    for (const { code, amount, createdAt } of payments) {
      const buyer = { id: '', name: '', email, phone: '' }
      const update = await vnpay.lookUp({
        code,
        reference: code,
        transferUrl: portal.url,
        amount: BigInt(amount),
        currency: 'VND',
        channel: 'VNPAYQR',
        language: 'vi',
        ip: '127.0.0.1',
        returnUrl: portal.url,
        createdAt,
        expiresAt: createdAt,
        providerRef: null,
        buyer,
      })
      if (update?.status === 'succeeded') expected.push(`topup ${code} ${amount}`)
    }
    const sites = await portal.rows<{
      id: string
      status: string
      number: string
      note: string | null
    }>(
      `select s.id, s.status, i.number, n.number as note from site s
       join customer c on c.id = s.customer_id
       join invoice i on i.id = s.invoice_id left join invoice n on n.corrects_id = i.id
       where c.email = $1`,
      [email],
    )
    expect(sites.map(({ id }) => id).sort()).toEqual([...orders].sort())
    for (const { status, number, note } of sites) {
      expected.push(`charge ${number} ${-price}`)
      if (status === 'failed') expected.push(`refund ${note} ${price}`)
    }
    const entries = await portal.rows<{ text: string }>(
      `select t.kind || ' ' || coalesce(t.details->>'code',
       t.details->>'invoice') || ' ' || e.amount as text from ledger_entry e
       join ledger_transfer t on t.id = e.transfer_id
       join ledger_account a on a.id = e.account_id join customer c on c.id = a.customer_id
       where c.email = $1`,
      [email],
    )
    expect(entries.map(({ text }) => text).sort()).toEqual(expected.sort())
  }
}

test(
  `${kills} kills at random moments lose nothing and do nothing twice (seed ${seed})`,
  { timeout: 60_000 + kills * 60_000 },
  async () => {
    const random = randomFrom(seed)
    const portal = await PortalProcess.create()
    const customers: Customer[] = []
    const log: string[] = []
    let left = kills
    let journeys = 0
    let phase = 'start'
    let verifying = false
    try {
      await portal.start()

      const journey = async (): Promise<void> => {
        const number = ++journeys
        phase = 'register'
        const customer = await register(portal, number)
        customers.push(customer)
        const outcome: Outcome =
          (['paid', 'paid', 'late', kills > 10 ? 'lost' : 'paid'] as const)[
            Math.floor(random() * 4)
          ] ?? 'paid'
        const orderFirst = random() < 0.4
        const order = async (): Promise<string> => {
          phase = 'order'
          return await placeOrder(portal, customer)
        }
        let id = orderFirst ? await order() : ''
        phase = `top-up, ${outcome}`
        const code = await topUp(portal, customer, 300_000, outcome)
        phase = `credit, ${outcome}`
        await credited(portal, customer, code)
        if (!orderFirst) id = await order()
        phase = 'provisioning'
        const end = await settled(portal, customer, id)
        log.push(
          `journey ${number}: ${outcome}, ${orderFirst ? 'order first' : 'money first'}, ${end}`,
        )
      }
      const killer = async (): Promise<void> => {
        while (left > 0) {
          // Every stage of the journey is chosen equally often, however short it is; the moment
          // within it is random.
          const stage = stages[Math.floor(random() * stages.length)] ?? 'provisioning'
          await eventually('the next stage', async () => phase.startsWith(stage), 6).catch(
            () => undefined,
          )
          await new Promise((resolve) => setTimeout(resolve, random() * (lengthsMs[stage] ?? 60)))
          left--
          const also =
            (['nothing else', 'nothing else', 'database', 'guard'] as const)[
              Math.floor(random() * 4)
            ] ?? 'nothing else'
          log.push(
            `kill ${kills - left} in ${phase}${also === 'nothing else' ? '' : `, the ${also} too`}`,
          )
          await portal.kill(also)
          await portal.start()
          await eventually('one life', async () => hasOneProcessEach(portal), 20)
          await ledgerIsWhole(portal)
          verifying = true
          for (const [index, { facts }] of [...customers].entries()) {
            for (const fact of facts)
              if (!fact.slow || index >= customers.length - 2) await stillTrue(fact)
          }
          verifying = false
        }
      }
      const walker = async (): Promise<void> => {
        do {
          await journey()
          await eventually('the portal being looked at', async () => !verifying, 300)
        } while (left > 0)
      }
      await Promise.all([walker(), killer()])

      for (const { facts } of customers) for (const fact of facts) await stillTrue(fact)
      await booksAreRight(portal, customers)
      await ledgerIsWhole(portal)

      expect(await portal.terminate()).toBe(0)
      expect(portal.processes()).toEqual([])
    } catch (error) {
      const databaseLog = path.join(portal.dataDir, 'postgres', 'postgres.log')
      console.error(`${portal.output}\n${readFileSync(databaseLog, 'utf8').slice(-3000)}`)
      throw error
    } finally {
      console.log(`seed ${seed}\n${log.join('\n')}`)
      portal.discard()
    }
  },
)
