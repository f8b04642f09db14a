/**
 * Plans and prices edited at the desk (decision 126): validation, preview, and what a start's file
 * may undo.
 */
import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { StaffRole } from '../../contract/staff-roles.ts'
import { runCommand } from '../../test/operator.ts'
import { eventually, manualClock, openTestPortal, type TestPortal } from '../../test/portal.ts'
import { change, done, order, reason, sellingAt, shipped } from '../../test/selling.ts'
import { newMember, type TestMember } from '../../test/staff.ts'
import { days } from '../platform/clock.ts'

const clock = manualClock(new Date('2027-03-02T03:00:00Z'))
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
const { atDesk, preview, publish, priced, ordered } = sellingAt(
  () => portal,
  () => owner,
)
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
    // A member with the right is told that nothing is changed.
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
    // The letter is word for word the one that the preview showed.
    expect(sent.some(({ text }) => text.includes(letter?.vi.text ?? 'no letter'))).toBe(true)
    expect(letter?.en.subject).toMatch(/^The price of WordPress .* changes on 2027-04-02$/)
    expect(await portal.inbox(binh.email)).not.toContainEqual(
      expect.objectContaining({ text: expect.stringContaining('2027-04-02') as string }),
    )
    // PRO-4 can no longer be ordered.
    const dung = await portal.customer()
    const refused = await portal.call('POST', '/api/wp', {
      token: dung.token,
      body: { ...order, size: 3 },
    })
    expect([refused.status, Object.keys(refused.body.error?.fields ?? {})]).toEqual([422, ['size']])
  })
})

describe('the file of a start', () => {
  // Steps within a day are added up, and a price was raised today already.
  beforeAll(async () => {
    clock.advance(days(2))
    owner = await member()
  })

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
    // The present file with another support address.
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
    // One line names the version, however often a file is exported and imported.
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
    // A colleague was first: a file made before does not undo that change.
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
