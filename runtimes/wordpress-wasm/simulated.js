// A stand-in for WordPress that boots in a twentieth of a second, for all tests that are not about
// PHP: the container around it (channel, HTTP, files, sign-in links, restarts) is the real one.
import { runContainer } from './src/container.js'
import { SimulatedBudget, SimulatedPhp } from './src/simulated-php.js'

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
