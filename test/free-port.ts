/** Ports of this machine for what a test opens. */
import net from 'node:net'

/**
 * Ports below those for outgoing connections, with a range for each of Vitest's workers, so that a
 * free port is still free when it is used.
 */
const ports = {
  from: 10_000 + (Number(process.env['VITEST_POOL_ID'] ?? 0) % 20) * 1000,
  count: 1000,
}
let asked = Math.floor(Math.random() * ports.count)
const isFree = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const probe = net.createServer().once('error', () => resolve(false))
    probe.listen(port, '127.0.0.1', () => probe.close(() => resolve(true)))
  })

/** A port that nobody listens on, and that no other test of this run is given. */
export async function freePort(): Promise<number> {
  for (let tries = 0; tries < ports.count; tries++) {
    const port = ports.from + (asked++ % ports.count)
    if (await isFree(port)) return port
  }
  throw new Error('no port is free')
}
