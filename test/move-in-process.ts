/**
 * The process that runs a site and imports another one into it, to be killed. Arguments: the data
 * folder, the folder of the simulated files, the site as JSON, the archive, the id of the import.
 * Prints each step before it begins.
 */
import { simulatedFilesIn } from './simulated-wordpress.ts'
import { open } from './embedded-wordpress.ts'
import type { SiteSpec } from '../server/wordpress/driver.ts'

const [dataDir = '', filesDir = '', site = '', archive = '', importId = ''] = process.argv.slice(2)
const spec = JSON.parse(site) as SiteSpec
const driver = open(dataDir, simulatedFilesIn(filesDir))
const say = (step: string): void => void process.stdout.write(`${step}\n`)

await driver.start(spec)
say('lay out')
await driver.layOutImport(spec, [archive])
say('load')
for (;;) {
  const { phase } = await driver.stepImport(spec, [])
  if (phase === 'done') break
}
say('switch')
await driver.switchImport(spec, importId)
say('start')
await driver.start(spec)
say('done')
