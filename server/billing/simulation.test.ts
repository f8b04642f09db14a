/**
 * Three years of random customers against an independent model of the rules: each wallet must equal
 * the model's, entry by entry, every invoice number must exist once, and the runway must name the
 * very moment at which an untouched wallet is first short. Every other day a second worker begins
 * and loses its database at a random statement, which must have no visible effect.
 *
 * `CUSTOMERS=1000 npx vitest run server/billing/simulation.test.ts` runs as many; SEED repeats a
 * run.
 */
import { sql } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { offerAt, openTestBilling, type TestBilling, type Buyer } from '../../test/test-billing.ts'
import { forgotten, openCutWire, type CutWire } from '../../test/cut-wire.ts'
import { transaction } from '../platform/db.ts'

const count = Number(process.env['CUSTOMERS'] ?? 10)
const seed = Number(process.env['SEED'] ?? 20_261_121)
const span = 3 * 365
/** Days without any act: the runway's forecasts are checked on them. */
const quiet = [
  [400, 490],
  [span - 90, span],
] as const
const day = 86_400_000
const began = '2027-01-03T09:17:23Z'

let billing: TestBilling
let wire: CutWire
beforeAll(async () => {
  billing = await openTestBilling(began)
  wire = await openCutWire(billing.databaseUrl)
})
afterAll(async () => {
  await wire.close()
  await billing.close()
})

/** Mulberry32: small, and the same on every machine. */
function randomFrom(state: number): () => number {
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}
const random = randomFrom(seed)
const below = (n: number): number => Math.floor(random() * n)
/**
 * The moments of the kills have their own random numbers, so that customers act the same with and
 * without them.
 */
const killing = randomFrom(seed ^ 0x5eed)
/** The number of statements in a second worker's last complete round. */
let roundLength = 20

/**
 * Runs a worker that is cut off somewhere in its round: before the server received the statement,
 * or when only the answer was lost. Answers whether it was cut off.
 */
async function killedWorker(): Promise<boolean> {
  const doomed = billing.second(wire.url)
  wire.cutAt(1 + Math.floor(killing() * roundLength * 1.2), killing() < 0.5 ? 'before' : 'after')
  try {
    await doomed.bills.sweep()
    roundLength = Math.max(5, wire.heard())
    return false
  } catch {
    return true
  } finally {
    await doomed.close()
    await forgotten(billing.db)
  }
}

/** Hours by which a region's clocks may be ahead of UTC. */
const ahead = { VN: [7], USD: [0], AUD: [11, 10] } as const
type Region = keyof typeof ahead
const zones = { VN: 'Asia/Ho_Chi_Minh', USD: 'UTC', AUD: 'Australia/Sydney' }

/** The model's calendar: tries a region's offsets until the local time is the wanted one. */
function monthsOn(anchor: number, months: number, region: Region): number {
  const [date = '', time = ''] = new Date(anchor)
    .toLocaleString('sv-SE', { timeZone: zones[region] })
    .split(' ')
  const [year = 0, month = 0, dayOfMonth = 0] = date.split('-').map(Number)
  const first = new Date(Date.UTC(year, month - 1 + months, 1))
  const last = new Date(Date.UTC(year, month + months, 0)).getUTCDate()
  const shown =
    `${first.toISOString().slice(0, 8)}${String(Math.min(dayOfMonth, last)).padStart(2, '0')} ` +
    `${time}`
  const offsets = ahead[region]
  for (const hours of offsets) {
    const candidate = Date.parse(`${shown.replace(' ', 'T')}Z`) - hours * 3_600_000
    if (new Date(candidate).toLocaleString('sv-SE', { timeZone: zones[region] }) === shown)
      return candidate + (anchor % 1000)
  }
  return (
    Date.parse(`${shown.replace(' ', 'T')}Z`) - (offsets.at(-1) ?? 0) * 3_600_000 + (anchor % 1000)
  )
}

/**
 * price x left / whole, rounded to the nearest unit and a half to the even one; by the remainder of
 * a long division.
 */
function part(price: number, left: number, whole: number): number {
  const product = BigInt(price) * BigInt(left)
  const down = product / BigInt(whole)
  const rest = product - down * BigInt(whole)
  const up = rest * 2n > BigInt(whole) || (rest * 2n === BigInt(whole) && down % 2n !== 0n)
  return Number(down) + (up ? 1 : 0)
}

/** Days after it was told at which somebody looks whether it can be paid after all. */
const looks = [0, 3, 6, 7, 27, 30]
/** What is done within the hour was done in time. */
const hour = 3_600_000
const inTime = (wanted: number, possible: number): number =>
  possible - wanted > hour ? possible : wanted

interface Service {
  readonly id: string
  price: number
  state: 'waiting' | 'runs' | 'late' | 'stopped' | 'gone'
  anchor: number
  passed: number
  from: number
  until: number
  wanted: number | null
  leaves: boolean
  /** The look that comes next, and when. */
  look: number
  lookAt: number
  /** When it was told that the month is unpaid. */
  told: number
  /** When an order that nobody paid is over. */
  lapses: number
  /** An announced higher price, and the time from which it may act. */
  rise: { price: number; from: number } | null
  /** The documents of the running month: the price from each one on, and its total. */
  documents: { price: number; total: number }[]
}
interface Debt {
  readonly service: Service
  readonly amount: number
}
class Model {
  held = 0
  readonly entries: number[] = []
  readonly services: Service[] = []
  lapsed = 0
  announced = 0
  /** Oldest first. */
  debts: Debt[] = []
  readonly region: Region
  constructor(region: Region) {
    this.region = region
  }
  move(amount: number): void {
    if (amount === 0) return
    this.held += amount
    this.entries.push(amount)
  }
  settle(now: number): void {
    for (const debt of this.debts) {
      if (debt.amount > this.held || debt.service.lapses <= now) continue
      this.debts = this.debts.filter((each) => each !== debt)
      this.paid(debt, now)
    }
  }
  paid({ service, amount }: Debt, now: number): void {
    this.move(-amount)
    const restart = (): void => {
      service.anchor = now
      service.passed = 1
      service.from = now
      service.until = monthsOn(now, 1, this.region)
    }
    // The first month begins with the payment.
    if (service.state === 'waiting') {
      restart()
      service.lapses = Number.POSITIVE_INFINITY
    } else {
      const next = monthsOn(service.anchor, service.passed + 1, this.region)
      if (next <= now) restart()
      else {
        service.passed += 1
        service.from = service.until
        service.until = next
      }
    }
    service.state = 'runs'
    service.documents = [{ price: amount, total: amount }]
  }
  order(id: string, price: number, now: number): void {
    const service: Service = {
      id,
      price,
      state: 'waiting',
      anchor: now,
      passed: 1,
      from: now,
      until: monthsOn(now, 1, this.region),
      wanted: null,
      look: 0,
      lookAt: now,
      told: now,
      leaves: false,
      lapses: now + 7 * day,
      documents: [],
      rise: null,
    }
    this.services.push(service)
    // An order is paid independently of other open invoices.
    if (price <= this.held) this.paid({ service, amount: price }, now)
    else this.debts.push({ service, amount: price })
  }
  /** The catalogue's price; for a planned change the price at which it was planned. */
  asked(service: Service, listPrice: (id: string) => number | undefined): number {
    return service.wanted ?? listPrice(service.id) ?? service.price
  }
  /** Announces what will cost more. */
  announce(now: number, listPrice: (id: string) => number | undefined): void {
    for (const service of this.services) {
      if (service.state !== 'runs' || service.leaves) continue
      const asked = this.asked(service, listPrice)
      if (asked <= (service.wanted ?? service.price)) service.rise = null
      else if (!service.rise || asked > service.rise.price) {
        service.rise = { price: asked, from: now + 30 * day }
        this.announced += 1
      }
    }
  }
  gone(service: Service): void {
    service.state = 'gone'
    this.debts = this.debts.filter((debt) => debt.service !== service)
  }
  tick(now: number, listPrice: (id: string) => number | undefined): void {
    const due = (states: Service['state'][]) =>
      this.services
        .filter(({ state, until }) => states.includes(state) && until <= now)
        .toSorted((one, other) => one.until - other.until || (one.id < other.id ? -1 : 1))
    for (let found = due(['runs']); found.length > 0; found = due(['runs'])) {
      for (const service of found) {
        if (service.leaves) {
          this.gone(service)
          continue
        }
        const agreed = service.wanted ?? service.price
        const asked = this.asked(service, listPrice)
        const told =
          service.rise && service.rise.from <= service.until && asked <= service.rise.price
        service.price = asked <= agreed || told ? asked : agreed
        if (service.rise && service.rise.from <= service.until) service.rise = null
        service.wanted = null
        const debt = { service, amount: service.price }
        if (debt.amount <= this.held) this.paid(debt, now)
        else {
          service.state = 'late'
          service.look = 0
          service.told = inTime(service.until, now)
          service.lookAt = service.told
          this.debts.push(debt)
        }
      }
    }
    for (;;) {
      const service = this.services
        .filter((each) => (each.state === 'late' || each.state === 'stopped') && each.lookAt <= now)
        .toSorted((one, other) => one.lookAt - other.lookAt || (one.id < other.id ? -1 : 1))[0]
      if (!service) break
      const debt = this.debts.find((each) => each.service === service)
      const overdue = (now - service.told) / day
      if (debt && debt.amount <= this.held) {
        this.debts = this.debts.filter((each) => each !== debt)
        this.paid(debt, now)
      } else if (service.state === 'stopped') {
        if (service.look === 5) this.gone(service)
        else {
          // The last letter, three days before the end.
          service.look = 5
          service.lookAt = inTime(service.told + 30 * day, now + 3 * day)
        }
      } else if (overdue >= 7) {
        service.state = 'stopped'
        service.look = 4
        service.lookAt = inTime(service.told + 30 * day, now + 23 * day) - 3 * day
      } else {
        service.look = looks.findIndex((after) => after > overdue)
        service.lookAt = service.told + (looks[service.look] ?? 0) * day
      }
    }
    for (const service of this.services)
      if (service.state === 'waiting' && service.lapses <= now) {
        this.gone(service)
        this.lapsed += 1
      }
    this.settle(now)
  }
}

test(
  `${count} customers over three years (seed ${seed})`,
  { timeout: 60_000 + count * 10_000 },
  async () => {
    const listed = new Map<string, number>()
    billing.price = (id, change) => {
      const price = (change as { price?: number } | null)?.price ?? listed.get(id)
      return price === undefined ? undefined : offerAt(BigInt(price))
    }
    const regions: Region[] = ['VN', 'VN', 'AUD', 'USD']
    const people: { buyer: Buyer; model: Model }[] = []
    for (let n = 0; n < count; n++) {
      const region = regions[n % regions.length] ?? 'VN'
      people.push({ buyer: await billing.customer({ region }), model: new Model(region) })
    }
    const does = async (
      kind: number,
      { buyer, model }: { buyer: Buyer; model: Model },
    ): Promise<void> => {
      const now = billing.clock.now().getTime()
      const unit = model.region === 'VN' ? 1000 : 10
      const service = model.services.filter(({ state }) => state !== 'gone')[below(3)]
      const runs = service?.state === 'runs' && service.until > now
      if (kind < 30) {
        // The bank declines one top-up in ten: nothing arrives.
        const amount = (1 + below(900)) * unit
        if (below(10) === 0) return
        await billing.topUp(buyer, BigInt(amount))
        model.move(amount)
        model.settle(now)
      } else if (kind < 45) {
        if (model.services.filter(({ state }) => state !== 'gone').length >= 3) return
        const price = (50 + below(200)) * unit + below(unit)
        model.order(await billing.order(buyer, offerAt(BigInt(price))), price, now)
      } else if (kind < 60 && service && runs) {
        const to = service.price + (1 + below(100)) * unit
        const left = Math.floor((service.until - now) / 1000)
        const whole = Math.floor((service.until - service.from) / 1000)
        const difference = part(to, left, whole) - part(service.price, left, whole)
        const changed = transaction(billing.db, (tx) =>
          billing.bills.changePrice(tx, {
            subscriptionId: service.id,
            to: offerAt(BigInt(to)),
            change: {},
            starts: null,
          }),
        )
        if (difference > model.held)
          return await expect(changed).rejects.toMatchObject({ code: 'insufficient_balance' })
        await changed
        model.move(-difference)
        if (difference > 0) service.documents.push({ price: to, total: difference })
        service.price = to
        service.wanted = null
        listed.delete(service.id)
      } else if (kind < 70 && service && runs) {
        const price = Math.max(1, service.price - (1 + below(50)) * unit)
        if (price >= service.price) return
        await transaction(billing.db, (tx) =>
          billing.bills.changePrice(tx, {
            subscriptionId: service.id,
            to: offerAt(BigInt(price)),
            change: { price },
            starts: null,
          }),
        )
        service.wanted = price
        // The planned price stays the service's price after it takes effect.
        listed.delete(service.id)
      } else if (kind < 76 && service && runs) {
        service.leaves = !service.leaves
        await transaction(billing.db, (tx) =>
          service.leaves
            ? billing.bills.cancel(tx, service.id, 'period_end')
            : billing.bills.resume(tx, service.id),
        )
      } else if (kind < 80 && service) {
        const left = Math.floor((service.until - now) / 1000)
        const whole = Math.floor((service.until - service.from) / 1000)
        if (runs) {
          // One credit note, and one entry, per document of the month that charged a part of it.
          const unused = part(service.price, left, whole)
          const grown = service.documents.slice(1).map(({ price, total }, index) => {
            const before = service.documents[index]?.price ?? 0
            return Math.min(total, part(price, left, whole) - part(before, left, whole))
          })
          model.move(unused - grown.reduce((sum, each) => sum + each, 0))
          for (const each of grown) model.move(each)
        }
        model.gone(service)
        await transaction(billing.db, (tx) => billing.bills.cancel(tx, service.id, 'now'))
        await billing.payJobs()
        model.settle(now)
      } else if (kind < 85 && service?.wanted === null) {
        // The catalogue's price changes: from the next renewal on.
        listed.set(service.id, Math.max(1, service.price + (below(40) - 10) * unit))
      }
    }

    let forecasts = new Map<Model, number | null>()
    let forecastsMade = 0
    /** Forecasts that a renewal came true to. */
    let forecastsMet = 0
    let kills = 0
    for (let today = 0; today < span; today++) {
      const silence = quiet.find(([first, end]) => today >= first && today < end)
      if (silence?.[0] === today) {
        forecasts = new Map()
        for (const { buyer, model } of people) {
          if (model.services.some(({ state }) => state === 'late' || state === 'stopped')) continue
          const { emptyAt } = await billing.bills.runway(billing.db, buyer.id)
          forecasts.set(model, emptyAt === null ? null : Date.parse(emptyAt))
          forecastsMade += 1
        }
      }
      if (!silence) for (const person of people) if (below(12) === 0) await does(below(100), person)
      // At any time of day, so that shares have odd numbers of seconds.
      billing.clock.advance(day - 5_000_000 + below(10_000_000))
      const now = billing.clock.now().getTime()
      const lateBefore = new Set(
        people.flatMap(({ model }) => model.services.filter(({ state }) => state !== 'runs')),
      )
      if (today % 2 === 0 && (await killedWorker())) kills += 1
      await billing.bills.sweep()
      await billing.payJobs()
      await billing.bills.announcePrices()
      for (const { model } of people) {
        model.tick(now, (id) => listed.get(id))
        model.announce(now, (id) => listed.get(id))
        const failed = model.services
          .filter((service) => !lateBefore.has(service) && service.state === 'late')
          .map(({ until }) => until)
        if (failed.length > 0 && forecasts.has(model)) {
          expect(forecasts.get(model)).toBe(Math.min(...failed))
          forecastsMet += 1
          forecasts.delete(model)
        }
      }
      if (silence && silence[1] === today + 1)
        for (const [, end] of forecasts) expect(end === null || end > now).toBe(true)
      if (!silence) forecasts = new Map()
    }

    for (const { buyer, model } of people) {
      const entries = await billing.db
        .selectFrom('ledger_entry as e')
        .innerJoin('ledger_account as a', 'a.id', 'e.account_id')
        .select('e.amount')
        .where('a.customer_id', '=', buyer.id)
        .orderBy('e.version')
        .execute()
      expect(entries.map(({ amount }) => Number(amount))).toEqual(model.entries)
      expect(Number(await billing.balance(buyer))).toBe(model.held)
      const states = {
        waiting: 'pending',
        runs: 'active',
        late: 'past_due',
        stopped: 'suspended',
        gone: 'ended',
      }
      for (const service of model.services)
        expect((await billing.subscription(service.id))?.status).toBe(states[service.state])
    }
    const { rows: numbers } = await sql<{
      region_code: string
      series: string
      first: number
      last: number
      n: number
    }>`
    select region_code, regexp_replace(number, '-[0-9]+$', '') as series,
      min(split_part(number, '-', -1)::int) as first, max(split_part(number, '-', -1)::int) as last,
      count(distinct number)::int as n
    from invoice where number is not null group by 1, 2
  `.execute(billing.db)
    for (const { first, last, n } of numbers) expect([first, last]).toEqual([1, n])
    expect(people.reduce((sum, { model }) => sum + model.lapsed, 0)).toBeGreaterThan(0)
    expect(numbers.length).toBeGreaterThan(3)
    expect(kills).toBeGreaterThan(span / 10)
    expect(forecastsMet).toBeGreaterThan(0)
    const announced = people.reduce((sum, { model }) => sum + model.announced, 0)
    expect(announced).toBeGreaterThan(0)
    expect(
      billing.published.filter(({ event }) => event === 'subscription.price_announced'),
    ).toHaveLength(announced)
    await billing.ledgerHolds()
    const invoices = numbers.reduce((sum, { n }) => sum + n, 0)
    process.stdout.write(
      `\n${count} customers, ${invoices} invoices, ${forecastsMade} forecasts of the runway, ` +
        `${kills} workers killed, no difference\n\n`,
    )
  },
)
