/**
 * The driver's work beside the edge, in one process, delays no visitor: no walk over a disk for
 * each question, no blocking write, no cron of all sites at once.
 */
import fs from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { fixture } from '../../../../test/embedded-wordpress.ts'
import type { SiteRuntime } from '../../driver.ts'
import { eventually, specOf } from '../conformance.ts'
import { FileLog } from '../machine/site-log.ts'

const megabyte = 1_048_576

describe('beside the edge', { timeout: 180_000 }, () => {
  let parts: Awaited<ReturnType<typeof fixture>>
  let driver: SiteRuntime
  const cronMs = 4_000
  const measureMs = 4_000
  const sites = [specOf(), specOf()]
  const [one] = sites as [(typeof sites)[0]]
  const put = (name: string, mb: number) =>
    fs.writeFile(
      path.join(parts.dataDir, 'sites', one.id, 'wordpress', name),
      Buffer.alloc(mb * megabyte),
    )

  beforeAll(async () => {
    parts = await fixture({ cronMs, measureMs })
    driver = parts.driver
    for (const spec of sites) {
      await driver.install(spec, {
        user: 'boss',
        password: 'Another#1pass',
        email: 'b@example.com',
      })
      await parts.put(
        spec.id,
        'wp-content/mu-plugins/tell.php',
        `<?php if ( wp_doing_cron() ) error_log( 'cron has run' );`,
      )
      await driver.start(spec)
    }
  }, 170_000)
  afterAll(() => parts?.dispose(), 60_000)

  test('the cron of all sites is spread over its round', async () => {
    const runs = async (id: string) =>
      (await driver.log(id).tail(500))
        .filter((line) => line.text.includes('cron has run'))
        .map((line) => line.at.getTime())
    const [first, second] = sites.map((spec) => spec.id) as [string, string]
    await eventually(async () => {
      expect((await runs(first)).length).toBeGreaterThan(1)
      expect((await runs(second)).length).toBeGreaterThan(1)
    }, 60_000)
    // Half a round apart, in either order; on a busy machine each runs a little later.
    const phases = [await runs(first), await runs(second)].map((all) => all.at(-1)! % cronMs)
    const difference = Math.abs(phases[0]! - phases[1]!)
    expect(Math.min(difference, cronMs - difference)).toBeGreaterThan(cronMs / 8)
  })

  test('what a running site holds its container counts; no question walks the disk', async () => {
    const usedMb = async () => (await driver.state(one.id)).diskUsedMb
    let written = 0
    const askedAfterWrite = async () => {
      const before = await usedMb()
      await put(`outside-${written++}.bin`, 7)
      const began = performance.now()
      const many = await Promise.all(Array.from({ length: 300 }, usedMb))
      return { before, many, tookMs: performance.now() - began }
    }
    let asked = await askedAfterWrite()
    // The container may have measured in between, but only once.
    if (asked.many.some((used) => used !== asked.before)) asked = await askedAfterWrite()
    const { before, many, tookMs } = asked
    expect(before).toBeGreaterThan(50)
    expect(new Set(many)).toEqual(new Set([before]))
    expect(tookMs).toBeLessThan(1_500)
    // The container measures again by itself.
    await eventually(
      async () => expect((await driver.state(one.id)).diskUsedMb).toBe(before + 7),
      20_000,
    )
  })

  test('what a stopped site holds is measured once a minute at most', async () => {
    await driver.stop(one.id)
    const before = await driver.state(one.id)
    expect(before).toMatchObject({ state: 'stopped' })
    expect(before.diskUsedMb).toBeGreaterThan(57)
    await put('more.bin', 9)
    const many = await Promise.all(Array.from({ length: 50 }, () => driver.state(one.id)))
    expect(new Set(many.map((state) => state.diskUsedMb))).toEqual(new Set([before.diskUsedMb]))
  })
})

test('a log read in the background numbers what comes meanwhile behind what it finds', async () => {
  const dir = await fs.mkdtemp(path.join(os.tmpdir(), 'portal-log-'))
  const first = new FileLog(dir)
  for (let number = 0; number < 30; number++) first.add('web-1', `old ${number}`)
  await first.flush()
  const second = new FileLog(dir)
  second.add('web-1', 'new')
  expect(second.newest?.text).toBe('new')
  const lines = await second.tail(100)
  expect(lines.map((line) => line.seq)).toEqual(Array.from({ length: 31 }, (_, index) => index + 1))
  expect(lines.at(-1)?.text).toBe('new')
  // Writes wait for each other only.
  second.add('web-1', 'newer')
  await Promise.all([second.flush(), second.flush()])
  expect((await new FileLog(dir).tail(2)).map((line) => line.text)).toEqual(['new', 'newer'])
  await second.discard()
  second.add('web-1', 'again')
  expect((await second.tail(5)).map((line) => line.text)).toEqual(['again'])
  await second.flush()
  await fs.rm(dir, { recursive: true })
})
