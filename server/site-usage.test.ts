import { expect, test } from 'vitest'
import { createTraffic } from './edge/index.ts'
import { createSiteUsage, spanMs } from './site-usage.ts'
import type { SiteFigures } from './wordpress/driver.ts'

const hour = Math.ceil(Date.now() / 3_600_000) * 3_600_000
const site = (n: number): string => `site-${n}`

function opened() {
  const traffic = createTraffic()
  let figures: SiteFigures[] = []
  const usage = createSiteUsage(traffic, () => figures)
  usage.close()
  usage.look(hour)
  return { traffic, usage, set: (next: SiteFigures[]) => (figures = next) }
}
const taking = (one: Partial<SiteFigures>): SiteFigures => ({
  site: site(1),
  memoryMb: 100,
  cpuMs: 0,
  filesMb: 10,
  databaseMb: 1,
  ...one,
})

test('visits and figures of a span are told once it is over', () => {
  const { traffic, usage, set } = opened()
  const before = usage.after(null, 100).length
  traffic.note(site(1), 200, 12, true)
  traffic.note(site(1), 404, 30, false)
  traffic.note(site(1), 502, 60_000, false)
  set([taking({ cpuMs: 5_000, memoryMb: 200 })])
  usage.look(hour + 1)
  set([taking({ cpuMs: 5_700, memoryMb: 150, filesMb: 11 })])
  usage.look(hour + 2)
  expect(usage.after(null, 100)).toHaveLength(before)
  usage.look(hour + spanMs)
  const rows = usage.after({ at: hour - 1, site: '' }, 100)
  expect(rows).toEqual([
    {
      site: site(1),
      at: hour,
      requests: 3,
      clientErrors: 1,
      serverErrors: 1,
      cached: 1,
      totalMs: 60_042,
      times: [0, 0, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1],
      memoryMb: 200,
      // CPU time from before the first reading does not belong to this span.
      cpuMs: 700,
      filesMb: 11,
      databaseMb: 1,
    },
  ])
})

test('a site that nobody visits is told of once an hour, one that is visited each time', () => {
  const { traffic, usage, set } = opened()
  set([taking({}), taking({ site: site(2) })])
  for (let span = 0; span < 6; span++) {
    usage.look(hour + span * spanMs)
    traffic.note(site(2), 200, 1, true)
  }
  usage.look(hour + 6 * spanMs)
  const rows = usage.after(null, 100).filter(({ at }) => at >= hour)
  expect(rows.filter((row) => row.site === site(2))).toHaveLength(6)
  expect(rows.filter((row) => row.site === site(1)).map(({ at }) => at)).toEqual([hour])
})

test('rows are handed out in order, each once, in pieces of any size', () => {
  const { traffic, usage } = opened()
  for (let span = 0; span < 4; span++) {
    for (let n = 9; n > 0; n--) traffic.note(site(n), 200, 1, false)
    usage.look(hour + (span + 1) * spanMs)
  }
  const whole = usage.after(null, 1_000)
  for (const size of [1, 4, 9, 35, 36, 37]) {
    const pieces = []
    let last: { at: number; site: string } | null = null
    for (;;) {
      const rows = usage.after(last, size)
      pieces.push(...rows)
      if (rows.length < size) break
      last = rows.at(-1)!
    }
    expect(pieces).toEqual(whole)
  }
  expect(whole).toHaveLength(36)
})
