/** A machine that has lost contact with the portal, and which writes its sites still accept. */
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { fixture } from '../test/embedded-wordpress.ts'
import { simulatedWordpress } from '../test/simulated-wordpress.ts'
import { createNodeLease } from './node-lease.ts'
import { eventually, specOf, writesTo } from './wordpress/drivers/conformance.ts'

const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'portal-lease-'))
// As root, because the sites' own users must read the template of sites.
fs.chmodSync(folder, 0o755)
const { driver, dispose } = await fixture(simulatedWordpress(folder))
afterAll(async () => {
  await dispose()
  fs.rmSync(folder, { recursive: true, force: true })
})

const admin = { user: 'boss', password: 'Another#1pass', email: 'boss@example.com' }
async function started() {
  const spec = specOf()
  await driver.install(spec, admin)
  await driver.start(spec)
  const [at] = await driver.addresses(spec.id)
  return { id: spec.id, ...writesTo(at!, spec.url) }
}

test('the end of a lease’s hold does not end the hold of an update', async () => {
  const [updated, other] = [await started(), await started()]
  let at = 0
  const quiet = { warn: () => {}, info: () => {} }
  const lease = createNodeLease(
    driver,
    () => {},
    quiet,
    true,
    () => at,
  )
  try {
    await lease.renew(lease.mark(), 1_000, [])
    await driver.holdWrites(updated.id, 60_000)
    await other.isTaken()
    at += 2_000
    await eventually(async () => expect(await other.waits()).toBe(true))
    await lease.renew(lease.mark(), 1_000, [])
    await other.isTaken()
    expect(await updated.waits()).toBe(true)
    expect(await driver.holdWrites(updated.id, 0)).toBe(true)
    await updated.isTaken()
  } finally {
    lease.close()
  }
})
