// A container whose pages come from the stand-in for PHP.
import { runContainer } from './container.js'
import { SimulatedBudget, SimulatedPhp } from './simulated-php.js'

runContainer(async (order, say) => {
  const budget = new SimulatedBudget(order, (full) => say({ s: 'disk-full', ...full }))
  const php = new SimulatedPhp(order, budget)
  await php.injectFault('boot')
  return {
    php,
    budget,
    install: async (admin) => {
      const answer = php.install(admin)
      if (!answer.already) await php.injectFault('installed')
      return answer
    },
  }
})
