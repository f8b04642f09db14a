/**
 * Only the portal is killed and restarted: its parent starts it again, and no visitor of a
 * customer's site notices.
 */
import { once } from 'node:events'
import { cpSync, readFileSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs'
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import path from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { pidOfPortal } from '../server/portal-pid.ts'
import { dig } from './dig.ts'
import { eventually } from './portal.ts'
import {
  credited,
  placeOrder,
  price,
  register,
  settled,
  topUp,
  untilAnswered,
  type Customer,
} from './kill-journey.ts'
import { PortalProcess } from './portal-process.ts'

const root = path.resolve(import.meta.dirname, '..')
let portal: PortalProcess
let an: Customer
let host: string
let containers: string[]
const containersNow = (): string[] =>
  portal
    .processes()
    .filter(({ command }) => / --site \S+ --container /.test(command))
    .map(({ pid, command }) => `${pid} ${command}`)
    .toSorted()

beforeAll(async () => {
  portal = await PortalProcess.create()
  await portal.start()
  an = await register(portal, 1)
  await credited(portal, an, await topUp(portal, an, price, 'paid'))
  const id = await placeOrder(portal, an)
  expect(await settled(portal, an, id)).toBe('running')
  host = String(
    (await untilAnswered(portal, 'GET', `/api/wp/${id}`, { token: an.token })).body.result[
      'domain'
    ],
  )
  containers = containersNow()
  expect(containers).toHaveLength(1)
}, 180_000)
afterAll(async () => {
  expect(await portal.terminate()).toBe(0)
  expect(portal.processes()).toEqual([])
  portal.discard()
}, 60_000)

/** A name that the name server answers itself. */
const ownName = 'ns1.letspanel-dns.example'
const resolve = async (): Promise<string> =>
  await dig(portal.dnsPort, { name: ownName, type: 'A' }).then(
    ({ rcode }) => rcode,
    (error: Error) => error.message,
  )

/**
 * Visits the site and queries the name server some ten times a second until it is stopped. Returns
 * the status of every visit of the site that an answered query led to, and all other failures.
 * Every eighth visit uses PHP; the others read a file that the same container serves, because PHP
 * would use a whole processor, which the restarting programs need.
 */
function visitors(): { stop(): Promise<(number | string)[]> } {
  let going = true
  const seen: (number | string)[] = []
  const visit = (target: string): Promise<number | string> =>
    new Promise((resolve) => {
      http
        .get(
          {
            host: '127.0.0.1',
            port: portal.sitesPort,
            path: target,
            headers: { host },
            agent: false,
          },
          (answer) => {
            answer.resume().once('end', () => resolve(answer.statusCode ?? 0))
          },
        )
        .once('error', (error) => resolve(error.message))
    })
  const all = (async () => {
    for (let visits = 0; going; visits++) {
      const answer = await resolve()
      const target = visits % 8 === 0 ? '/wp-login.php' : '/wp-includes/css/dashicons.min.css'
      seen.push(answer === 'NOERROR' ? await visit(target) : answer)
      await setTimeout(100)
    }
  })()
  return {
    async stop() {
      going = false
      await all
      return seen
    },
  }
}

/**
 * Calls the API fifty times a second until it is stopped, alternately over kept and new
 * connections. Returns every status except 200, or the error.
 */
function callers(): { made(): number; stop(): Promise<(number | string)[]> } {
  let going = true
  let calls = 0
  const failed: (number | string)[] = []
  const kept = new http.Agent({ keepAlive: true, maxSockets: 4 })
  const call = (agent: http.Agent | false): Promise<number | string> =>
    new Promise((resolve) => {
      http
        .get(`${portal.url}/api/config`, { agent }, (answer) => {
          answer.resume().once('end', () => resolve(answer.statusCode ?? 0))
        })
        .once('error', (error) => resolve(error.message))
    })
  const inFlight = new Set<Promise<void>>()
  const all = (async () => {
    while (going) {
      calls += 1
      const one = call(calls % 2 === 0 ? kept : false).then((answer) => {
        inFlight.delete(one)
        if (answer !== 200) failed.push(answer)
      })
      inFlight.add(one)
      await setTimeout(20)
    }
    await Promise.all(inFlight)
    kept.destroy()
  })()
  return {
    made: () => calls,
    async stop() {
      going = false
      await all
      return failed
    },
  }
}

/**
 * 0 while there is none; only for comparisons, because a signal to 0 would reach the tests
 * themselves.
 */
const portalNow = (): number => pidOfPortal(portal.dataDir) ?? 0
function signal(pid: number, name: NodeJS.Signals): void {
  if (pid <= 1) throw new Error('there is no portal to send a signal to')
  process.kill(pid, name)
}
async function backAs(other: number): Promise<void> {
  await eventually(
    'the portal being back',
    async () =>
      ![0, other].includes(portalNow()) &&
      (await fetch(`${portal.url}/readyz`).catch(() => undefined))?.status === 200,
    60,
  )
}

test(
  'killed outright, it is back by itself, and the same container answered all the time',
  { timeout: 120_000 },
  async () => {
    const before = portalNow()
    const visits = visitors()
    signal(before, 'SIGKILL')
    await backAs(before)
    const seen = await visits.stop()
    expect(seen.length).toBeGreaterThan(3)
    expect(new Set(seen)).toEqual(new Set([200]))
    expect(containersNow()).toEqual(containers)
    for (const { holds } of an.facts) await holds()
  },
)

test(
  'an operator restarts it in the same way, and is told why not when its settings are bad',
  { timeout: 120_000 },
  async () => {
    const before = portalNow()
    const visits = visitors()
    const refused = await portal.command('restart', { CATALOG: '/nowhere/catalog.yaml' })
    expect(refused).toMatchObject({ code: 1, said: expect.stringContaining('goes on as it is') })
    expect(portalNow()).toBe(before)
    const calls = callers()
    const { code, said } = await portal.command('restart')
    expect(said).toMatch(
      /^The portal was started again in \d+\.\d s\. API, pages and sites went on\.\n$/,
    )
    expect(code).toBe(0)
    await backAs(before)
    const after = calls.made()
    await eventually('a hundred calls more', async () => calls.made() > after + 100)
    expect(await calls.stop()).toEqual([])
    expect(new Set(await visits.stop())).toEqual(new Set([200]))
    expect(containersNow()).toEqual(containers)
    for (const { holds } of an.facts) await holds()
  },
)

test(
  'a hang-up takes the settings anew, and leaves those alone that hold the sites',
  { timeout: 120_000 },
  async () => {
    const before = portalNow()
    const visits = visitors()
    const catalogue = path.join(portal.dataDir, 'catalog.yaml')
    const shipped = readFileSync(path.resolve(import.meta.dirname, '../catalog.yaml'), 'utf8')
    writeFileSync(catalogue, shipped.replace(/^( +name: )Let’s Panel$/m, '$1Another Brand'))
    const title = async (): Promise<string> => await (await fetch(portal.url)).text()
    expect(await title()).not.toContain('Another Brand')
    // An invalid setting, and one that would take the sites down: nothing is restarted.
    for (const settings of [
      'CATALOG=/nowhere.yaml\n',
      'WORDPRESS_INTERNET=on\n',
      // The edge keeps cookies of one site from the others by it.
      'SITES_DOMAIN=sites.example.net\n',
    ]) {
      portal.write(settings)
      const refusals = (): number => portal.output.split('they stay as they are').length
      const told = refusals()
      signal(portal.pid, 'SIGHUP')
      await eventually('the refusal', async () => refusals() > told)
      expect(portalNow()).toBe(before)
    }
    // Settings that look valid, but with which the start fails: the present process keeps running.
    const taken = http.createServer().listen(0, '127.0.0.1')
    await once(taken, 'listening')
    portal.write(`SANDBOX_DNS_PORT=${(taken.address() as AddressInfo).port}\n`)
    signal(portal.pid, 'SIGHUP')
    await eventually('the failure', async () => portal.output.includes('the present one goes on'))
    taken.close()
    expect(portalNow()).toBe(before)
    expect(await title()).not.toContain('Another Brand')
    const calls = callers()
    portal.write(`CATALOG=${catalogue}\n`)
    signal(portal.pid, 'SIGHUP')
    await backAs(before)
    // A kept connection may have got its last answer from the previous process.
    await eventually('the new brand', async () => (await title()).includes('Another Brand'))
    expect(await calls.stop()).toEqual([])
    expect(new Set(await visits.stop())).toEqual(new Set([200]))
    expect(containersNow()).toEqual(containers)
    portal.write('')
  },
)

test(
  'its database is killed: it is started again, the portal comes back by itself, and sites go on',
  { timeout: 120_000 },
  async () => {
    const before = portalNow()
    const postmaster = (): number | undefined =>
      portal
        .processes()
        .find(({ command }) => / -D \S+pgdata( |$)/.test(command) && !command.includes('pg-guard'))
        ?.pid
    const first = postmaster()
    expect(first).toBeGreaterThan(1)
    const visits = visitors()
    signal(first ?? 0, 'SIGKILL')
    await eventually(
      'another postmaster',
      async () => ![undefined, first].includes(postmaster()),
      60,
    )
    await eventually(
      'the portal being ready',
      async () => (await fetch(`${portal.url}/readyz`)).status === 200,
      60,
    )
    expect(portalNow()).toBe(before)
    expect(new Set(await visits.stop())).toEqual(new Set([200]))
    for (const { holds } of an.facts) await holds()
  },
)

/** A release in a folder of its own: this code with another version number. */
function releaseFolder(name: string): string {
  const folder = path.join(portal.dataDir, name)
  for (const part of ['server', 'contract', 'sandbox', 'scripts', 'dist'])
    cpSync(path.join(root, part), path.join(folder, part), { recursive: true })
  symlinkSync(path.join(root, 'node_modules'), path.join(folder, 'node_modules'))
  const about = readFileSync(path.join(root, 'package.json'), 'utf8')
  writeFileSync(
    path.join(folder, 'package.json'),
    about.replace(/"version": "[^"]+"/, `"version": "9.9.${name.length}"`),
  )
  return folder
}

test(
  'another release takes over and the one before comes back, and no call fails',
  { timeout: 120_000 },
  async () => {
    const version = async (): Promise<string> => {
      const { info } = (await (await fetch(`${portal.url}/api/openapi.json`)).json()) as {
        info: { version: string }
      }
      return info.version
    }
    const present = await version()
    const fresh = releaseFolder('next')
    const broken = releaseFolder('broken')
    writeFileSync(path.join(broken, 'dist', 'server', 'api.js'), 'throw new Error("no good")\n')
    const unbuilt = releaseFolder('unbuilt')
    writeFileSync(path.join(unbuilt, 'server', 'api.ts'), '// newer than its bundle\n')
    const visits = visitors()
    const calls = callers()

    expect(await portal.command('upgrade', {}, ['/nowhere'])).toMatchObject({ code: 1 })
    expect(await portal.command('upgrade', {}, [unbuilt])).toMatchObject({
      code: 1,
      said: expect.stringContaining('api.ts in') as string,
    })
    const failed = await portal.command('upgrade', {}, [broken])
    expect(failed.said).toContain('did not get ready: the present one goes on')
    expect(failed.code).toBe(1)
    expect(await version()).toBe(present)

    const { said } = await portal.command('upgrade', {}, [fresh])
    expect(said).toContain('took over in')
    // The next full start would sell the sample of that release.
    expect(said).toContain(`${path.join(root, 'catalog.yaml')} lies in the folder of the former`)
    expect(said).toContain('set CATALOG')
    expect(said).not.toContain('set DATA_DIR')
    await eventually('the new version', async () => (await version()) === '9.9.4')
    expect((await portal.command('upgrade', {}, [root])).said).toContain('took over in')
    await eventually('the version before', async () => (await version()) === present)

    expect(await calls.stop()).toEqual([])
    expect(new Set(await visits.stop())).toEqual(new Set([200]))
    expect(containersNow()).toEqual(containers)
    for (const { holds } of an.facts) await holds()
  },
)

test(
  'a name server that ends is back with its zones from its disk, with nobody there to tell it',
  { timeout: 120_000 },
  async () => {
    const nameServer = (): number | undefined =>
      portal.processes().find(({ command }) => command.includes('name-server-process'))?.pid
    const first = nameServer()
    expect(first).toBeGreaterThan(1)
    const api = portalNow()
    signal(api, 'SIGSTOP')
    try {
      signal(first ?? 0, 'SIGKILL')
      await eventually('another one', async () => ![undefined, first].includes(nameServer()))
      await eventually('its answer', async () => (await resolve()) === 'NOERROR')
    } finally {
      signal(api, 'SIGCONT')
    }
    // A portal that runs all the time sends the name server again what its disk has lost.
    truncateSync(path.join(portal.dataDir, 'dns', 'zones.jsonl'))
    signal(nameServer() ?? 0, 'SIGKILL')
    await eventually('no answer', async () => (await resolve()) !== 'NOERROR')
    await eventually('its answer again', async () => (await resolve()) === 'NOERROR')
    expect(portalNow()).toBe(api)
    for (const { holds } of an.facts) await holds()
  },
)

test(
  'a second one on its folder does not start, says why, and disturbs nothing',
  { timeout: 120_000 },
  async () => {
    const before = portalNow()
    const visits = visitors()
    const second = await portal.beside()
    await expect(second.start()).rejects.toThrow(
      `DATA_DIR ${portal.dataDir} is in use by a portal that runs (process ${before}): stop ` +
        'it, or set another DATA_DIR.',
    )
    expect(new Set(await visits.stop())).toEqual(new Set([200]))
    expect(portalNow()).toBe(before)
    expect(containersNow()).toEqual(containers)
    for (const { holds } of an.facts) await holds()
  },
)

test(
  'its secret is changed while it runs, and the one of before is taken out of the settings again',
  { timeout: 120_000 },
  async () => {
    const made = readFileSync(path.join(portal.dataDir, 'secret'), 'utf8').trim()
    const [next, other] = ['the-next-secret-', 'another-secret-'].map((text) => text.repeat(3))
    const restartedWith = async (settings: string): Promise<void> => {
      const before = portalNow()
      portal.write(settings)
      signal(portal.pid, 'SIGHUP')
      await backAs(before)
    }
    const refused = async (settings: string): Promise<void> => {
      const [before, told] = [portalNow(), portal.output.split('is not the one before').length]
      portal.write(settings)
      signal(portal.pid, 'SIGHUP')
      await eventually(
        'the refusal',
        async () => portal.output.split('is not the one before').length > told,
      )
      expect(portalNow()).toBe(before)
    }
    await refused(`PORTAL_SECRET=${next}\n`)
    await restartedWith(`PORTAL_SECRET=${next}\nPORTAL_SECRET_PREVIOUS=${made}\n`)
    await restartedWith(`PORTAL_SECRET=${next}\n`)
    await refused(`PORTAL_SECRET=${other}\nPORTAL_SECRET_PREVIOUS=${made}\n`)
    await restartedWith(`PORTAL_SECRET=${next}\n`)
    for (const { holds } of an.facts) await holds()
    // Restores the settings for later tests, which start other processes.
    await restartedWith(`PORTAL_SECRET=${made}\nPORTAL_SECRET_PREVIOUS=${next}\n`)
    await restartedWith('')
  },
)

test(
  'killed again and again it still comes back, and the whole ends at once when asked to',
  { timeout: 120_000 },
  async () => {
    for (let turn = 0; turn < 2; turn++) {
      const before = portalNow()
      signal(before, 'SIGKILL')
      await backAs(before)
    }
    expect(containersNow()).toEqual(containers)
    for (const { holds } of an.facts) await holds()
  },
)
