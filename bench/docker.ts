/**
 * What sites in containers give (decision 106), beside the embedded runtime in the same run: from
 * an order to the first page, what a page takes, a new plan, more containers, and what a larger
 * plan buys. Needs what their test needs: root, an engine, btrfs.
 */
import http from 'node:http'
import { availableParallelism } from 'node:os'
import type { SiteRuntime, SiteSpec } from '../server/wordpress/driver.ts'
import { specOf } from '../server/wordpress/drivers/site.conformance.ts'
import { dockerFixture, ensureImages, withoutEngine } from '../test/docker-wordpress.ts'
import { fixture as embeddedFixture } from '../test/embedded-wordpress.ts'
import { median, report } from './portal.ts'

const admin = { user: 'boss', password: 'Another#1pass', email: 'boss@example.com' }
const rounds = 3
const pages = 40
const visitors = 8
const loadMs = 10_000
const longestOrderMs = 5_000
const longestResizeMs = 1_000
const longestScaleMs = 5_000
const pollMs = 10

/** The status of the front page from one of the containers; 0: none came. */
function front(driver: SiteRuntime, spec: SiteSpec, turn = 0): Promise<number> {
  const all = driver.upstreams(spec.id)
  const at = all[turn % Math.max(1, all.length)]
  if (!at) return Promise.resolve(0)
  return new Promise((resolve) => {
    const headers = { host: new URL(spec.url).host }
    http
      .get({ host: at.host, port: at.port, headers, agent: false }, (answer) => {
        answer.resume()
        answer.on('end', () => resolve(answer.statusCode ?? 0))
        answer.on('error', () => resolve(0))
      })
      .on('error', () => resolve(0))
  })
}

async function timed(act: () => Promise<unknown>): Promise<number> {
  const began = performance.now()
  await act()
  return performance.now() - began
}

/** From an order's first step to a page, ms. */
const order = (driver: SiteRuntime, spec: SiteSpec): Promise<number> =>
  timed(async () => {
    await driver.install(spec, admin)
    await driver.start(spec)
    if ((await front(driver, spec)) !== 200) throw new Error('no page came')
  })

/** Time of a page with one visitor, ms. */
async function pageMs(driver: SiteRuntime, spec: SiteSpec): Promise<number> {
  for (let warm = 0; warm < 10; warm++) await front(driver, spec)
  const all: number[] = []
  for (let page = 0; page < pages; page++) all.push(await timed(() => front(driver, spec)))
  return median(all)
}

/** Pages in a second with several visitors. */
async function pagesASecond(driver: SiteRuntime, spec: SiteSpec): Promise<number> {
  const until = performance.now() + loadMs
  let answered = 0
  const visit = async (turn: number): Promise<void> => {
    while (performance.now() < until) if ((await front(driver, spec, turn++)) === 200) answered++
  }
  await Promise.all(Array.from({ length: visitors }, (_, turn) => visit(turn)))
  return (answered * 1_000) / loadMs
}

const why = withoutEngine() ?? (await ensureImages())
if (why !== undefined) console.log(`Not measured: ${why}.`)
else {
  const docker = await dockerFixture()
  const embedded = await embeddedFixture()
  try {
    const orders = { docker: [] as number[], embedded: [] as number[] }
    for (let round = 0; round < rounds; round++)
      for (const [name, { driver }] of Object.entries({ docker, embedded })) {
        const spec = specOf()
        orders[name as keyof typeof orders].push(await order(driver, spec))
        await driver.remove(spec.id)
      }
    const basic = specOf({ ramMb: 1_000, cpu: 1 })
    const same = specOf({ ramMb: 1_000, cpu: 1 })
    await order(docker.driver, basic)
    await order(embedded.driver, same)
    const page = {
      docker: await pageMs(docker.driver, basic),
      embedded: await pageMs(embedded.driver, same),
    }
    await embedded.driver.stop(same.id)
    const little = await pagesASecond(docker.driver, basic)
    const pro = { ...basic, ramMb: 8_000, cpu: 16 }
    const resize = await timed(() => docker.driver.start(pro))
    const much = await pagesASecond(docker.driver, pro)
    await docker.driver.start({ ...basic, containers: 3 })
    const until = async (count: number): Promise<void> => {
      while (docker.driver.upstreams(basic.id).length < count)
        await new Promise((resolve) => setTimeout(resolve, pollMs))
    }
    await until(3)
    const scale = await timed(async () => {
      await docker.driver.start({ ...basic, containers: 6 })
      await until(6)
    })
    const ms = (value: number): string => `${Math.round(value)} ms`
    console.log(`processors of this machine: ${availableParallelism()}`)
    console.log(`order to first page: docker ${orders.docker.map(ms).join(', ')}`)
    console.log(`                     embedded ${orders.embedded.map(ms).join(', ')}`)
    console.log(`front page, one visitor: docker ${ms(page.docker)}, embedded ${ms(page.embedded)}`)
    console.log(`pages a second, 1 processor: ${little.toFixed(1)}, 16: ${much.toFixed(1)}`)
    report('order to first page', median(orders.docker), longestOrderMs, 'ms')
    report('a new plan', resize, longestResizeMs, 'ms')
    report('from 3 to 6 containers', scale, longestScaleMs, 'ms')
    report('share of the embedded page that a page takes', page.docker / page.embedded, 0.5, '')
  } finally {
    await embedded.dispose()
    await docker.dispose()
  }
}
