// A container whose pages come from WordPress on PHP.
import { runContainer } from './container.js'
import { DiskBudget } from './disk-budget.js'
import { installWordpress } from './install.js'
import { bootPhp } from './php.js'
import { answerConstantsOnly, refuseNativeCode } from './second-wall.js'

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
