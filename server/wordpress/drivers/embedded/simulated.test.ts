/** The simulated PHP passes the same tests as PHP, and fails in the ways that a test asks for. */
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { MessageChannel } from 'node:worker_threads'
import { afterEach, describe, expect, test } from 'vitest'
import { fixture } from '../../../../test/embedded-wordpress.ts'
import { simulatedWordpress, type SimulatedFaults } from '../../../../test/simulated-wordpress.ts'
import { lineThrough } from '../../../sites-line.ts'
import type { SiteRuntime } from '../../driver.ts'
import { ask, conformance, eventually, specOf, writesTo, type Fixture } from '../conformance.ts'
import { connectRuntime, serveFiles, serveRuntime } from '../remote/index.ts'

const open = async (faults?: SimulatedFaults): Promise<Fixture & { driver: SiteRuntime }> => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'portal-simulated-'))
  // When the test runs as root, the sites' own users must be able to read the sources of sites.
  fs.chmodSync(folder, 0o755)
  const parts = await fixture(simulatedWordpress(folder, faults))
  return {
    ...parts,
    async dispose() {
      await parts.dispose()
      fs.rmSync(folder, { recursive: true, force: true })
    },
  }
}

conformance('embedded, simulated', () => open())

/** As a portal uses the node of another machine: archives and packages are sent to and fro. */
conformance('embedded, simulated, on another machine', async () => {
  const parts = await open()
  const { port1, port2 } = new MessageChannel()
  const [far, near] = [lineThrough(port1), lineThrough(port2)]
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'portal-node-files-'))
  serveRuntime(far, parts.driver)
  serveFiles(far, folder)
  far.listen()
  near.listen()
  return {
    ...parts,
    driver: await connectRuntime(near, { sharesDisk: false }),
    async dispose() {
      await parts.dispose()
      port1.close()
      fs.rmSync(folder, { recursive: true, force: true })
    },
  }
})

describe('the stand-in', () => {
  const admin = { user: 'boss', password: 'Another#1pass', email: 'boss@example.com' }
  const opened: Fixture[] = []
  afterEach(async () => {
    for (const one of opened.splice(0)) await one.dispose()
  })
  const faulty = async (faults: SimulatedFaults): Promise<Fixture & { driver: SiteRuntime }> => {
    const made = await open(faults)
    opened.push(made)
    return made
  }

  test('is as slow as it is asked to be', async () => {
    const { driver } = await faulty({ bootMs: 700, answerMs: 300 })
    const spec = specOf()
    const began = performance.now()
    await driver.install(spec, admin)
    await driver.start(spec)
    expect(performance.now() - began).toBeGreaterThan(700)
    const [at] = await driver.addresses(spec.id)
    const asked = performance.now()
    expect((await ask(at!, `${spec.url}/`)).status).toBe(200)
    expect(performance.now() - asked).toBeGreaterThan(300)
  })

  test('loses the answer of an installation, which is done all the same', async () => {
    const { driver } = await faulty({ diesInstalled: true })
    const spec = specOf()
    await expect(driver.install(spec, admin)).rejects.toMatchObject({ name: 'DriverFailure' })
    await driver.install(spec, admin)
    await driver.start(spec)
    await eventually(async () => expect(await driver.addresses(spec.id)).toHaveLength(1))
  })

  test('what its machine fences is apart from what a portal has had held', async () => {
    const { driver } = await faulty({})
    const spec = specOf()
    await driver.install(spec, admin)
    await driver.start(spec)
    const [at] = await driver.addresses(spec.id)
    const { isTaken, waits } = writesTo(at!, spec.url)
    await isTaken()
    expect(await driver.holdWrites(spec.id, 60_000)).toBe(false)
    driver.fenceWrites(spec.id, 60_000)
    driver.fenceWrites(spec.id, 0)
    expect(await waits()).toBe(true)
    driver.fenceWrites(spec.id, 60_000)
    expect(await driver.holdWrites(spec.id, 0)).toBe(true)
    expect(await waits()).toBe(true)
    driver.fenceWrites(spec.id, 0)
    await isTaken()
    expect(await driver.holdWrites(spec.id, 0)).toBe(false)
  })
})
