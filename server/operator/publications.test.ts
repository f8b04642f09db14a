/**
 * A publication of plans and prices: by one or two members, now or later, and undone (decision
 * 126).
 */
import { randomUUID } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { ActOutcome } from '../../contract/operator-acts.ts'
import type { CatalogPreview, Selling } from '../../contract/operator-catalog.ts'
import type { StaffRole } from '../../contract/staff-roles.ts'
import { runCommand } from '../../test/operator.ts'
import { eventually, manualClock, openTestPortal, type TestPortal } from '../../test/portal.ts'
import { change, done, reason, sellingAt, shipped } from '../../test/selling.ts'
import { newMember, type TestMember } from '../../test/staff.ts'
import { days, hours } from '../platform/clock.ts'

const clock = manualClock(new Date('2027-03-02T03:00:00Z'))
let portal: TestPortal
let owner: TestMember
beforeAll(async () => {
  portal = await openTestPortal({ clock, catalogText: shipped })
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
    // A second waiting publication would undo the changes of the first.
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
    // A new plan has no earlier price that would expose a typing error.
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
