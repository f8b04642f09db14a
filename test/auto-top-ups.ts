/** Automatic top-up in tests: setting it, running it, and its results. */
import { sql } from 'kysely'
import { expect } from 'vitest'
import type { AutoTopUp } from '../contract/auto-top-up.ts'
import { transaction } from '../server/platform/db.ts'
import { eventually, type TestCustomer, type TestPortal } from './portal.ts'

export const path = '/api/payments/auto-top-up'

/** What a customer and the job do, at a portal that must be open when the functions are called. */
export function autoTopUpsOf(portal: () => TestPortal) {
  const read = async ({ token }: TestCustomer): Promise<AutoTopUp> =>
    (await portal().call<AutoTopUp>('GET', path, { token })).body.result
  const ask = ({ token }: Pick<TestCustomer, 'token'>, cardId: string, changes: object = {}) =>
    portal().call<AutoTopUp>('PUT', path, {
      token,
      body: { below: 1500, amount: 1000, monthLimit: 5000, cardId, consent: true, ...changes },
    })
  async function switchOn(an: TestCustomer, cardId: string, changes: object = {}): Promise<void> {
    const answer = await ask(an, cardId, changes)
    expect(answer.status, answer.text).toBe(200)
    expect(answer.body.result.rule?.off).toBeNull()
  }
  /** A customer's automatic payments, oldest first: `1000 succeeded`. */
  const charges = async ({ id }: TestCustomer): Promise<string[]> =>
    (
      await portal()
        .app.db.selectFrom('auto_top_up_charge')
        .select(['amount', 'state'])
        .where('customer_id', '=', id)
        .orderBy('began_at')
        .execute()
    ).map(({ amount, state }) => `${amount} ${state}`)
  const chargesBecome = (an: TestCustomer, expected: string[]) =>
    eventually(`the charges are ${expected.join(', ')}`, async () => {
      const found = await charges(an)
      return JSON.stringify(found) === JSON.stringify(expected)
    })
  /** Waits until no job is left that could run now. */
  const jobsAreDone = () =>
    eventually('the jobs are done', async () => {
      const { rows } = await sql<{ n: bigint }>`
        select count(*) as n from pgboss.job where name like 'auto-top-up%'
          and state in ('created', 'retry', 'active') and start_after <= now()`.execute(
        portal().app.db,
      )
      return rows[0]?.n === 0n
    })
  const add = (name: string, payload: object = {}) =>
    transaction(portal().app.db, (tx) => portal().app.jobs.add(tx, name, payload))
  async function run({ id: customerId }: TestCustomer): Promise<void> {
    await add('auto-top-up', { customerId })
    await jobsAreDone()
  }
  async function sweep(): Promise<void> {
    await portal().app.topUps.autoTopUps.enqueueSweep()
    await jobsAreDone()
  }
  const lettersTo = async ({ email }: TestCustomer, text: RegExp): Promise<string[]> =>
    (await portal().inbox(email))
      .map((letter) => letter.text.replaceAll('\u00A0', ' '))
      .filter((letter) => text.test(letter))
  const letterComes = (an: TestCustomer, text: RegExp, count = 1) =>
    eventually(`${count} letters ${text}`, async () => (await lettersTo(an, text)).length === count)

  return {
    read,
    ask,
    switchOn,
    charges,
    chargesBecome,
    jobsAreDone,
    run,
    sweep,
    letterComes,
    inUsd: () => portal().customer({ region: 'USD' }),
  }
}
