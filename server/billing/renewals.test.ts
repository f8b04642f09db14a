/**
 * Renewals on a clock that is moved by hand, charged once whatever breaks, and what follows when
 * one is not paid.
 */
import fc from 'fast-check'
import { sql } from 'kysely'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { eventually } from '../../test/portal.ts'
import { calendarOf } from '../../test/billing-calendar.ts'
import { offerAt, openTestBilling, standIn, type TestBilling } from '../../test/test-billing.ts'
import { forgotten, openCutWire } from '../../test/cut-wire.ts'
import { days, later, minutes } from '../platform/clock.ts'
import { transaction } from '../platform/db.ts'
import { dunningStep } from './dunning.ts'

let billing: TestBilling
beforeAll(async () => {
  billing = await openTestBilling('2027-01-31T03:00:00Z')
})
afterAll(async () => {
  await billing.ledgerHolds()
  await billing.close()
})

const { at, jobsOf, lettersTo, receiptsTo, eventsOf } = calendarOf(() => billing)
const price = 218_000n
const textsTo = ({ email }: { email: string }) =>
  billing.mails.filter(({ to }) => to === email).map(({ text }) => text)

describe('renewals', () => {
  test('three months from 31 January, each at its minute, each charged once', async () => {
    await at('2027-01-31T03:00:00Z')
    const an = await billing.customer({ balance: price * 4n })
    const id = await billing.order(an, offerAt(price))
    for (const [month, due] of [
      '2027-02-28T03:00:00Z',
      '2027-03-31T03:00:00Z',
      '2027-04-30T03:00:00Z',
    ].entries()) {
      await at(later(new Date(due), -1))
      expect((await billing.invoices(id)).length).toBe(month + 1)
      await at(due)
      await billing.bills.sweep()
      expect((await billing.invoices(id)).length).toBe(month + 2)
    }
    expect(await billing.invoices(id)).toEqual([
      `order ${price} paid`,
      `renewal ${price} paid 2027-02-28`,
      `renewal ${price} paid 2027-03-31`,
      `renewal ${price} paid 2027-04-30`,
    ])
    expect(await billing.subscription(id)).toMatchObject({
      status: 'active',
      periodStart: '2027-04-30T03:00:00.000Z',
      renewsAt: '2027-05-31T03:00:00.000Z',
    })
    expect(await billing.balance(an)).toBe(0n)
    // A receipt for each, with the way to its PDF, in the customer's language.
    expect(receiptsTo(an)).toHaveLength(4)
    const receipt = billing.mails.filter(({ to }) => to === an.email).at(-1)
    expect(receipt?.subject).toMatch(/^Đã thanh toán hoá đơn VN-2027-\d{6}$/)
    expect(receipt?.text.replaceAll('\u00A0', ' ')).toMatch(
      /218\.000 đ .* Một thứ\. .*\/api\/invoices\/[\w-]{32}\/pdf\?lang=vi /,
    )
    expect(eventsOf(an).slice(-3)).toEqual([
      'invoice.create',
      'invoice.paid',
      'subscription.updated',
    ])
  })

  test('by the clocks of Sydney, through the change to winter', async () => {
    await at('2026-03-14T22:00:00Z')
    const sam = await billing.customer({ region: 'AUD', balance: 10_000n })
    const id = await billing.order(sam, offerAt(1770n))
    expect((await billing.subscription(id))?.renewsAt).toBe('2026-04-14T23:00:00.000Z')
    await at('2026-04-14T22:59:59Z')
    expect(await billing.invoices(id)).toHaveLength(1)
    await at('2026-04-14T23:00:00Z')
    expect(await billing.invoices(id)).toHaveLength(2)
  })

  test('of 29 February, and over a new year that begins earlier in Vietnam', async () => {
    await at('2028-02-28T17:30:00Z')
    const an = await billing.customer({ balance: price * 30n })
    const id = await billing.order(an, offerAt(price))
    expect((await billing.subscription(id))?.renewsAt).toBe('2028-03-28T17:30:00.000Z')
    await at('2028-12-31T17:30:00Z')
    const { number } = await billing.db
      .selectFrom('invoice')
      .select('number')
      .where('subscription_id', '=', id)
      .orderBy('seq', 'desc')
      .executeTakeFirstOrThrow()
    // Ordered at half past midnight on the 29th: nine renewals are due by New Year in Vietnam, and
    // all their numbers have the year in Vietnam's time.
    expect(await billing.invoices(id)).toHaveLength(11)
    expect(number).toMatch(/^VN-2029-/)
    await at('2029-02-27T17:30:00Z')
    expect((await billing.subscription(id))?.periodStart).toBe('2029-02-27T17:30:00.000Z')
    expect((await billing.subscription(id))?.renewsAt).toBe('2029-03-28T17:30:00.000Z')
  })

  test('the clock set back charges nothing again; over three renewals, three', async () => {
    await at('2027-06-10T00:00:00Z')
    const an = await billing.customer({ balance: price * 10n })
    const id = await billing.order(an, offerAt(price))
    await at('2027-07-10T00:00:00Z')
    await at('2027-06-11T00:00:00Z')
    await at('2027-07-10T00:00:00Z')
    expect(await billing.invoices(id)).toHaveLength(2)
    await at('2027-10-10T00:00:00Z')
    expect(await billing.invoices(id)).toHaveLength(5)
    expect(await billing.balance(an)).toBe(price * 5n)
  })

  test('a cheaper price acts with the renewal; what is no longer sold keeps its own', async () => {
    await at('2027-06-10T00:00:00Z')
    const an = await billing.customer({ balance: price * 10n })
    const [kept, lowered] = [
      await billing.order(an, offerAt(price)),
      await billing.order(an, offerAt(price)),
    ]
    billing.price = (id) => (id === lowered ? offerAt(150_000n) : undefined)
    expect(await billing.subscription(lowered)).toMatchObject({
      price: Number(price),
      renewalPrice: 150_000,
    })
    await at('2027-07-10T00:00:00Z')
    billing.price = () => undefined
    expect((await billing.invoices(lowered)).at(-1)).toBe('renewal 150000 paid 2027-07-10')
    expect((await billing.invoices(kept)).at(-1)).toBe(`renewal ${price} paid 2027-07-10`)
    expect((await billing.subscription(lowered))?.price).toBe(150_000)
  })

  test('two portals at once and one killed in between: each is charged once', async () => {
    await at('2027-06-15T00:00:00Z')
    const an = await billing.customer({ balance: price * 200n })
    const ids: string[] = []
    for (let n = 0; n < 40; n++) ids.push(await billing.order(an, offerAt(price)))
    const second = billing.second()
    billing.clock.advance(days(30))
    const cut = (application: string) =>
      sql`select pg_terminate_backend(pid) from pg_stat_activity
        where application_name = ${application} and datname = current_database()
        and pid <> pg_backend_pid()`
        .execute(billing.db)
        .catch(() => undefined)
    await Promise.allSettled([
      billing.bills.sweep(),
      second.bills.sweep(),
      cut('portal'),
      second.bills.sweep(),
      cut('portal'),
    ])
    // More rounds, as the job would run them. Some waiting connections do not know yet that they
    // are cut, and rows locked by an ending backend are skipped until it has ended.
    await eventually('rounds of both that leave none', async () => {
      await Promise.allSettled([billing.bills.sweep(), second.bills.sweep()])
      const invoices = await Promise.all(ids.map((id) => billing.invoices(id)))
      return invoices.every((own) => own.length > 1)
    })
    await second.close()
    for (const id of ids)
      expect(await billing.invoices(id)).toEqual([
        `order ${price} paid`,
        `renewal ${price} paid 2027-07-15`,
      ])
    expect(await billing.balance(an)).toBe(price * 120n)
  })

  test('one that somebody holds while it falls due is waited for', async () => {
    await at('2027-01-31T03:00:00Z')
    const an = await billing.customer({ balance: price * 2n })
    const id = await billing.order(an, offerAt(price))
    const holder = new pg.Client({ connectionString: billing.databaseUrl })
    await holder.connect()
    try {
      await holder.query('begin')
      await holder.query('select id from subscription where id = $1 for update', [id])
      billing.clock.advance(
        new Date('2027-02-28T03:00:00Z').getTime() - billing.clock.now().getTime(),
      )
      const sweeps = billing.bills.sweep()
      await eventually('the look waits', async () => {
        const { rows } = await holder.query(
          `select from pg_stat_activity
          where datname = current_database() and wait_event_type = 'Lock'`,
        )
        return rows.length > 0
      })
      await holder.query('commit')
      await sweeps
      expect(await billing.invoices(id)).toEqual([
        `order ${price} paid`,
        `renewal ${price} paid 2027-02-28`,
      ])
      // A permanently locked row delays no other row, of its own phase or a later one.
      const binh = await billing.customer({ balance: price })
      const other = await billing.order(binh, offerAt(price))
      await holder.query('begin')
      await holder.query('select id from subscription where id = $1 for update', [id])
      await at('2027-04-01T03:00:00Z')
      expect((await billing.invoices(id)).length).toBe(2)
      expect((await billing.subscription(other))?.status).toBe('past_due')
      await holder.query('commit')
      await billing.bills.sweep()
      expect((await billing.invoices(id)).length).toBe(3)
    } finally {
      await holder.end()
    }
  })

  test('that fails at any statement leaves nothing half done', async () => {
    await at('2027-06-18T00:00:00Z')
    const an = await billing.customer({ balance: price * 10n })
    const id = await billing.order(an, offerAt(price))
    billing.clock.advance(days(30))
    const before = [await billing.invoices(id), await billing.balance(an)]
    for (const table of [
      'ledger_entry',
      'invoice',
      'invoice_line',
      'subscription',
      'invoice_counter',
    ]) {
      await sql`create function break_it() returns trigger language plpgsql as $$ begin raise
        exception 'broken on purpose'; end $$`.execute(billing.db)
      await sql`create trigger break_it after insert
        or update on ${sql.table(table)} for each statement execute function break_it()`.execute(
        billing.db,
      )
      await billing.bills.sweep()
      expect([await billing.invoices(id), await billing.balance(an)]).toEqual(before)
      await sql`drop function break_it() cascade`.execute(billing.db)
    }
    await billing.bills.sweep()
    expect(await billing.balance(an)).toBe(price * 8n)
  })

  test.each(['before', 'after'] as const)(
    'whose worker is gone at any statement, %s the server has heard it, is charged once',
    async (moment) => {
      await at(moment === 'before' ? '2027-09-01T00:00:00Z' : '2031-09-01T00:00:00Z')
      const an = await billing.customer({ balance: price * 500n })
      const id = await billing.order(an, offerAt(price))
      const wire = await openCutWire(billing.databaseUrl)
      let renewed = 0
      for (let statement = 1; ; statement++) {
        const due = (await billing.subscription(id))?.renewsAt ?? ''
        billing.clock.advance(Date.parse(due) - billing.clock.now().getTime())
        const doomed = billing.second(wire.url)
        wire.cutAt(statement, moment)
        await doomed.bills.sweep().catch(() => undefined)
        const through = wire.heard() < statement
        await doomed.close()
        await forgotten(billing.db)
        await billing.bills.sweep()
        renewed += 1
        expect(await billing.balance(an)).toBe(price * BigInt(499 - renewed))
        expect(
          (await billing.invoices(id)).filter(
            (line) => line.startsWith('renewal') && line.includes(' paid '),
          ),
        ).toHaveLength(renewed)
        if (through) break
      }
      await wire.close()
      // A renewal has this many statements, and the worker was killed after each of them once.
      expect(renewed).toBeGreaterThan(10)
      await billing.ledgerHolds()
    },
  )

  test('one whose price cannot be told holds up nobody else', async () => {
    await at('2027-06-20T00:00:00Z')
    const an = await billing.customer({ balance: price * 100n })
    const ids: string[] = []
    for (let n = 0; n < 5; n++) ids.push(await billing.order(an, offerAt(price)))
    billing.price = (id) => {
      if (id === ids[2]) throw new Error('no price')
      return undefined
    }
    await at('2027-07-20T00:00:00Z')
    billing.price = () => undefined
    const counts = await Promise.all(ids.map(async (id) => (await billing.invoices(id)).length))
    expect(counts).toEqual([2, 2, 1, 2, 2])
    billing.clock.advance(minutes(6))
    expect(await billing.bills.waiting()).toBe(1)
    await billing.bills.sweep()
    expect(await billing.invoices(ids[2] ?? '')).toHaveLength(2)
  })
})

describe('not paid', () => {
  test('reminded at 0, 3 and 6 days, suspended at 7, paid and back, same anchor', async () => {
    await at('2027-06-10T00:00:00Z')
    const an = await billing.customer({ balance: price })
    const id = await billing.order(an, offerAt(price))
    const due = new Date('2027-07-10T00:00:00Z')
    const seen: Record<string, unknown>[] = []
    for (const day of [0, 1, 3, 5, 6, 6.9, 7, 8]) {
      await at(later(due, days(day)))
      seen.push({
        day,
        status: (await billing.subscription(id))?.status,
        letters: lettersTo(an).length,
        jobs: jobsOf(id).join(),
      })
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
    expect((await billing.subscription(id))?.unpaid).toMatchObject({
      amount_due: Number(price),
      suspendsAt: '2027-07-17T00:00:00.000Z',
      deletesAt: '2027-08-09T00:00:00.000Z',
    })
    await billing.topUp(an, price)
    expect(await billing.subscription(id)).toMatchObject({
      status: 'active',
      unpaid: null,
      renewsAt: '2027-08-10T00:00:00.000Z',
    })
    expect(jobsOf(id)).toEqual(['suspend', 'resume'])
    expect(await billing.invoices(id)).toEqual([
      `order ${price} paid`,
      `renewal ${price} paid 2027-07-10`,
    ])
  })

  test('for 30 days it is deleted and owes nothing; never without suspension', async () => {
    await at('2027-06-10T00:00:00Z')
    const an = await billing.customer({ balance: price })
    const id = await billing.order(an, offerAt(price))
    for (const day of [0, 7, 27]) await at(later(new Date('2027-07-10T00:00:00Z'), days(day)))
    await at('2027-08-09T00:00:00Z')
    expect(jobsOf(id)).toEqual(['suspend', 'remove'])
    expect(lettersTo(an).slice(1)).toEqual([
      'Một thứ đã bị tạm ngưng',
      'Một thứ sẽ bị xoá ngày 2027-08-09',
      'Một thứ đã bị xoá',
    ])
    expect(await billing.invoices(id)).toEqual([
      `order ${price} paid`,
      `renewal ${price} void 2027-07-10`,
    ])
    expect((await billing.subscription(id))?.status).toBe('ended')
    await billing.topUp(an, price)
    expect(await billing.balance(an)).toBe(price)
  })

  test('paid in the very second of the suspension it runs, whichever came first', async () => {
    for (let round = 0; round < 10; round++) {
      await at('2027-06-10T00:00:00Z')
      const an = await billing.customer({ balance: price })
      const id = await billing.order(an, offerAt(price))
      await at('2027-07-10T00:00:00Z')
      await at('2027-07-16T00:00:00Z')
      billing.clock.advance(days(1))
      await Promise.all([billing.bills.sweep(), billing.topUp(an, price)])
      expect((await billing.subscription(id))?.status).toBe('active')
      expect(['', 'suspend,resume']).toContain(jobsOf(id).join())
      expect(await billing.balance(an)).toBe(0n)
    }
  })

  test('money that came without a top-up is found by the next look', async () => {
    await at('2027-06-10T00:00:00Z')
    const an = await billing.customer({ balance: price })
    const id = await billing.order(an, offerAt(price))
    await at('2027-07-10T00:00:00Z')
    await transaction(billing.db, (tx) =>
      billing.ledger.refund(tx, {
        key: `gift:${id}`,
        customerId: an.id,
        product: standIn,
        amount: price,
        currency: 'VND',
        details: {},
      }),
    )
    await at('2027-07-13T00:00:00Z')
    expect((await billing.subscription(id))?.status).toBe('active')
  })

  test('is told once more three days before it is deleted; paid, it comes back', async () => {
    await at('2027-06-10T00:00:00Z')
    const [an, binh] = [
      await billing.customer({ balance: price }),
      await billing.customer({ balance: price }),
    ]
    const id = await billing.order(an, offerAt(price))
    const other = await billing.order(binh, offerAt(price))
    const due = new Date('2027-07-10T00:00:00Z')
    for (const day of [0, 7, 26, 27, 28]) await at(later(due, days(day)))
    for (const each of [an, binh])
      expect(lettersTo(each).slice(-2)).toEqual([
        'Một thứ đã bị tạm ngưng',
        'Một thứ sẽ bị xoá ngày 2027-08-09',
      ])
    await billing.topUp(binh, price)
    await at(later(due, days(30)))
    expect((await billing.subscription(id))?.status).toBe('ended')
    expect(lettersTo(an).at(-1)).toBe('Một thứ đã bị xoá')
    expect((await billing.subscription(other))?.status).toBe('active')
  })

  test('nobody looked for a month: told, suspended and deleted, each in its time', async () => {
    await at('2027-06-10T00:00:00Z')
    const an = await billing.customer({ balance: price })
    const id = await billing.order(an, offerAt(price))
    const found = new Date('2027-08-12T00:00:00Z')
    const seen: unknown[] = []
    for (const day of [0, 3, 6, 7, 26, 27, 29, 30]) {
      await at(later(found, days(day)))
      await billing.bills.sweep()
      seen.push([day, (await billing.subscription(id))?.status, lettersTo(an).length])
      if (day < 30)
        expect((await billing.subscription(id))?.unpaid).toMatchObject({
          dueAt: '2027-07-10T00:00:00.000Z',
          suspendsAt: '2027-08-19T00:00:00.000Z',
          deletesAt: '2027-09-11T00:00:00.000Z',
        })
    }
    expect(seen).toEqual([
      [0, 'past_due', 1],
      [3, 'past_due', 2],
      [6, 'past_due', 3],
      [7, 'suspended', 4],
      [26, 'suspended', 4],
      [27, 'suspended', 5],
      [29, 'suspended', 5],
      [30, 'ended', 6],
    ])
    expect(lettersTo(an).at(-2)).toBe('Một thứ sẽ bị xoá ngày 2027-09-11')
    expect(textsTo(an)[1]).toMatch(/2027-08-19.*2027-09-11/)
  })

  test('a suspension or last letter that comes late moves the deletion, and names it', async () => {
    await at('2027-06-10T00:00:00Z')
    const [an, binh] = [
      await billing.customer({ balance: price }),
      await billing.customer({ balance: price }),
    ]
    const [late, silent] = [
      await billing.order(an, offerAt(price)),
      await billing.order(binh, offerAt(price)),
    ]
    const due = new Date('2027-07-10T00:00:00Z')
    await at(due)
    // The second one is suspended in time, and the letter that should follow is late.
    await billing.db
      .updateTable('subscription')
      .set({ next_at: later(due, days(40)) })
      .where('id', '=', late)
      .execute()
    await at(later(due, days(7)))
    await at(later(due, days(40)))
    expect((await billing.subscription(late))?.status).toBe('suspended')
    expect(textsTo(an).at(-1)).toContain('đến ngày 2027-09-11')
    expect(lettersTo(binh).at(-1)).toBe('Một thứ sẽ bị xoá ngày 2027-08-22')
    expect((await billing.subscription(silent))?.unpaid?.deletesAt).toBe('2027-08-22T00:00:00.000Z')
    await at(later(due, days(42.9)))
    expect((await billing.subscription(silent))?.status).toBe('suspended')
    await at(later(due, days(43)))
    expect((await billing.subscription(silent))?.status).toBe('ended')
    expect(lettersTo(binh).at(-1)).toBe('Một thứ đã bị xoá')
    await at(later(due, days(60)))
    expect(lettersTo(an).at(-1)).toBe('Một thứ sẽ bị xoá ngày 2027-09-11')
    await at(later(due, days(63)))
    expect((await billing.subscription(late))?.status).toBe('ended')
  })

  test('a catalogue with fewer days deletes nothing before the day that was told', async () => {
    await at('2027-06-10T00:00:00Z')
    const an = await billing.customer({ balance: price })
    const id = await billing.order(an, offerAt(price))
    const due = new Date('2027-07-10T00:00:00Z')
    for (const day of [0, 7]) await at(later(due, days(day)))
    const rule = billing.catalog.billing as { deleteDays: number }
    const told = rule.deleteDays
    try {
      for (const fewer of [20, 9]) {
        rule.deleteDays = fewer
        await at(later(due, days(27)))
        expect((await billing.subscription(id))?.status).toBe('suspended')
        expect(lettersTo(an).at(-1)).toBe('Một thứ sẽ bị xoá ngày 2027-08-09')
        await at(later(due, days(29.9)))
        expect((await billing.subscription(id))?.status).toBe('suspended')
      }
      await at(later(due, days(30)))
      expect((await billing.subscription(id))?.status).toBe('ended')
    } finally {
      rule.deleteDays = told
    }
  })

  test('a clock that is moved in one jump suspends after 7 days and deletes after 30', async () => {
    const moved = await openTestBilling('2027-06-10T00:00:00Z', undefined, { travels: true })
    const { at: moveTo, jobsOf: movedJobsOf } = calendarOf(() => moved)
    for (const [year, day, jobs, status] of [
      [2027, 7, ['suspend'], 'suspended'],
      [2028, 30, ['suspend', 'remove'], 'ended'],
    ] as const) {
      await moveTo(`${year}-06-10T00:00:00Z`)
      const id = await moved.order(await moved.customer({ balance: price }), offerAt(price))
      await moveTo(later(new Date(`${year}-07-10T00:00:00Z`), days(day)))
      expect([movedJobsOf(id), (await moved.subscription(id))?.status]).toEqual([jobs, status])
    }
    await moved.close()
  })

  test('the step that is due, for any moment', () => {
    const rule = { reminderDays: [0, 3, 6], suspendDays: 7, deleteDays: 30 }
    const dueAt = new Date('2027-01-01T00:00:00Z')
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: days(60) }),
        fc.constantFrom(null, 0, 3, 6, 27),
        (passed, reminded) => {
          const now = later(dueAt, passed)
          const unpaid = dunningStep({ dueAt, status: 'past_due', reminded }, now, rule)
          expect(unpaid.act === 'suspend').toBe(passed >= days(7))
          expect(unpaid.nextAt > now || unpaid.act === 'suspend').toBe(true)
          if (unpaid.act === 'remind') expect(unpaid.day).toBeGreaterThan(reminded ?? -1)
          for (const travels of [false, true]) {
            const of = { dueAt, status: 'suspended', reminded } as const
            const suspended = dunningStep(of, now, rule, { travels })
            const isTold = reminded === 27
            // Only a clock that skips days deletes what had no last letter.
            const isOver = passed >= days(30) && (isTold || travels)
            expect(suspended.act === 'delete').toBe(isOver)
            expect(suspended.act === 'warn').toBe(passed >= days(27) && !isTold && !isOver)
            if (suspended.act === 'warn' && !travels)
              expect(suspended.nextAt.getTime() - passed - dueAt.getTime()).toBeGreaterThan(
                days(2.9),
              )
            expect(suspended.nextAt > now || suspended.act === 'delete').toBe(true)
          }
        },
      ),
    )
  })
})
