/**
 * What a site's front page costs through the portal, edge included, compared with the bare runner
 * called directly: CPU time per page and the container's memory, in turns. Both have the limits of
 * the same plan.
 */
import { spawnSync } from 'node:child_process'
import http from 'node:http'
import { startBare } from './bare-runner.mjs'
import { containerCpuMs, containerMemoryMb } from './container-figures.ts'
import { cpuSecondsOf, median, orderSite, report, signIn, startPortal } from './portal.ts'

const rounds = 7
const pages = 60
const warmUp = 150
const planMb = 1000

const page = (port: number, host: string): Promise<void> =>
  new Promise((resolve, reject) => {
    http
      .get({ host: '127.0.0.1', port, path: '/', headers: { host } }, (answer) => {
        answer
          .resume()
          .once('end', () =>
            answer.statusCode === 200
              ? resolve()
              : reject(new Error(`the page answers ${answer.statusCode}`)),
          )
      })
      .once('error', reject)
  })

interface Side {
  readonly port: number
  readonly host: string
  /** Processes whose CPU time counts; the first is the container. */
  readonly pids: readonly number[]
  readonly cpuMs: number[]
  readonly memoryMb: number[]
}

async function measure(side: Side): Promise<void> {
  const [container = 0, ...others] = side.pids
  const cpu = (): number =>
    others.reduce((sum, pid) => sum + cpuSecondsOf(pid) * 1_000, containerCpuMs(container))
  const before = cpu()
  for (let count = 0; count < pages; count++) await page(side.port, side.host)
  side.cpuMs.push((cpu() - before) / pages)
  side.memoryMb.push(containerMemoryMb(container))
}

const portal = await startPortal()
const bare = await startBare({ memoryMb: planMb, phpMemoryMb: planMb / 4 })
try {
  const { id, domain } = await orderSite(portal, await signIn(portal))
  const container = Number(
    spawnSync('pgrep', ['-f', '--', `--site ${id}`], { encoding: 'utf8' })
      .stdout.trim()
      .split('\n')[0],
  )
  const ours: Side = {
    port: portal.sitesPort,
    host: domain,
    pids: [container, portal.process.pid ?? 0],
    cpuMs: [],
    memoryMb: [],
  }
  const theirs: Side = {
    port: bare.port,
    host: 'bare.localhost:8082',
    pids: [bare.pid],
    cpuMs: [],
    memoryMb: [],
  }
  for (const side of [ours, theirs])
    for (let count = 0; count < warmUp; count++) await page(side.port, side.host)
  for (let round = 0; round < rounds; round++) {
    for (const side of round % 2 === 0 ? [ours, theirs] : [theirs, ours]) await measure(side)
  }
  for (const [name, { cpuMs, memoryMb }] of [
    ['the portal’s site, edge included', ours],
    ['the bare runner', theirs],
  ] as const)
    console.log(
      `      ${name}: ${median(cpuMs).toFixed(1)} ms CPU a page, ${median(memoryMb).toFixed(0)} MB`,
    )
  report(
    'CPU of the front page, portal / bare runner',
    median(ours.cpuMs) / median(theirs.cpuMs),
    1.15,
    'x',
  )
  report(
    'memory of a container, portal / bare runner',
    median(ours.memoryMb) / median(theirs.memoryMb),
    1.1,
    'x',
  )
} finally {
  await bare.stop()
  await portal.stop()
}
