/** The life of a subscription on a clock that is moved by hand: renewals, changes of price, cancellations, and what follows when it is not paid. */
import fc from 'fast-check'
import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { monthlyOf } from '../../contract/pricing.ts'
import { eventually } from '../../test/house.ts'
import { offerAt, openBillingRoom, standIn, termsAt, type BillingRoom } from '../../test/billing-room.ts'
import { forgotten, openCutWire } from '../../test/cut-wire.ts'
import { days, later, minutes } from '../platform/clock.ts'
import { transaction } from '../platform/db.ts'
import { dunningStep } from './dunning.ts'
import { explainInvoice } from './explain.ts'
import { taxIn } from './issue.ts'

let room: BillingRoom
beforeAll(async () => {
  room = await openBillingRoom('2027-01-31T03:00:00Z')
})
afterAll(async () => {
  await room.ledgerHolds()
  await room.close()
})

/** Moves the clock, which may stand anywhere, to a moment, and does what is due then. */
async function at(moment: string | Date): Promise<void> {
  room.clock.advance(new Date(moment).getTime() - room.clock.now().getTime())
  await room.bills.sweep()
}
const jobsOf = (id: string): string[] => room.jobs.filter(({ payload }) => payload['subscriptionId'] === id).map(({ name }) => name)
const lettersTo = ({ email }: { email: string }): string[] => room.mails.filter(({ to }) => to === email).map(({ subject }) => subject)
const eventsOf = ({ id }: { id: string }): string[] => room.told.filter(({ customerId }) => customerId === id).map(({ event }) => event)
const price = 218_000n

describe('renewals', () => {
  test('three months from 31 January, each at its minute, each charged once', async () => {
    await at('2027-01-31T03:00:00Z')
    const an = await room.customer({ balance: price * 4n })
    const id = await room.order(an, offerAt(price))
    for (const [month, due] of ['2027-02-28T03:00:00Z', '2027-03-31T03:00:00Z', '2027-04-30T03:00:00Z'].entries()) {
      await at(later(new Date(due), -1))
      expect((await room.invoices(id)).length).toBe(month + 1)
      await at(due)
      await room.bills.sweep()
      expect((await room.invoices(id)).length).toBe(month + 2)
    }
    expect(await room.invoices(id)).toEqual([
      `order ${price} paid`,
      `renewal ${price} paid 2027-02-28`,
      `renewal ${price} paid 2027-03-31`,
      `renewal ${price} paid 2027-04-30`,
    ])
    expect(await room.subscription(id)).toMatchObject({
      status: 'active',
      periodStart: '2027-04-30T03:00:00.000Z',
      renewsAt: '2027-05-31T03:00:00.000Z',
    })
    expect(await room.balance(an)).toBe(0n)
    expect(eventsOf(an).slice(-3)).toEqual(['invoice.create', 'invoice.paid', 'subscription.updated'])
  })

  test('by the clocks of Sydney, through the change to winter', async () => {
    await at('2026-03-14T22:00:00Z')
    const sam = await room.customer({ region: 'AUD', balance: 10_000n })
    const id = await room.order(sam, offerAt(1770n))
    expect((await room.subscription(id))?.renewsAt).toBe('2026-04-14T23:00:00.000Z')
    await at('2026-04-14T22:59:59Z')
    expect(await room.invoices(id)).toHaveLength(1)
    await at('2026-04-14T23:00:00Z')
    expect(await room.invoices(id)).toHaveLength(2)
  })

  test('of 29 February, and over a new year that begins earlier in Vietnam', async () => {
    await at('2028-02-28T17:30:00Z')
    const an = await room.customer({ balance: price * 30n })
    const id = await room.order(an, offerAt(price))
    expect((await room.subscription(id))?.renewsAt).toBe('2028-03-28T17:30:00.000Z')
    await at('2028-12-31T17:30:00Z')
    const { number } = await room.db
      .selectFrom('invoice')
      .select('number')
      .where('subscription_id', '=', id)
      .orderBy('seq', 'desc')
      .executeTakeFirstOrThrow()
    // Ordered at half past midnight on the 29th: nine renewals are due by New Year in Vietnam, and all carry the year of that moment there.
    expect(await room.invoices(id)).toHaveLength(11)
    expect(number).toMatch(/^VN-2029-/)
    await at('2029-02-27T17:30:00Z')
    expect((await room.subscription(id))?.periodStart).toBe('2029-02-27T17:30:00.000Z')
    expect((await room.subscription(id))?.renewsAt).toBe('2029-03-28T17:30:00.000Z')
  })

  test('the clock set back charges nothing again, and forwards over three renewals charges three', async () => {
    await at('2027-06-10T00:00:00Z')
    const an = await room.customer({ balance: price * 10n })
    const id = await room.order(an, offerAt(price))
    await at('2027-07-10T00:00:00Z')
    await at('2027-06-11T00:00:00Z')
    await at('2027-07-10T00:00:00Z')
    expect(await room.invoices(id)).toHaveLength(2)
    await at('2027-10-10T00:00:00Z')
    expect(await room.invoices(id)).toHaveLength(5)
    expect(await room.balance(an)).toBe(price * 5n)
  })

  test('a price of the catalogue changes with the renewal and not before; what is no longer sold keeps its own', async () => {
    await at('2027-06-10T00:00:00Z')
    const an = await room.customer({ balance: price * 10n })
    const [kept, raised] = [await room.order(an, offerAt(price)), await room.order(an, offerAt(price))]
    room.price = (id) => (id === raised ? offerAt(250_000n) : undefined)
    expect(await room.subscription(raised)).toMatchObject({ price: Number(price), renewalPrice: 250_000 })
    await at('2027-07-10T00:00:00Z')
    room.price = () => undefined
    expect((await room.invoices(raised)).at(-1)).toBe('renewal 250000 paid 2027-07-10')
    expect((await room.invoices(kept)).at(-1)).toBe(`renewal ${price} paid 2027-07-10`)
    expect((await room.subscription(raised))?.price).toBe(250_000)
  })

  test('two portals at once and one killed in between: each is charged once', async () => {
    await at('2027-06-15T00:00:00Z')
    const an = await room.customer({ balance: price * 200n })
    const ids: string[] = []
    for (let n = 0; n < 40; n++) ids.push(await room.order(an, offerAt(price)))
    const second = room.second()
    room.clock.advance(days(30))
    const cut = (application: string) =>
      sql`select pg_terminate_backend(pid) from pg_stat_activity where application_name = ${application} and datname = current_database() and pid <> pg_backend_pid()`
        .execute(room.db)
        .catch(() => undefined)
    await Promise.allSettled([room.bills.sweep(), second.bills.sweep(), cut('portal'), second.bills.sweep(), cut('portal')])
    // The next round, as the job's next minute: of the connections that wait, some do not know yet that they are cut.
    await eventually('a round of both', () =>
      Promise.all([room.bills.sweep(), second.bills.sweep()]).then(
        () => true,
        () => false,
      ),
    )
    await second.close()
    for (const id of ids) expect(await room.invoices(id)).toEqual([`order ${price} paid`, `renewal ${price} paid 2027-07-15`])
    expect(await room.balance(an)).toBe(price * 120n)
  })

  test('that fails at any statement leaves nothing half done', async () => {
    await at('2027-06-18T00:00:00Z')
    const an = await room.customer({ balance: price * 10n })
    const id = await room.order(an, offerAt(price))
    room.clock.advance(days(30))
    const before = [await room.invoices(id), await room.balance(an)]
    for (const table of ['ledger_entry', 'invoice', 'invoice_line', 'subscription', 'invoice_counter']) {
      await sql`create function break_it() returns trigger language plpgsql as $$ begin raise exception 'broken on purpose'; end $$`.execute(
        room.db,
      )
      await sql`create trigger break_it after insert or update on ${sql.table(table)} for each statement execute function break_it()`.execute(
        room.db,
      )
      await room.bills.sweep()
      expect([await room.invoices(id), await room.balance(an)]).toEqual(before)
      await sql`drop function break_it() cascade`.execute(room.db)
    }
    await room.bills.sweep()
    expect(await room.balance(an)).toBe(price * 8n)
  })

  test.each(['before', 'after'] as const)(
    'whose worker is gone at any statement, %s the server has heard it, is charged once',
    async (moment) => {
      await at(moment === 'before' ? '2027-09-01T00:00:00Z' : '2031-09-01T00:00:00Z')
      const an = await room.customer({ balance: price * 500n })
      const id = await room.order(an, offerAt(price))
      const wire = await openCutWire(room.databaseUrl)
      let renewed = 0
      for (let statement = 1; ; statement++) {
        const due = (await room.subscription(id))?.renewsAt ?? ''
        room.clock.advance(Date.parse(due) - room.clock.now().getTime())
        const doomed = room.second(wire.url)
        wire.cutAt(statement, moment)
        await doomed.bills.sweep().catch(() => undefined)
        const through = wire.heard() < statement
        await doomed.close()
        await forgotten(room.db)
        await room.bills.sweep()
        renewed += 1
        expect(await room.balance(an)).toBe(price * BigInt(499 - renewed))
        expect((await room.invoices(id)).filter((line) => line.startsWith('renewal') && line.includes(' paid '))).toHaveLength(renewed)
        if (through) break
      }
      await wire.close()
      // A renewal is that many statements, and each of them was the last one once.
      expect(renewed).toBeGreaterThan(10)
      await room.ledgerHolds()
    },
  )

  test('one whose price cannot be told holds up nobody else', async () => {
    await at('2027-06-20T00:00:00Z')
    const an = await room.customer({ balance: price * 100n })
    const ids: string[] = []
    for (let n = 0; n < 5; n++) ids.push(await room.order(an, offerAt(price)))
    room.price = (id) => {
      if (id === ids[2]) throw new Error('no price')
      return undefined
    }
    await at('2027-07-20T00:00:00Z')
    room.price = () => undefined
    const counts = await Promise.all(ids.map(async (id) => (await room.invoices(id)).length))
    expect(counts).toEqual([2, 2, 1, 2, 2])
    room.clock.advance(minutes(6))
    expect(await room.bills.waiting()).toBe(1)
    await room.bills.sweep()
    expect(await room.invoices(ids[2] ?? '')).toHaveLength(2)
  })
})

describe('not paid', () => {
  test('reminded at 0, 3 and 6 days, suspended at 7, paid and back by itself, anchored as before', async () => {
    await at('2027-06-10T00:00:00Z')
    const an = await room.customer({ balance: price })
    const id = await room.order(an, offerAt(price))
    const due = new Date('2027-07-10T00:00:00Z')
    const seen: Record<string, unknown>[] = []
    for (const day of [0, 1, 3, 5, 6, 6.9, 7, 8]) {
      await at(later(due, days(day)))
      seen.push({ day, status: (await room.subscription(id))?.status, letters: lettersTo(an).length, jobs: jobsOf(id).join() })
    }
    expect(seen).toEqual([
      { day: 0, status: 'past_due', letters: 1, jobs: '' },
      { day: 1, status: 'past_due', letters: 1, jobs: '' },
      { day: 3, status: 'past_due', letters: 2, jobs: '' },
      { day: 5, status: 'past_due', letters: 2, jobs: '' },
      { day: 6, status: 'past_due', letters: 3, jobs: '' },
      { day: 6.9, status: 'past_due', letters: 3, jobs: '' },
      { day: 7, status: 'suspended', letters: 4, jobs: 'suspend' },
      { day: 8, status: 'suspended', letters: 4, jobs: 'suspend' },
    ])
    expect((await room.subscription(id))?.unpaid).toMatchObject({
      amount_due: Number(price),
      suspendsAt: '2027-07-17T00:00:00.000Z',
      deletesAt: '2027-08-09T00:00:00.000Z',
    })
    await room.topUp(an, price)
    expect(await room.subscription(id)).toMatchObject({ status: 'active', unpaid: null, renewsAt: '2027-08-10T00:00:00.000Z' })
    expect(jobsOf(id)).toEqual(['suspend', 'resume'])
    expect(await room.invoices(id)).toEqual([`order ${price} paid`, `renewal ${price} paid 2027-07-10`])
  })

  test('for 30 days it is deleted and owes nothing; nobody is deleted who was not suspended, even where nobody looked', async () => {
    await at('2027-06-10T00:00:00Z')
    const an = await room.customer({ balance: price })
    const id = await room.order(an, offerAt(price))
    await at('2027-08-09T00:00:00Z')
    expect(jobsOf(id)).toEqual(['suspend', 'remove'])
    expect(lettersTo(an)).toEqual(['Một thứ đã bị tạm ngưng', 'Một thứ đã bị xoá'])
    expect(await room.invoices(id)).toEqual([`order ${price} paid`, `renewal ${price} void 2027-07-10`])
    expect((await room.subscription(id))?.status).toBe('ended')
    await room.topUp(an, price)
    expect(await room.balance(an)).toBe(price)
  })

  test('paid in the very second of the suspension it runs, whichever came first', async () => {
    for (let round = 0; round < 10; round++) {
      await at('2027-06-10T00:00:00Z')
      const an = await room.customer({ balance: price })
      const id = await room.order(an, offerAt(price))
      await at('2027-07-16T00:00:00Z')
      room.clock.advance(days(1))
      await Promise.all([room.bills.sweep(), room.topUp(an, price)])
      expect((await room.subscription(id))?.status).toBe('active')
      expect(['', 'suspend,resume']).toContain(jobsOf(id).join())
      expect(await room.balance(an)).toBe(0n)
    }
  })

  test('money that came without a top-up is found by the next look', async () => {
    await at('2027-06-10T00:00:00Z')
    const an = await room.customer({ balance: price })
    const id = await room.order(an, offerAt(price))
    await at('2027-07-10T00:00:00Z')
    await transaction(room.db, (tx) =>
      room.ledger.refund(tx, { key: `gift:${id}`, customerId: an.id, product: standIn, amount: price, currency: 'VND', details: {} }),
    )
    await at('2027-07-13T00:00:00Z')
    expect((await room.subscription(id))?.status).toBe('active')
  })

  test('the step that is due, for any moment', () => {
    const rule = { reminderDays: [0, 3, 6], suspendDays: 7, deleteDays: 30 }
    const dueAt = new Date('2027-01-01T00:00:00Z')
    fc.assert(
      fc.property(fc.integer({ min: 0, max: days(60) }), fc.constantFrom(null, 0, 3, 6), (passed, reminded) => {
        const now = later(dueAt, passed)
        const unpaid = dunningStep({ dueAt, status: 'past_due', reminded }, now, rule)
        expect(unpaid.act === 'suspend').toBe(passed >= days(7))
        expect(unpaid.nextAt > now || unpaid.act === 'suspend').toBe(true)
        if (unpaid.act === 'remind') expect(unpaid.day).toBeGreaterThan(reminded ?? -1)
        expect(dunningStep({ dueAt, status: 'suspended', reminded }, now, rule).act === 'delete').toBe(passed >= days(30))
      }),
    )
  })
})

describe('another price', () => {
  const change = (id: string, to: ReturnType<typeof offerAt>, word: object = {}) =>
    transaction(room.db, (tx) =>
      room.bills.changePrice(tx, { subscriptionId: id, to, change: word, starts: { job: 'resize', payload: { subscriptionId: id } } }),
    )

  test('that is higher is charged for the rest of the month, by the second, explained to the last input', async () => {
    await at('2027-06-10T00:00:00Z')
    const [small, large] = [termsAt(89_000), termsAt(89_000, 30)]
    const [from, to] = [BigInt(monthlyOf(small).total), BigInt(monthlyOf(large).total)]
    const an = await room.customer({ balance: 1_000_000n })
    const id = await room.order(an, offerAt(from, small))
    await at('2027-06-25T00:00:07Z')
    const before = await room.balance(an)
    expect(await change(id, offerAt(to, large))).toMatchObject({ outcome: 'charged' })
    const left = 15 * 86_400 - 7
    const share = (monthly: bigint) => Math.round((Number(monthly) * left) / (30 * 86_400))
    const charged = share(to) - share(from)
    expect(before - (await room.balance(an))).toBe(BigInt(charged))
    expect((await room.invoices(id)).at(-1)).toBe(`proration ${charged} paid`)
    expect(jobsOf(id)).toEqual(['resize'])
    const { number } = await room.db
      .selectFrom('invoice')
      .select('number')
      .where('subscription_id', '=', id)
      .orderBy('seq', 'desc')
      .executeTakeFirstOrThrow()
    const explained = await explainInvoice(room.db, { customerId: an.id, number, portalUrl: '', language: 'en' })
    expect(explained).toMatchObject({ total: charged, recomputed: charged })
    expect(explained?.lines.map(({ quantity, basis, amount }) => [quantity, basis?.seconds, basis?.of_seconds, amount])).toEqual([
      [1, left, 30 * 86_400, share(to)],
      [-1, left, 30 * 86_400, -share(from)],
    ])
    expect(explained?.lines[0]?.steps.at(-1)).toMatchObject({ part: 'share', quantity: left, per: 30 * 86_400, amount: share(to) })
    expect((await room.subscription(id))?.price).toBe(Number(to))
  })

  test('that is higher than the wallet holds is refused, and nothing is written', async () => {
    const an = await room.customer({ balance: price })
    const id = await room.order(an, offerAt(price))
    await expect(change(id, offerAt(price * 9n))).rejects.toMatchObject({ code: 'insufficient_balance' })
    expect(await room.invoices(id)).toEqual([`order ${price} paid`])
    expect((await room.subscription(id))?.price).toBe(Number(price))
  })

  test('that is lower takes effect with the renewal', async () => {
    await at('2027-06-10T00:00:00Z')
    const an = await room.customer({ balance: price * 3n })
    const id = await room.order(an, offerAt(price))
    expect(await change(id, offerAt(100_000n), { size: 1 })).toEqual({ outcome: 'planned', at: new Date('2027-07-10T00:00:00Z') })
    room.price = (_id, word) => (word ? offerAt(110_000n) : offerAt(price))
    expect(await room.subscription(id)).toMatchObject({ price: Number(price), planned: true, renewalPrice: 110_000 })
    expect(jobsOf(id)).toEqual([])
    await at('2027-07-10T00:00:00Z')
    room.price = () => undefined
    expect((await room.invoices(id)).at(-1)).toBe('renewal 110000 paid 2027-07-10')
    expect(jobsOf(id)).toEqual(['resize'])
    expect(await room.subscription(id)).toMatchObject({ price: 110_000, planned: false })
  })

  test('is refused for what is not paid or about to renew', async () => {
    await at('2027-06-10T00:00:00Z')
    const an = await room.customer({ balance: price })
    const id = await room.order(an, offerAt(price))
    room.clock.advance(days(30))
    await expect(change(id, offerAt(1n))).rejects.toMatchObject({ code: 'conflict' })
    await room.bills.sweep()
    await expect(change(id, offerAt(1n))).rejects.toMatchObject({ code: 'subscription_not_active' })
  })
})

describe('cancelled', () => {
  const cancel = (id: string, when: 'now' | 'period_end') => transaction(room.db, (tx) => room.bills.cancel(tx, id, when))

  test('with the end of the month it runs until then, and may be taken back before', async () => {
    await at('2027-06-10T00:00:00Z')
    const an = await room.customer({ balance: price * 3n })
    const [ends, stays] = [await room.order(an, offerAt(price)), await room.order(an, offerAt(price))]
    await cancel(ends, 'period_end')
    await cancel(ends, 'period_end')
    await cancel(stays, 'period_end')
    expect(await room.subscription(ends)).toMatchObject({ status: 'active', renewsAt: null, cancelAtPeriodEnd: true })
    await transaction(room.db, (tx) => room.bills.resume(tx, stays))
    await at('2027-07-09T23:59:59Z')
    expect(jobsOf(ends)).toEqual([])
    await at('2027-07-10T00:00:00Z')
    expect(jobsOf(ends)).toEqual(['remove'])
    expect(await room.invoices(ends)).toEqual([`order ${price} paid`])
    expect(await room.invoices(stays)).toHaveLength(2)
    await expect(cancel(ends, 'now')).rejects.toMatchObject({ code: 'subscription_ended' })
  })

  test('now, the unused part is back on a credit note, once', async () => {
    await at('2027-06-10T00:00:00Z')
    const an = await room.customer({ balance: price })
    const id = await room.order(an, offerAt(price))
    // The credit names whom the invoice named.
    await room.db.updateTable('customer').set({ name: 'An Nguyễn' }).where('id', '=', an.id).execute()
    await at('2027-06-20T00:00:00Z')
    const unused = Math.round((Number(price) * 20) / 30)
    expect((await room.subscription(id))?.unused).toBe(unused)
    const tries = await Promise.allSettled(Array.from({ length: 5 }, () => cancel(id, 'now')))
    expect(tries.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    expect(await room.balance(an)).toBe(BigInt(unused))
    expect(await room.invoices(id)).toEqual([`order ${price} paid`, `credit -${unused} paid`])
    const named = await room.db.selectFrom('invoice').select('buyer').where('subscription_id', '=', id).orderBy('seq').execute()
    expect(named.map(({ buyer }) => buyer)).toEqual([expect.objectContaining({ name: 'An' }), expect.objectContaining({ name: 'An' })])
    expect(jobsOf(id)).toEqual(['remove'])
  })

  test('now, while it is unpaid, nothing is due any more', async () => {
    await at('2027-06-10T00:00:00Z')
    const an = await room.customer({ balance: price })
    const id = await room.order(an, offerAt(price))
    await at('2027-07-18T00:00:00Z')
    await expect(cancel(id, 'period_end')).rejects.toMatchObject({ code: 'subscription_not_active' })
    await cancel(id, 'now')
    expect(await room.invoices(id)).toEqual([`order ${price} paid`, `renewal ${price} void 2027-07-10`])
    await room.topUp(an, price)
    expect(await room.balance(an)).toBe(price)
  })
})

describe('the runway', () => {
  const runway = (customer: { id: string }) => room.bills.runway(room.db, customer.id)

  test('is empty without subscriptions', async () => {
    expect(await runway(await room.customer({ balance: 1n }))).toEqual({ emptyAt: null, days: null, monthly: 0, next: [] })
  })

  test('names the very renewal that fails, with planned changes and without what was cancelled', async () => {
    await at('2027-06-10T00:00:00Z')
    const an = await room.customer({ balance: price * 7n })
    const [one, cheaper, ends] = [
      await room.order(an, offerAt(price)),
      await room.order(an, offerAt(price)),
      await room.order(an, offerAt(price)),
    ]
    await transaction(room.db, async (tx) => {
      await room.bills.cancel(tx, ends, 'period_end')
      await room.bills.changePrice(tx, { subscriptionId: cheaper, to: offerAt(18_000n), change: {}, starts: null })
    })
    room.price = (id) => (id === cheaper ? offerAt(18_000n) : undefined)
    const told = await runway(an)
    // Four times 218 000 are left: three months of 236 000.
    expect(told).toMatchObject({ emptyAt: '2027-10-10T00:00:00.000Z', days: 122, monthly: 236_000 })
    expect(told.next.map(({ at: due, amount }) => [due, amount]).toSorted(([, one], [, other]) => Number(one) - Number(other))).toEqual([
      ['2027-07-10T00:00:00.000Z', 18_000],
      ['2027-07-10T00:00:00.000Z', 218_000],
    ])
    await at('2027-10-09T23:59:59Z')
    expect((await room.subscription(one))?.status).toBe('active')
    await at('2027-10-10T00:00:00Z')
    room.price = () => undefined
    expect([(await room.subscription(one))?.status, (await room.subscription(cheaper))?.status]).toContain('past_due')
    expect(await runway(an)).toMatchObject({ emptyAt: '2027-10-10T00:00:00.000Z', days: 0 })
  })

  test('has no end worth naming for a wallet of five years', async () => {
    const an = await room.customer({ balance: price * 61n })
    await room.order(an, offerAt(price))
    expect(await runway(an)).toMatchObject({ emptyAt: null, days: null, monthly: Number(price) })
  })

  test('warns once at each crossing, again after a top-up, and two portals no more often', async () => {
    await at('2027-06-10T00:00:00Z')
    const an = await room.customer({ balance: price })
    await room.order(an, offerAt(price))
    const second = room.second()
    const look = async (moment: string): Promise<number> => {
      await at(moment)
      await Promise.all([room.bills.watchRunways(), second.bills.watchRunways()])
      return lettersTo(an).length
    }
    expect(await look('2027-07-01T00:00:00Z')).toBe(0)
    expect(await look('2027-07-03T00:00:00Z')).toBe(1)
    expect(await look('2027-07-04T00:00:00Z')).toBe(1)
    expect(await look('2027-07-07T00:00:00Z')).toBe(2)
    expect(await look('2027-07-09T00:00:00Z')).toBe(3)
    expect(eventsOf(an).filter((event) => event === 'wallet.low')).toHaveLength(3)
    await room.topUp(an, price)
    expect(await look('2027-07-09T01:00:00Z')).toBe(3)
    expect(await look('2027-08-05T00:00:00Z')).toBe(4)
    await second.close()
  })
})

describe('tax', () => {
  test('is contained in the amounts, a rounding a line, and frozen with the invoice', async () => {
    const taxed = await openBillingRoom('2027-06-10T00:00:00Z', (catalog) => ({
      ...catalog,
      regions: { ...catalog.regions, AUD: { ...catalog.regions.AUD, tax: { name: 'GST', rate: 1000 } } },
    }))
    const sam = await taxed.customer({ region: 'AUD', balance: 5000n })
    const id = await taxed.order(sam, offerAt(1770n))
    const row = await taxed.db
      .selectFrom('invoice as i')
      .innerJoin('invoice_line as l', 'l.invoice_id', 'i.id')
      .select(['i.total', 'i.tax_name', 'i.tax_rate', 'l.tax'])
      .where('i.subscription_id', '=', id)
      .executeTakeFirstOrThrow()
    expect(row).toEqual({ total: 1770n, tax_name: 'GST', tax_rate: 1000, tax: 161n })
    expect(await taxed.balance(sam)).toBe(3230n)
    await taxed.close()
  })
  test('and amount without it are the amount, for any amount and rate', () => {
    fc.assert(
      fc.property(fc.bigInt(-(10n ** 12n), 10n ** 12n), fc.integer({ min: 0, max: 9999 }), (amount, rate) => {
        const tax = taxIn(amount, rate)
        // The tax is the rate of what is left, to half a unit.
        const error = tax * 10_000n - (amount - tax) * BigInt(rate)
        expect((error < 0n ? -error : error) * 2n <= BigInt(10_000 + rate)).toBe(true)
      }),
    )
  })
})
