/**
 * The process of a node that applies one round of a move, to be killed. Arguments: the data folder,
 * the site as JSON, the archive, the round as JSON. Prints when it begins and when it has ended.
 */
import { open } from './embedded-wordpress.ts'
import type { MoveRound, SiteSpec } from '../server/wordpress/driver.ts'

const [dataDir = '', site = '', archive = '', round = ''] = process.argv.slice(2)
const driver = open(dataDir)
process.stdout.write('begins\n')
await driver.copyIn(JSON.parse(site) as SiteSpec, JSON.parse(round) as MoveRound, archive, [])
process.stdout.write('done\n')
await driver.close()
