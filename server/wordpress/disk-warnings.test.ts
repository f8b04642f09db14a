/**
 * Owners are warned before a disk is full, once at each level, and again if there was room in
 * between.
 */
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { eventually, manualClock, openTestPortal, type TestPortal } from '../../test/portal.ts'
import { minutes } from '../platform/clock.ts'
import { levelOf, type WarningLevel } from './disk-warnings.ts'

const clock = manualClock()
let portal: TestPortal
beforeAll(async () => {
  portal = await openTestPortal({ clock })
})
afterAll(() => portal.close())

test('a level is told once, and again only after there was room', () => {
  fc.assert(
    fc.property(fc.array(fc.double({ min: 0, max: 120, noNaN: true })), (seen) => {
      let level: WarningLevel = 0
      for (const percent of seen) {
        const next = levelOf(percent, level)
        if (percent >= 95) expect(next).toBe(95)
        if (percent >= 80) expect(next).toBeGreaterThanOrEqual(80)
        if (percent < 75) expect(next).toBe(0)
        // A figure that goes up and down around a level causes one warning only.
        if (percent >= 75 && percent < 95) expect(next).toBeGreaterThanOrEqual(level)
        level = next
      }
    }),
  )
})

test('the owner has a notification and a letter at 80 per cent, in their language', async () => {
  const an = await portal.customer()
  await portal.topUp(an, 500_000)
  const order = {
    size: 1,
    region: 1,
    disk: 10_240,
    mariadb_disk_size: 10_240,
    user: 'an',
    password: 'Mat-khau-9!',
    replicate: 1,
  }
  const { id } = (
    await portal.call<{ id: string }>('POST', '/api/wp', { token: an.token, body: order })
  ).body.result
  await eventually(
    'the server running',
    async () =>
      (await portal.call<{ status: string }>('GET', `/api/wp/${id}`, { token: an.token })).body
        .result.status === 'running',
    120,
  )
  const warnings = async () =>
    (
      await portal.call<{ data: { event: string; title: string; payload: object }[] }>(
        'GET',
        '/api/notifications',
        { token: an.token },
      )
    ).body.result.data.filter(({ event }) => event === 'wordpress.disk')
  const look = async (): Promise<void> => {
    clock.advance(minutes(21))
    await portal.app.watchSiteDisks(new AbortController().signal)
  }
  await look()
  expect(await warnings()).toEqual([])

  // The plan's disk is as small as its content: WordPress alone fills it.
  const { diskUsedMb } = await portal.drivers.wordpress.state(id)
  const shrink = (mb: number) =>
    portal.app.db.updateTable('site').set({ disk_mb: mb }).where('id', '=', id).execute()
  await shrink(Math.ceil(diskUsedMb / 0.85))
  await look()
  await look()
  const once = await eventually('the notification', async () => {
    const all = await warnings()
    return all.length > 0 && all
  })
  expect(once).toMatchObject([{ payload: { wp: { id }, disk: { which: 'files' } } }])
  expect(once[0]?.title).toMatch(/disk .* 8\d %/)
  const letter = await eventually('the letter', async () =>
    (await portal.inbox(an.email)).find(({ text }) => text.includes('?tab=disk')),
  )
  expect(letter.text).toMatch(/đã đầy 8\d %/)

  await shrink(diskUsedMb)
  await look()
  await eventually('the second level', async () => (await warnings()).length === 2)
  // Room again and then full again causes a new warning.
  await shrink(10_240)
  await look()
  await shrink(diskUsedMb)
  await look()
  await eventually('the third word', async () => (await warnings()).length === 3)
}, 240_000)
