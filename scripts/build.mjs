/**
 * `npm run build`: everything that `npm start` makes before it starts, without the start. For an
 * image, or a machine that must start without the network.
 */
import { prepare } from './bootstrap.mjs'

try {
  await prepare()
} catch (error) {
  process.stderr.write(`\nThe portal cannot be built: ${error.message}\n`)
  process.exit(1)
}
