// A container whose pages come from the stand-in for PHP, in this same process.
import { runContainer } from './container.js'
import { SimulatedProcess } from './simulated-process.js'

runContainer((order, say) => ({
  most: 1,
  start: (now) => new SimulatedProcess({ order: { ...order, ...now }, log: say }),
}))
