// A container whose pages come from WordPress on PHP, in processes of their own.
import { fileURLToPath } from 'node:url'
import { runContainer } from './container.js'
import { isWatching } from './parent-watch.js'
import { PhpProcess } from './php-process.js'

/**
 * The command that starts a PHP process, where the order names none (README: `php`): like this
 * process.
 */
const plainCommand = () => ({
  file: process.execPath,
  args: [
    // The same flag as in the portal's own command (slots.ts).
    '--max-semi-space-size=4',
    ...process.execArgv,
    fileURLToPath(new URL('../php-worker.js', import.meta.url)),
    ...(isWatching() ? ['--watch-parent'] : []),
  ],
})

runContainer(({ php, ...order }, say) => ({
  start(now) {
    const one = new PhpProcess({
      command: php?.command ?? plainCommand(),
      order: { ...order, ...now },
      log: say,
    })
    // The priority is lowered only after the start, because a visitor may wait for that.
    if (php?.nice !== undefined) one.ready.then(() => one.yieldTo(php.nice)).catch(() => {})
    return one
  },
}))
