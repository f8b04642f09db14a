/** What is sold, edited at the desk: judged, looked at before, published, undone (decision 126). */
import { randomUUID } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type * as z from 'zod/mini'
import type { catalog, CatalogPreview, Selling } from '../../contract/operator-catalog.ts'
import type { ActOutcome } from '../../contract/operator-acts.ts'
import type { StaffRole } from '../../contract/staff-roles.ts'
import { runCommand } from '../../test/operator.ts'
import {
  eventually,
  manualClock,
  openTestPortal,
  type Answer,
  type TestCustomer,
  type TestPortal,
} from '../../test/portal.ts'
import { newMember, type TestMember } from '../../test/staff.ts'
import { days, hours } from '../platform/clock.ts'

type AtDesk = z.output<typeof catalog.result>
const shipped = readFileSync(path.resolve(import.meta.dirname, '../../catalog.yaml'), 'utf8')
const clock = manualClock(new Date('2027-03-02T03:00:00Z'))
const reason = 'Energy costs more from spring on'
let portal: TestPortal
let log = ''
let owner: TestMember
beforeAll(async () => {
  portal = await openTestPortal({
    clock,
    catalogText: shipped,
    logLines: (line) => (log += line),
  })
  owner = await newMember(portal, 'owner', { clock })
})
afterAll(async () => {
  await portal.ledgerHolds()
  await portal.close()
})

/** A session of the staff ends after eight hours. */
const member = (role: StaffRole = 'owner') => newMember(portal, role, { clock })
async function atDesk(by: TestMember = owner): Promise<AtDesk> {
  const shown = await by.call<AtDesk>('GET', '/api/operator/catalog')
  expect(shown.status, shown.text).toBe(200)
  return shown.body.result
}
const preview = (wanted: object, by: TestMember = owner) =>
  by.call<CatalogPreview>('POST', '/api/operator/catalog/preview', wanted)
const publish = (wanted: object, by: TestMember = owner) =>
  by.act<ActOutcome>('catalog.publish', { reason, ...wanted })
const done = (answer: Answer<ActOutcome>): ActOutcome => {
  expect(answer.status, answer.text).toBe(200)
  expect(answer.body.result.state, answer.text).toBe('done')
  return answer.body.result
}
/** What is sold now, with prices of a plan changed. */
async function priced(
  plan: number,
  prices: Partial<Selling['plans'][number]['prices']>,
): Promise<{ base: number; selling: Selling }> {
  const { version, selling } = await atDesk()
  const plans = selling.plans.map((one) =>
    one.id === plan ? { ...one, prices: { ...one.prices, ...prices } } : one,
  )
  return { base: version, selling: { ...selling, plans } }
}
const order = {
  size: 1,
  region: 1,
  disk: 10_240,
  mariadb_disk_size: 10_240,
  user: 'an',
  password: 'Mat-khau-9!',
  replicate: 1,
}
/** What the month of a new order costs. */
async function ordered({ id, token }: TestCustomer, size = 1): Promise<number> {
  const body = { ...order, size }
  const placed = await portal.call<{ id: string }>('POST', '/api/wp', { token, body })
  expect(placed.status, placed.text).toBeLessThan(300)
  const { amount } = await portal.app.db
    .selectFrom('invoice_line as l')
    .innerJoin('invoice as i', 'i.id', 'l.invoice_id')
    .select('l.amount')
    .where('i.customer_id', '=', id)
    .orderBy('i.seq', 'desc')
    .limit(1)
    .executeTakeFirstOrThrow()
  return Number(amount)
}
const running = async (): Promise<number> =>
  (
    await portal.app.db
      .selectFrom('subscription')
      .select('id')
      .where('status', '=', 'active')
      .execute()
  ).length

describe('what is sold', () => {
  test('is read by everybody who works here, and published by who may sell', async () => {
    const [looks, supports, counts] = [
      await member('read_only'),
      await member('support'),
      await member('finance'),
    ]
    const shown = await atDesk(looks)
    expect(shown).toMatchObject({ version: 1, waiting: null, failed: null })
    expect(shown.versions).toMatchObject([{ version: 1, source: 'file', origin: 'test:portal' }])
    expect(shown.files).toMatchObject([{ origin: 'test:portal', state: 'in_use' }])
    expect(shown.selling.plans[1]).toMatchObject({
      id: 2,
      name: 'BASIC-2',
      sold: true,
      prices: { VND: { price: '189000', sale: '149000' }, EUR: { price: '7.60', sale: '5.90' } },
    })
    const wanted = { base: 1, selling: shown.selling }
    expect((await publish(wanted, supports)).status).toBe(403)
    // Who may is told that nothing is changed.
    const same = await publish(wanted, counts)
    expect([same.status, same.body.error?.fields?.['selling']]).toEqual([
      409,
      'Nothing is changed.',
    ])
  })

  test('is judged as catalog.yaml is, each fault beside its field, in both languages', async () => {
    const { version, selling } = await atDesk()
    const [first, second, ...rest] = selling.plans
    if (!first || !second) throw new Error('the shipped catalogue has five plans')
    const plans = [
      {
        ...first,
        name: ' ',
        cpu: 'two',
        prices: { ...first.prices, VND: { price: '0', sale: '' } },
      },
      { ...second, ram: '100', prices: { ...second.prices, USD: { price: '5', sale: '5.00' } } },
      ...rest,
      { ...second, id: null, name: 'NEW', cpu: '', mailAnHour: '0' },
    ]
    const disks = { ...selling.disks, ssdPerGb: { ...selling.disks.ssdPerGb, EUR: '1,5' } }
    const [centre, ...others] = selling.dataCentres
    const dataCentres = [{ ...centre, country: 'Vietnam', minDiskGb: '5' }, ...others]
    const wanted = { base: version, selling: { plans, disks, dataCentres } }
    const english = await preview(wanted)
    expect([english.status, english.body.error?.fields]).toEqual([
      422,
      {
        'plans.0.name': 'Please fill this in.',
        'plans.0.cpu': 'Enter a number.',
        'plans.0.prices.VND.price': 'Enter a price above 0 in VND, such as 8900.',
        'plans.1.ram': 'At least 512.',
        'plans.1.prices.USD.sale': 'Enter an amount below the price, or nothing.',
        'plans.5.cpu': 'Please fill this in.',
        'plans.5.mailAnHour': 'At least 1.',
        'disks.ssdPerGb.EUR': 'Enter an amount in EUR, such as 4.00.',
        'dataCentres.0.country': 'At most 2 characters.',
        'dataCentres.0.minDiskGb': 'At least 10.',
      },
    ])
    const vietnamese = await portal.call('POST', '/api/operator/acts/catalog.publish', {
      headers: { ...owner.headers, 'accept-language': 'vi' },
      body: { ...wanted, reason },
    })
    expect(vietnamese.body.error?.fields).toMatchObject({
      'plans.0.cpu': 'Nhập một số.',
      'plans.1.prices.USD.sale': 'Nhập số tiền thấp hơn giá gốc, hoặc để trống.',
    })
    expect((await atDesk()).version).toBe(version)
  })

  test('has a preview: whose price changes, by how much, when, and the letter', async () => {
    const [an, binh, chi] = [
      await portal.customer(),
      await portal.customer(),
      await portal.customer(),
    ]
    for (const one of [an, binh, chi]) await portal.topUp(one, 3_000_000)
    await ordered(an)
    await ordered(an)
    await ordered(binh, 2)
    await ordered(chi, 3)
    await eventually('all four are paid', async () => (await running()) === 4)
    const { base, selling } = await priced(1, { VND: { price: '99000', sale: '' } })
    const wanted = {
      base,
      selling: {
        ...selling,
        plans: selling.plans.map((one) => {
          if (one.id === 2)
            return { ...one, prices: { ...one.prices, VND: { price: '189000', sale: '139000' } } }
          return one.id === 3 ? { ...one, sold: false } : one
        }),
      },
    }
    const answer = await preview(wanted)
    expect(answer.status, answer.text).toBe(200)
    const shown = answer.body.result
    // The model: twice the plan, once for the server and once for its container, and ten GB.
    const month = (plan: number): number => 2 * plan + 10 * 4000
    const { letter, ...figures } = shown
    expect(figures).toEqual({
      base,
      from: clock.now().toISOString(),
      changes: [
        change('BASIC-1', 'price', '89000', '99000'),
        change('BASIC-2', 'sale', '149000', '139000'),
        { ...change('PRO-4', 'sold', 'true', 'false'), currency: null },
      ],
      running: 4,
      currencies: [
        {
          currency: 'VND',
          before: 2 * month(89_000) + month(149_000),
          after: 2 * month(99_000) + month(139_000),
          // The renewal of 2 April is 31 days away, so it is the first one that may cost more.
          rises: { customers: 1, subscriptions: 2, firstOn: '2027-04-02', lastOn: '2027-04-02' },
          falls: { customers: 1, subscriptions: 1, firstOn: '2027-04-02', lastOn: '2027-04-02' },
        },
      ],
      kept: [{ plan: 'PRO-4', servers: 1 }],
      needsSecond: false,
    })
    done(await publish(wanted))
    await portal.app.bills.announcePrices()
    const sent = await eventually('the letters', async () => {
      const letters = (await portal.inbox(an.email)).filter(({ text }) => text.includes('99.000'))
      const rises = (await portal.inbox(an.email)).filter(({ text }) => text.includes('238.000'))
      return (letters.length > 0 || rises.length === 2) && rises
    })
    // Word for word what the preview showed.
    expect(sent.some(({ text }) => text.includes(letter?.vi.text ?? 'no letter'))).toBe(true)
    expect(letter?.en.subject).toMatch(/^The price of WordPress .* changes on 2027-04-02$/)
    expect(await portal.inbox(binh.email)).not.toContainEqual(
      expect.objectContaining({ text: expect.stringContaining('2027-04-02') as string }),
    )
    // PRO-4 is ordered by nobody any more.
    const dung = await portal.customer()
    const refused = await portal.call('POST', '/api/wp', {
      token: dung.token,
      body: { ...order, size: 3 },
    })
    expect([refused.status, Object.keys(refused.body.error?.fields ?? {})]).toEqual([422, ['size']])
  })
})
const change = (name: string, field: string, before: string, after: string) => ({
  of: 'plan',
  name,
  field,
  currency: 'VND',
  before,
  after,
})

describe('a publication', () => {
  test('prices what is ordered after it; of two at once one reads of the other', async () => {
    const an = await portal.customer()
    const old = await ordered(an)
    const wanted = await priced(1, { VND: { price: '101000', sale: '' } })
    const [one, other] = [owner, await member('finance')]
    const key = randomUUID()
    const answers = await Promise.all([
      publish({ ...wanted, key }, one),
      publish(
        { ...wanted, selling: (await priced(1, { VND: { price: '102000', sale: '' } })).selling },
        other,
      ),
    ])
    expect(answers.map(({ status }) => String(status)).toSorted()).toEqual(['200', '409'])
    const lost = answers.find(({ status }) => status === 409)
    expect(lost?.body.error?.fields?.['base']).toMatch(
      /^Member \d+ was first: version \d+ counts now\. Look at it, then go on\.$/,
    )
    const { version, versions } = await atDesk()
    expect(version).toBe(wanted.base + 1)
    expect(versions[0]).toMatchObject({ version, source: 'desk', publication: { reason } })
    expect(await ordered(an)).toBe(
      old + 2 * (Number(versions[0]?.changes[0]?.after) - Number(versions[0]?.changes[0]?.before)),
    )
  })

  test('acts once under its key', async () => {
    const wanted = {
      ...(await priced(4, { VND: { price: '990000', sale: '' } })),
      key: randomUUID(),
    }
    const first = done(await publish(wanted))
    const again = done(await publish(wanted))
    expect(again).toEqual({ ...first, repeated: true })
    expect((await atDesk()).version).toBe(wanted.base + 1)
  })

  test('that changes a price by more than a fifth needs a second member, who sees it', async () => {
    const wanted = await priced(5, { VND: { price: '2300000', sale: '' } })
    expect((await preview(wanted)).body.result.needsSecond).toBe(true)
    const proposed = await publish(wanted)
    expect(proposed.body.result.state).toBe('proposed')
    expect((await atDesk()).version).toBe(wanted.base)
    const other = await member()
    const { proposal } = proposed.body.result
    const seen = await other.call<CatalogPreview>(
      'GET',
      `/api/operator/catalog/proposals/${proposal}`,
    )
    expect(seen.body.result.changes).toEqual([change('PRO-16', 'price', '1890000', '2300000')])
    const approved = await other.call('POST', `/api/operator/proposals/${proposal}/approve`, {})
    expect(approved.status, approved.text).toBe(200)
    expect((await atDesk()).versions[0]?.publication).toMatchObject({
      by: owner.name,
      approvedBy: other.name,
    })
  })

  test('in small steps within a day needs one too', async () => {
    clock.advance(days(2))
    owner = await member()
    done(await publish(await priced(3, { USD: { price: '24.00', sale: '' } })))
    const further = await priced(3, { USD: { price: '27.00', sale: '' } })
    expect((await preview(further)).body.result.needsSecond).toBe(true)
    clock.advance(days(2))
    owner = await member()
    expect((await preview(further)).body.result.needsSecond).toBe(false)
  })

  test('of a later moment waits, counts by a job, and prices nothing before', async () => {
    const an = await portal.customer()
    const old = await ordered(an)
    const before = await atDesk()
    const from = new Date(clock.now().getTime() + days(3)).toISOString()
    const wanted = { ...(await priced(1, { VND: { price: '105000', sale: '' } })), from }
    const { after } = done(await publish(wanted))
    expect(after).toMatchObject({ version: null, countsAt: from })
    await portal.app.publications.countDue()
    const { version, waiting } = await atDesk()
    expect([version, waiting?.countsAt, waiting?.by]).toEqual([wanted.base, from, owner.name])
    expect(await ordered(an)).toBe(old)
    // A second one would take back what the first changes.
    const second = await publish(await priced(2, { EUR: { price: '7.70', sale: '' } }))
    expect(second.body.error?.fields?.['base']).toContain('waits already')
    clock.advance(days(3))
    owner = await member()
    await Promise.all([portal.app.publications.countDue(), portal.app.publications.countDue()])
    const now = await atDesk()
    expect(now).toMatchObject({ version: wanted.base + 1, waiting: null })
    expect(now.versions.filter(({ publication }) => publication?.id === waiting?.id)).toHaveLength(
      1,
    )
    const plan = (selling: Selling) => Number(selling.plans[0]?.prices.VND.price)
    const more = 2 * (plan(now.selling) - plan(before.selling))
    expect(more).toBeGreaterThan(0)
    expect(await ordered(await portal.customer())).toBe(old + more)
  })

  test('that waits is taken back', async () => {
    const from = new Date(clock.now().getTime() + hours(5)).toISOString()
    const wanted = { ...(await priced(1, { VND: { price: '106000', sale: '' } })), from }
    done(await publish(wanted))
    const { waiting } = await atDesk()
    const withdraw = () =>
      owner.act<ActOutcome>('catalog.withdraw', { publication: waiting?.id, reason })
    done(await withdraw())
    expect((await withdraw()).status).toBe(409)
    clock.advance(hours(6))
    await portal.app.publications.countDue()
    expect(await atDesk()).toMatchObject({ version: wanted.base, waiting: null })
  })

  test('does not count where somebody changed what is sold: a letter says so', async () => {
    const from = new Date(clock.now().getTime() + hours(1)).toISOString()
    owner = await member()
    done(await publish({ ...(await priced(1, { VND: { price: '107000', sale: '' } })), from }))
    const shown = await runCommand(portal, {}, 'catalog', 'show')
    const file = path.join(portal.dataDir, 'catalog.yaml')
    writeFileSync(file, shown.said.replace("'82.00'", "'83.00'"))
    const env = { CATALOG: file }
    expect((await runCommand(portal, env, 'catalog', 'use')).code).toBe(0)
    clock.advance(hours(2))
    await portal.app.publications.countDue()
    const now = await atDesk()
    expect(now).toMatchObject({ waiting: null, failed: { by: owner.name, state: 'failed' } })
    expect(now.versions[0]).toMatchObject({ source: 'use' })
    const letter = await eventually('the letter', async () =>
      (await portal.inbox(owner.email)).find(({ text }) => text.includes('/operator/catalog')),
    )
    expect(letter.text).toContain('không được áp dụng')
  })

  test('of an earlier version undoes; new plans stay for who has them, unsold', async () => {
    const before = await atDesk()
    const { version, selling } = before
    const copy = { ...selling.plans[0], id: null, name: 'BASIC-X' }
    // A new plan has no earlier price that a typing error would stand out from.
    const more = { base: version, selling: { ...selling, plans: [...selling.plans, copy] } }
    expect((await preview(more)).body.result.needsSecond).toBe(true)
    const { state, proposal } = (await publish(more)).body.result
    expect([state, (await atDesk()).version]).toEqual(['proposed', version])
    const other = await member()
    const approved = await other.call('POST', `/api/operator/proposals/${proposal}/approve`, {})
    expect(approved.status, approved.text).toBe(200)
    expect((await atDesk()).versions[0]?.changes[0]).toMatchObject({
      name: copy.name,
      field: 'new',
    })
    const now = await atDesk()
    const id = now.selling.plans.at(-1)?.id
    expect(id).toBe(6)
    const undo = { base: now.version, restores: version }
    expect((await preview(undo)).body.result).toMatchObject({
      changes: [{ name: 'BASIC-X', field: 'sold', before: 'true', after: 'false' }],
      kept: [{ plan: 'BASIC-X', servers: 0 }],
    })
    done(await publish(undo))
    const undone = await atDesk()
    expect(undone.versions[0]?.publication).toMatchObject({ restores: version })
    expect(undone.selling.plans).toEqual([
      ...selling.plans,
      { ...now.selling.plans.at(-1), sold: false },
    ])
  })
})

describe('the file of a start', () => {
  test('takes nothing back that the staff published; what else it says counts', async () => {
    const published = await priced(1, { VND: { price: '110000', sale: '' } })
    done(await publish(published))
    const { version } = await atDesk()
    await portal.reopen({ catalogText: shipped.replace('price: 89000', 'price: 90000') })
    const kept = await atDesk()
    expect(kept).toMatchObject({ version, files: [{ state: 'would_take_back' }] })
    expect(log).toContain('than the staff published at the desk')
    const listed = await runCommand(portal, {}, 'catalog')
    expect(listed.said).toContain('sells otherwise than the staff published, and is not in use')
    // As it is in use, with another support address.
    const { said } = await runCommand(portal, {}, 'catalog', 'show')
    expect(said).toContain('# What this provider sells.')
    await portal.reopen({ catalogText: said.replace('support@example.com', 'help@example.com') })
    const now = await atDesk()
    expect(now).toMatchObject({
      version: version + 1,
      selling: published.selling,
      files: [{ state: 'in_use' }],
    })
    const shown = await runCommand(portal, {}, 'catalog', 'show')
    expect(shown.said).toContain('help@example.com')
    // One line says which version it is, however often a file goes to and fro.
    expect(shown.said.match(/^# Version \d+$/gm)).toEqual([`# Version ${now.version}`])
    expect((await runCommand(portal, {}, 'catalog')).said).toMatch(/^The file of .* is in use \(/m)
    done(await publish(await priced(1, { VND: { price: '111000', sale: '' } })))
    expect((await runCommand(portal, {}, 'catalog')).said).toMatch(
      /^The file of .* sells otherwise than is in use, and will not count at the next start \(/m,
    )
    done(await publish(await priced(1, { VND: { price: '110000', sale: '' } })))
  })

  test('is compared, tried and published by commands', async () => {
    const { version } = await atDesk()
    const file = path.join(portal.dataDir, 'catalog.yaml')
    const { said: text } = await runCommand(portal, {}, 'catalog', 'show')
    writeFileSync(file, text.replace('price: 110000', 'price: 115000'))
    const env = { CATALOG: file }
    const diff = await runCommand(portal, env, 'catalog', 'diff', '--json')
    expect(JSON.parse(diff.said)).toMatchObject({
      inUse: version,
      changes: [change('BASIC-1', 'price', '110000', '115000')],
    })
    const tried = await runCommand(
      portal,
      env,
      ...'catalog publish --dry-run --json --reason'.split(' '),
      reason,
    )
    expect(JSON.parse(tried.said)).toMatchObject({
      dryRun: true,
      state: 'done',
      preview: {
        needsSecond: false,
        currencies: [{ currency: 'VND', rises: { customers: 1, subscriptions: 2 } }],
      },
    })
    expect((await atDesk()).version).toBe(version)
    const missing = await runCommand(portal, env, 'catalog', 'publish')
    expect(missing.code).toBe(64)
    // A colleague was first: what he changed is not taken back by a file that was made before.
    done(await publish(await priced(2, { EUR: { price: '7.60', sale: '6.00' } })))
    const late = await runCommand(portal, env, 'catalog', 'publish', '--reason', reason)
    expect([late.code, late.said]).toEqual([1, expect.stringContaining('was first: version')])
    const bare = text.replace(/^# Version \d+\n/, '')
    writeFileSync(file, bare)
    const nameless = await runCommand(portal, env, 'catalog', 'publish', '--reason', reason)
    expect([nameless.code, nameless.said]).toEqual([
      64,
      expect.stringContaining('--base <version>'),
    ])
    const fresh = await runCommand(portal, {}, 'catalog', 'show')
    writeFileSync(file, fresh.said.replace('price: 110000', 'price: 115000'))
    const { version: looked } = await atDesk()
    const moments = ['2027-07-01', '2027-07-01T08:30+07:00', '2027-02-30']
    const tries = await Promise.all(
      moments.map((moment) =>
        runCommand(
          portal,
          env,
          ...`catalog publish --dry-run --json --from ${moment} --reason`.split(' '),
          reason,
        ),
      ),
    )
    const [day, moment, none] = tries
    expect(JSON.parse(day?.said ?? '')).toMatchObject({
      preview: { from: '2027-06-30T17:00:00.000Z' },
    })
    expect(JSON.parse(moment?.said ?? '')).toMatchObject({
      preview: { from: '2027-07-01T01:30:00.000Z', base: looked },
    })
    expect(none?.code).toBe(64)
    const told = await runCommand(portal, env, 'catalog', 'publish', '--reason', reason)
    expect(told.said).toMatch(/^Done: act \d+\./)
    await eventually('the portal follows', async () => {
      const { versions } = await atDesk()
      return versions[0]?.publication?.by === 'command'
    })
    const undone = await runCommand(
      portal,
      env,
      ...`catalog publish --restores ${looked} --reason`.split(' '),
      reason,
    )
    expect(undone.said).toMatch(/^Done: act \d+\./)
    const plan = (await atDesk()).selling.plans[0]
    expect(plan?.prices.VND.price).toBe('110000')
  })
})
