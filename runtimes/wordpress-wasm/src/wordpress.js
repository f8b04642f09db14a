// A container whose pages come from WordPress on PHP, in processes of their own.
import { fileURLToPath } from 'node:url'
import { runContainer } from './container.js'
import { isWatching } from './parent-watch.js'
import { PhpProcess } from './php-process.js'

/** Where nobody says how a process of PHP is started (README: `php`): as this one. */
const plainCommand = () => ({
  file: process.execPath,
  args: [
    // As the portal starts it (slots.ts).
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
    // Starting has no plan's place yet: a visitor may wait for it.
    if (php?.nice !== undefined) one.ready.then(() => one.yieldTo(php.nice)).catch(() => {})
    return one
  },
}))
