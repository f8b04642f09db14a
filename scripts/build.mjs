/**
 * `npm run build`: all that `npm start` makes before it starts, and no start. For an image, or a
 * machine that is to start without the network.
 */
import { prepare } from './bootstrap.mjs'

try {
  await prepare()
} catch (error) {
  process.stderr.write(`\nThe portal cannot be built: ${error.message}\n`)
  process.exit(1)
}
