// WordPress on PHP in WebAssembly.
import { runContainer } from './src/container.js'
import { DiskBudget } from './src/disk-budget.js'
import { installWordpress } from './src/install.js'
import { bootPhp } from './src/php.js'
import { answerConstantsOnly, refuseNativeCode } from './src/second-wall.js'

runContainer(async (order, say) => {
  const budget = new DiskBudget({
    siteDir: order.siteDir,
    internalDir: order.internalDir,
    limits: { ssd: order.ssdBytes, database: order.databaseBytes, internal: order.internalBytes },
    measureMs: order.measureMs,
    report: (full) => say({ s: 'disk-full', ...full }),
  })
  answerConstantsOnly()
  const php = await bootPhp(order, budget, (text) => say({ s: 'php', m: text.slice(0, 2_000) }))
  refuseNativeCode()
  return { php, budget, install: (admin) => installWordpress(php, admin) }
})
