/**
 * From an order to the first page of the new site, compared with the bare runner's installation,
 * alternating in one run.
 */
import { spawnSync } from 'node:child_process'
import http from 'node:http'
import { bareRun } from './bare-runner.mjs'
import {
  call,
  median,
  placeOrder,
  report,
  signIn,
  startPortal,
  untilRunning,
  type BenchPortal,
} from './portal.ts'

const rounds = 9

const firstPage = (portal: BenchPortal, host: string): Promise<number> =>
  new Promise((resolve, reject) => {
    const request = http.get(
      { host: '127.0.0.1', port: portal.sitesPort, path: '/', headers: { host } },
      (answer) => {
        answer.resume()
        answer.on('end', () => resolve(answer.statusCode ?? 0))
      },
    )
    request.on('error', reject)
  })

/**
 * Seconds from the order's call to a 200 of the front page through the edge. Afterwards it waits
 * until the order is finished.
 */
async function orderOnce(portal: BenchPortal, token: string): Promise<number> {
  const began = performance.now()
  const id = await placeOrder(portal, token)
  const { domain } = await call<{ domain: string }>(portal, 'GET', `/api/wp/${id}`, token)
  while ((await firstPage(portal, domain)) !== 200)
    await new Promise((resolve) => setTimeout(resolve, 20))
  const seconds = (performance.now() - began) / 1000
  await untilRunning(portal, token, id, 50)
  return seconds
}

const portal = await startPortal()
try {
  const token = await signIn(portal)
  const bare: number[] = []
  const ordered: number[] = []
  // Flushes pending writes, so that neither waits for those of the other.
  const bareNext = async () => {
    spawnSync('sync')
    bare.push(await bareRun())
  }
  const orderNext = async () => {
    spawnSync('sync')
    ordered.push(await orderOnce(portal, token))
  }
  // One pair does not count: it reads WordPress and the programs' code from the disk for the first
  // time.
  await bareRun()
  await orderOnce(portal, token)
  for (let round = 0; round < rounds; round++) {
    // The order alternates, so that slow changes of the machine affect both alike.
    for (const next of round % 2 === 0 ? [bareNext, orderNext] : [orderNext, bareNext]) await next()
  }
  console.log(
    `      bare runner ${bare.map((one) => one.toFixed(2)).join(' ')} s; order to first page ` +
      `${ordered.map((one) => one.toFixed(2)).join(' ')} s`,
  )
  // Each order is compared with its neighbouring bare run, because other load on the machine
  // affects both.
  report(
    'order to first page / bare runner (median of the pairs)',
    median(ordered.map((one, round) => one / (bare[round] ?? 1))),
    1.2,
    'x',
  )
} finally {
  await portal.stop()
}
