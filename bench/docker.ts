/**
 * Performance of sites in containers (decision 106). From an order to the first page, compared with
 * the embedded runtime and the engine's own commands. What a page costs, compared with this
 * machine's PHP-FPM on the same files and MariaDB. A new plan, more containers, and the gain of a
 * larger plan. All in one run. Needs the same as their test: root, an engine, btrfs. Without
 * PHP-FPM and nginx the comparisons that need them are skipped by name.
 */
import http from 'node:http'
import { availableParallelism } from 'node:os'
import path from 'node:path'
import type { SiteRuntime, SiteSpec } from '../server/wordpress/driver.ts'
import {
  groupFigures,
  type GroupFigures,
} from '../server/wordpress/drivers/docker/group-figures.ts'
import { specOf } from '../server/wordpress/drivers/site.conformance.ts'
import { withoutEngine } from '../test/docker-engine.ts'
import { dockerFixture, ensureImages } from '../test/docker-wordpress.ts'
import { filesDir, fixture as embeddedFixture, processesOf } from '../test/embedded-wordpress.ts'
import { containerCpuMs } from './container-figures.ts'
import { bareOrder, frontOf, startNative, withoutNative } from './native-wordpress.ts'
import { ratesOf } from './plan-load.ts'
import { median, report } from './portal.ts'

const admin = { user: 'boss', password: 'Another#1pass', email: 'boss@example.com' }
const rounds = 3
const pages = 40
/** Pages per turn, and turns of each side, where CPU time is compared. */
const turnPages = 40
const turns = 5
const longestOrderMs = 5_000
const longestResizeMs = 1_000
const longestScaleMs = 5_000
const pollMs = 10

/** The status of the front page from one of the containers; 0: no answer. */
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

/** Time of a page with a single visitor, ms. */
async function pageMs(driver: SiteRuntime, spec: SiteSpec): Promise<number> {
  for (let warm = 0; warm < 10; warm++) await front(driver, spec)
  const all: number[] = []
  for (let page = 0; page < pages; page++) all.push(await timed(() => front(driver, spec)))
  return median(all)
}

interface Costs {
  readonly inContainers: number
  readonly onMachine: number
  readonly front: number
  readonly nginx: number
}

/** CPU time of a front page here and natively, ms each, in turns. */
async function costs(
  { driver, dataDir, engine }: Awaited<ReturnType<typeof dockerFixture>>,
  spec: SiteSpec,
): Promise<Costs> {
  const siteDir = path.join(dataDir, 'sites', spec.id)
  const native = await startNative(siteDir, spec.url)
  try {
    const figuresOf = async (role: string) => {
      const labels = [`portal.site=${spec.id}`, `portal.role=${role}`]
      const filters = labels.map((one) => `--filter=label=${one}`)
      const id = (await engine.docker('ps', '-q', ...filters)).trim()
      return groupFigures(Number(await engine.docker('inspect', '-f', '{{.State.Pid}}', id)))
    }
    const [php, database] = [await figuresOf('web-1'), await figuresOf('database')]
    const of = (figures: GroupFigures): number => {
      figures.look()
      return figures.cpuMs
    }
    const [process_ = 0] = processesOf(spec.id)
    const host = new URL(spec.url).host
    const all = { inContainers: [], onMachine: [], front: [], nginx: [] } as Record<
      keyof Costs,
      number[]
    >
    const turn = async (isNative: boolean): Promise<void> => {
      const clocks = [
        () => (isNative ? native.phpCpuMs() : of(php)) + of(database),
        () => (isNative ? native.webCpuMs() : containerCpuMs(process_)),
      ]
      const before = clocks.map((clock) => clock())
      for (let page = 0; page < turnPages; page++) {
        const status = isNative ? await frontOf(native.port, host) : await front(driver, spec)
        if (status !== 200) throw new Error(`a page answers ${status}`)
      }
      const [made = 0, led = 0] = clocks.map(
        (clock, index) => (clock() - (before[index] ?? 0)) / turnPages,
      )
      all[isNative ? 'onMachine' : 'inContainers'].push(made)
      all[isNative ? 'nginx' : 'front'].push(led)
    }
    for (const isNative of [true, false]) await turn(isNative)
    for (const values of Object.values(all)) values.length = 0
    for (let round = 0; round < turns; round++)
      for (const isNative of round % 2 === 0 ? [true, false] : [false, true]) await turn(isNative)
    return {
      inContainers: median(all.inContainers),
      onMachine: median(all.onMachine),
      front: median(all.front),
      nginx: median(all.nginx),
    }
  } finally {
    await native.stop()
  }
}

const why = withoutEngine() ?? (await ensureImages())
if (why !== undefined) console.log(`Not measured: ${why}.`)
else {
  const docker = await dockerFixture()
  const embedded = await embeddedFixture()
  try {
    const native = withoutNative()
    if (native !== undefined)
      console.log(`Left out: order beside bare commands, processor beside native PHP: ${native}.`)
    const orders = { docker: [] as number[], embedded: [] as number[] }
    const bare: number[] = []
    for (let round = 0; round < rounds; round++) {
      if (native === undefined)
        bare.push(
          await bareOrder({
            docker: docker.engine.docker,
            images: docker.images,
            folder: path.join(docker.dataDir, `bare-${round}`),
            filesDir: path.join(filesDir, 'wp'),
          }),
        )
      for (const [name, { driver }] of Object.entries({ docker, embedded })) {
        const spec = specOf()
        orders[name as keyof typeof orders].push(await order(driver, spec))
        await driver.remove(spec.id)
      }
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
    const cost = native === undefined ? await costs(docker, basic) : undefined
    const pro = specOf({ ramMb: 32_000, cpu: 16 })
    await order(docker.driver, pro)
    const visit = (spec: SiteSpec) => async () => (await front(docker.driver, spec)) === 200
    const [little, much] = await ratesOf([visit(basic), visit(pro)])
    await docker.driver.stop(pro.id)
    const resize = await timed(() => docker.driver.start({ ...basic, ramMb: 8_000, cpu: 16 }))
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
    report('order to first page', median(orders.docker), longestOrderMs, 'ms')
    if (native === undefined) {
      console.log(`                     bare commands ${bare.map(ms).join(', ')}`)
      report('order to first page / bare commands', median(orders.docker) / median(bare), 1.5, 'x')
    }
    if (cost) {
      const { inContainers, onMachine, front: one, nginx } = cost
      const said = [inContainers, onMachine, one, nginx].map((value) => value.toFixed(1))
      console.log(
        `processor for a page, ms: PHP and MariaDB in containers ${said[0]}, native PHP-FPM with ` +
          `the same MariaDB ${said[1]}; what speaks HTTP ${said[2]}, nginx ${said[3]}`,
      )
      report('processor of a page, containers / native', inContainers / onMachine, 1.1, 'x')
      const [whole, all] = [inContainers + one, onMachine + nginx]
      report('  with what speaks HTTP on both sides', whole / all, 1.1, 'x')
    }
    const cores = availableParallelism()
    const free = Math.min(6, cores * 0.8)
    const name = `16 processors / 1, on ${cores} cores that are free`
    report(name, much.alone / little.alone, free, 'x', true)
    report('16 processors / 1, both loaded at once', much.both / little.both, 6, 'x', true)
    report('a new plan', resize, longestResizeMs, 'ms')
    report('from 3 to 6 containers', scale, longestScaleMs, 'ms')
    report('share of the embedded page that a page takes', page.docker / page.embedded, 0.5, '')
  } finally {
    await embedded.dispose()
    await docker.dispose()
  }
}
