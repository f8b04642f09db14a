/** After a start of the machine every site has one container before any has a second. */
import fs from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { fixture, open } from '../../../../test/embedded-wordpress.ts'
import { simulatedWordpress } from '../../../../test/simulated-wordpress.ts'
import { eventually, specOf } from '../conformance.ts'

test(
  'one container of every site boots first, whatever came first',
  { timeout: 180_000 },
  async () => {
    const folder = await fs.mkdtemp(path.join(os.tmpdir(), 'portal-first-'))
    onTestFinished(() => fs.rm(folder, { recursive: true, force: true }))
    // When the test runs as root, the sites' own users must be able to read the sources of sites.
    await fs.chmod(folder, 0o755)
    // A boot takes long enough for the others to wait for their turn meanwhile.
    const files = simulatedWordpress(folder, { bootMs: 500 })
    const parts = await fixture(files)
    const [many, one] = [specOf({ containers: 3 }), specOf()]
    const admin = { user: 'boss', password: 'Another#1pass', email: 'b@example.com' }
    for (const spec of [many, one]) await parts.driver.install(spec, admin)
    await parts.driver.close()
    const driver = open(parts.dataDir, { ...files, bootsAtOnce: 1 })
    try {
      // Once the first container of the many runs, the second boots and the third waits for its
      // turn.
      await driver.start(many)
      await driver.start(one)
      await eventually(() => expect(driver.upstreams(many.id)).toHaveLength(3), 90_000)
      const answeredAt = async (id: string, container: string) =>
        (await driver.log(id).tail(200))
          .findLast(
            (line) => line.container === container && line.text.startsWith('answers after'),
          )!
          .at.getTime()
      const alone = await answeredAt(one.id, 'web-1')
      expect(await answeredAt(many.id, 'web-3')).toBeGreaterThan(alone)
    } finally {
      await driver.close()
      await parts.dispose()
    }
  },
)
