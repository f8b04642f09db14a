/**
 * Performance of a site's container: files while PHP is busy, the cost of a page, its memory, and
 * the gain of a larger plan. `BEFORE=<folder>` names another version of runtimes/wordpress-wasm,
 * with its packages, which takes turns with this one.
 */
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import http from 'node:http'
import os from 'node:os'
import path from 'node:path'
import { defaultFilesDir, defaultRuntimeDir } from '../scripts/wordpress-files.mjs'
import type { SiteAddress, SiteSpec } from '../server/wordpress/driver.ts'
import { createEmbedded } from '../server/wordpress/drivers/embedded/index.ts'
import { startBare } from './bare-runner.mjs'
import { containerCpuMs, containerMemoryMb } from './container-figures.ts'
import { ratesOf } from './plan-load.ts'
import { median, report } from './portal.ts'

const rounds = 5
const pages = 30
const warmUp = 40
const files = 300
const bodies = 25
const bodyBytes = 60 * 1_048_576
/** The extra memory that a container may use since it consists of several processes, MB. */
const moreMb = 40
const style = '/wp-includes/css/dashicons.min.css'
const bareHost = 'bare.localhost:8082'

interface Answer {
  readonly status: number
  readonly ms: number
}

/** One request on a connection of its own; status 0: the connection broke. */
function ask(
  { host, port }: SiteAddress,
  name: string,
  target: string,
  options: { body?: Buffer; client?: string } = {},
): Promise<Answer> {
  const began = performance.now()
  return new Promise((resolve) => {
    const done = (status: number) => resolve({ status, ms: performance.now() - began })
    const request = http.request(
      {
        host,
        port,
        path: target,
        method: options.body ? 'POST' : 'GET',
        agent: false,
        headers: {
          host: name,
          ...(options.client && { 'x-forwarded-for': options.client }),
          ...(options.body && { 'content-type': 'application/octet-stream' }),
        },
      },
      (answer) => answer.resume().once('end', () => done(answer.statusCode ?? 0)),
    )
    request.once('error', () => done(0)).end(options.body)
  })
}

const local = (port: number): SiteAddress => ({ host: '127.0.0.1', port })
const p95 = (times: readonly number[]): number =>
  times.toSorted((a, b) => a - b)[Math.floor(times.length * 0.95)] ?? Number.NaN

const targets = ['/', '/wp-json/', '/wp-login.php'] as const
interface Side {
  readonly bare: Awaited<ReturnType<typeof startBare>>
  readonly cpuMs: Map<string, number[]>
  readonly memoryMb: number[]
}

async function measure({ bare, cpuMs, memoryMb }: Side): Promise<void> {
  for (const target of targets) {
    const before = containerCpuMs(bare.pid)
    for (let count = 0; count < pages; count++) {
      const { status } = await ask(local(bare.port), bareHost, target)
      if (status !== 200) throw new Error(`${target} answers ${status}`)
    }
    cpuMs.set(target, [...(cpuMs.get(target) ?? []), (containerCpuMs(bare.pid) - before) / pages])
  }
  memoryMb.push(containerMemoryMb(bare.pid))
}

/** CPU time of a page and memory of a container, compared with another version of the runtime. */
async function costs(before: string | undefined): Promise<void> {
  const limits = { memoryMb: 1_000, phpMemoryMb: 250 }
  const open = async (runtimeDir?: string): Promise<Side> => ({
    bare: await startBare({ ...limits, ...(runtimeDir && { runtimeDir }) }),
    cpuMs: new Map(),
    memoryMb: [],
  })
  const now = await open()
  const then = before === undefined ? undefined : await open(before)
  try {
    const sides = then ? [now, then] : [now]
    for (const { bare } of sides)
      for (const target of targets)
        for (let count = 0; count < warmUp; count++) await ask(local(bare.port), bareHost, target)
    for (let round = 0; round < rounds; round++)
      for (const side of round % 2 === 0 ? sides : sides.toReversed()) await measure(side)
    for (const [name, side] of [
      ['now', now],
      ['before', then],
    ] as const) {
      if (!side) continue
      const told = targets.map((one) => `${one} ${median(side.cpuMs.get(one) ?? []).toFixed(1)} ms`)
      console.log(
        `      ${name}: CPU a page ${told.join(', ')}; ${median(side.memoryMb).toFixed(0)} MB`,
      )
    }
    if (!then) return
    for (const target of targets) {
      const ratio = median(now.cpuMs.get(target) ?? []) / median(then.cpuMs.get(target) ?? [])
      report(`CPU of ${target}, now / before`, ratio, 0.85, 'x')
    }
    const more = median(now.memoryMb) - median(then.memoryMb)
    report('memory of a container, now - before', more, moreMb, 'MB')
  } finally {
    await now.bare.stop()
    await then?.bare.stop()
  }
}

/** Serving files while a page computes as long as it may, and while large bodies arrive. */
async function busy(): Promise<void> {
  const bare = await startBare({ memoryMb: 1_000, phpMemoryMb: 250 })
  const to = local(bare.port)
  try {
    writeFileSync(path.join(bare.siteDir, 'loop.php'), '<?php while ( true ) {}')
    const stuck = ask(to, bareHost, '/loop.php')
    const times: number[] = []
    for (let count = 0; count < files; count++) {
      times.push((await ask(to, bareHost, style)).ms)
      // A pause, because visitors do not come exactly when the previous one is done.
      await new Promise((resolve) => setTimeout(resolve, 10))
    }
    report('a file while PHP computes, p95', p95(times), 20, 'ms')
    const { status, ms } = await stuck
    report(`an endless loop ends (${status})`, ms / 1_000, 61, 's')
    const body = Buffer.alloc(bodyBytes, 'x')
    const sent = Array.from({ length: bodies }, (_, index) =>
      ask(to, bareHost, '/wp-login.php', { body, client: `198.51.100.${index}` }),
    )
    const page = await ask(to, bareHost, '/wp-json/')
    const statuses = (await Promise.all(sent)).map((one) => one.status)
    console.log(`      ${bodies} bodies of 60 MB: ${statuses.join(' ')}`)
    report('  that met a broken connection', statuses.filter((one) => one === 0).length, 0, '')
    report(`  another page meanwhile (${page.status})`, page.ms / 1_000, 60, 's')
  } finally {
    await bare.stop()
  }
}

/** The smallest and the largest plan, each alone and both together. */
async function plans(): Promise<void> {
  const dataDir = mkdtempSync(path.join(os.tmpdir(), 'portal-plans-'))
  const driver = createEmbedded({
    dataDir,
    runtimeDir: defaultRuntimeDir,
    filesDir: defaultFilesDir,
    nodePath: process.execPath,
    settings: { internet: false, maxContainers: 4, pageSeconds: 60, maxCpu: null, maxRamMb: null },
    log: { warn: () => {} },
  })
  const site = async (cpu: number, ramMb: number): Promise<SiteSpec> => {
    const id = `plan-${cpu}`
    const spec: SiteSpec = {
      id,
      url: `http://${id}.localhost:8082`,
      hosts: [],
      title: id,
      language: 'vi',
      cpu,
      ramMb,
      diskMb: 10_240,
      databaseDiskMb: 10_240,
      containers: 1,
      generation: 0,
    }
    await driver.install(spec, { user: 'boss', password: 'Another#1pass', email: 'b@example.com' })
    await driver.start(spec)
    return spec
  }
  try {
    const [basic, pro] = [await site(1, 1_000), await site(16, 32_000)]
    const visit =
      ({ id, url }: SiteSpec) =>
      async () =>
        (await ask(driver.upstreams(id)[0]!, new URL(url).host, '/')).status === 200
    const [little, much] = await ratesOf([visit(basic), visit(pro)])
    const cores = os.availableParallelism()
    // The limit depends on the machine: with four free processors it is four times as much.
    const free = Math.min(4, cores * 0.8)
    report(
      `16 processors / 1, on ${cores} cores that are free`,
      much.alone / little.alone,
      free,
      'x',
      true,
    )
    report('16 processors / 1, on the same cores at once', much.both / little.both, 4, 'x', true)
  } finally {
    await driver.close()
    rmSync(dataDir, { recursive: true, force: true })
  }
}

execFileSync('sync')
await busy()
await costs(process.env['BEFORE'])
await plans()
