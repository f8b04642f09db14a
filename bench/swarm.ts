/**
 * From two fresh machines to a provider, as docs/operate.md has it ("From two machines to a
 * provider"): one becomes the portal, the other joins by the one command of `node add`, and a
 * customer orders in its data centre in Chromium. Then the second machine is emptied while its
 * sites are visited, and loses its power: a server with a mirror comes up on the first one by rule.
 * The machines are namespaces: needs root.
 *
 *   SHOTS=folder npm run bench swarm               # keeps pictures of three screens
 *   WORDPRESS_RUNTIME=docker npm run bench swarm   # with sites in containers on both
 *   SERVERS=10 npm run bench swarm                 # so many servers are drained; otherwise three
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import http from 'node:http'
import net, { type AddressInfo } from 'node:net'
import path from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { chromium, type Browser, type Page } from 'playwright-core'
import { browserArguments, browserPath } from '../scripts/browser.mjs'
import { stepOf, totpAt } from '../server/auth/totp.ts'
import { settled, visitAs } from '../test/e2e/browser.ts'
import { enginesAway, startEngineOn } from './engines.ts'
import { enterNamespaces, openMachinesOnBridge, saidBy, type Machine } from './namespaces.ts'
import { call, orderSite, report, signIn, type Addresses } from './portal.ts'

const inContainers = process.env['WORDPRESS_RUNTIME'] === 'docker'
const scratch = await enterNamespaces(inContainers ? enginesAway : undefined)

const regionOfA = 1
const regionOfB = 2
const nameOfRegionB = /Hồ Chí Minh/
const siteServers = Number(process.env['SERVERS'] ?? 3)
const sitesDomain = 'sites.example'
/** The benchmark's address for both machines. */
const benchAddress = '10.99.0.254'
const failoverSeconds = 15
const password = 'Another#1pass'
const shots = process.env['SHOTS']
if (shots !== undefined) mkdirSync(shots, { recursive: true })

const { a, b } = openMachinesOnBridge(['a', 'b'], scratch)
const portal: Addresses = {
  url: `http://${a.address}:8080`,
  sandboxUrl: `http://${a.address}:8081`,
  sitesPort: 8082,
  dnsPort: 8053,
}

let worst = 0
/** Prints a line of the table; one that exceeds its limit makes the exit code 1. */
function line(name: string, value: number, limit: number, unit: string): void {
  if (!report(name, value, limit, unit)) worst = 1
}
const secondsSince = (began: number): number => (performance.now() - began) / 1000
const seconds = (began: number): string => `${secondsSince(began).toFixed(1)} s`

async function until<T>(what: string, seconds: number, look: () => Promise<T | undefined>) {
  const end = performance.now() + seconds * 1000
  for (;;) {
    const seen = await look().catch(() => undefined)
    if (seen !== undefined) return seen
    if (performance.now() > end) throw new Error(`${what}: not within ${seconds} s`)
    await pause(250)
  }
}

/** Runs an operator's command on the portal's machine; returns its JSON output. */
async function command<T>(words: string): Promise<T> {
  const { code, said } = await a.run(`npm run -s portal -- ${words} --json`)
  if (code !== 0) throw new Error(`${words}: ${said}`)
  return JSON.parse(said) as T
}

/** The output of each machine's portal. */
const logs = new Map<string, () => string>()
const longestLog = 4_000
type Settings = Readonly<Record<string, string>>

/** How long writes were held for each moved server, ms, from the portal's log. */
const heldMs: number[] = []
function noteHeld(chunk: Buffer): void {
  for (const [, held] of chunk.toString().matchAll(/heldMs\W{1,5}(\d+)/g)) heldMs.push(Number(held))
}

/** Starts the portal's machine, with the manual page's settings in `.env`. */
async function startPortal(regions: string, more: Settings): Promise<() => Promise<void>> {
  a.settings({
    ...more,
    HOST: '0.0.0.0',
    PORTAL_URL: portal.url,
    SITES_DOMAIN: sitesDomain,
    NODE_REGIONS: regions,
    NODE_SITES_ADDRESS: `${a.address}:${portal.sitesPort}`,
    SANDBOX: 'allow',
    WORDPRESS_DIRECTORY: 'off',
    LOG_LEVEL: 'warn',
  })
  // Only for the portal: the commands must print nothing but JSON.
  const child = a.start('LOG_LEVEL=info exec npm start')
  const said = saidBy(child)
  logs.set(a.name, said)
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', noteHeld)
  await until('the portal', 120, async () => {
    if (child.exitCode !== null) throw new Error(said())
    return (await fetch(`${portal.url}/readyz`)).ok || undefined
  }).catch((error: unknown) => {
    throw new Error(`${said()}`, { cause: error })
  })
  return () => a.end(child)
}

/** Gives every plan a mirror; returns the file's path. */
function catalogWithMirrors(): string {
  const file = path.join(a.folder, 'catalog.yaml')
  const text = readFileSync('catalog.yaml', 'utf8')
  writeFileSync(file, text.replace(/^( +)mailAnHour: .*$/gm, '$&\n$1mirrored: true'))
  return file
}

/** A listener outside of both machines that answers while their network works. */
async function openWitness(): Promise<{ readonly port: number }> {
  const server = net.createServer((socket) => socket.destroy()).unref()
  await new Promise<void>((resolve) => server.listen(0, benchAddress, resolve))
  return server.address() as AddressInfo
}

interface Node {
  readonly id: string
  readonly sites: number
  readonly lost: boolean
}
const nodes = async (): Promise<readonly Node[]> =>
  (JSON.parse((await a.run('npm run -s portal -- node --json')).said) as { nodes: Node[] }).nodes
const sitesOn = async (id: string): Promise<number> =>
  (await nodes()).find((node) => node.id === id)?.sites ?? -1

/** Browsers keep their connections too. */
const agent = new http.Agent({ keepAlive: true })

/** Requests a site from an edge; returns the status, or 0. */
const visit = (machine: Machine, domain: string, target = '/'): Promise<number> =>
  new Promise((resolve) => {
    const { sitesPort: port } = portal
    const headers = { host: domain }
    http
      .get({ host: machine.address, port, path: target, headers, agent }, (answer) =>
        answer.resume().once('end', () => resolve(answer.statusCode ?? 0)),
      )
      .once('error', () => resolve(0))
  })
/** The answers of each site by the edge of each of these machines that are not 200. */
async function otherThan200(domains: readonly string[], by: readonly Machine[]) {
  const asked = domains.flatMap((domain) => by.map((machine) => visit(machine, domain)))
  return (await Promise.all(asked)).filter((status) => status !== 200)
}

/** Five visits per second to each site by the edge of A, until the returned function is called. */
function visits(domains: readonly string[]) {
  let isGoing = true
  const statuses: number[] = []
  const targets = ['/', '/wp-includes/css/buttons.min.css']
  const inFlight = new Set<Promise<void>>()
  const all = (async () => {
    for (let turn = 0; isGoing; turn++) {
      for (const domain of domains) {
        const one = visit(a, domain, targets[turn % targets.length]).then((status) => {
          statuses.push(status)
          inFlight.delete(one)
        })
        inFlight.add(one)
      }
      await pause(200)
    }
    await Promise.all(inFlight)
  })()
  return async () => {
    isGoing = false
    await all
    const failed = statuses.filter((status) => status !== 200)
    if (failed.length > 0) console.log(`      ${[...new Set(failed)].join(', ')}`)
    return { made: statuses.length, failed: failed.length }
  }
}

async function picture(page: Page, name: string): Promise<void> {
  if (shots === undefined) return
  await settled(page)
  await page.evaluate(() => window.scrollTo(0, 0))
  await page.screenshot({ path: path.join(shots, `${name}.png`), fullPage: true })
}

/** Orders in the data centre of B as a customer does; returns the site's host name once it runs. */
async function orderInBrowser(browser: Browser, token: string): Promise<string> {
  const { page, context } = await visitAs(browser, { language: 'en', customer: { token } })
  await page.goto(`${portal.url}/wordpress/create`)
  await page.getByRole('radio', { name: nameOfRegionB }).check({ force: true })
  await page.getByRole('radio', { name: /BASIC-1/ }).check({ force: true })
  const disks = page.getByRole('radio', { name: /^10 GB/ })
  await disks.nth(0).check({ force: true })
  await disks.nth(1).check({ force: true })
  await page.getByLabel('User name').fill('boss')
  await page.getByLabel('Password', { exact: true }).fill(password)
  await picture(page, 'order-form')
  await page.getByRole('button', { name: 'Review and confirm' }).first().click()
  await page
    .getByRole('dialog')
    .getByRole('button', { name: /^Confirm/ })
    .click()
  await page.waitForURL(/\/wordpress\/[0-9a-f-]{36}/, { timeout: 120_000 })
  await picture(page, 'server-running')
  const id = /[0-9a-f-]{36}/.exec(page.url())?.[0] ?? ''
  const { domain } = await call<{ domain: string }>(portal, 'GET', `/api/wp/${id}`, token)
  await page.goto(`http://${domain}:${portal.sitesPort}/`)
  if ((await page.locator('.wp-site-blocks, body.home').count()) === 0)
    throw new Error(`${domain} does not show WordPress`)
  if (shots !== undefined) await page.screenshot({ path: path.join(shots, 'site.png') })
  await context.close()
  return domain
}

/**
 * Adds the first member of the staff, by the manual page's command, and shows the desk's page of
 * nodes.
 */
async function showNodes(browser: Browser): Promise<void> {
  const { link } = await command<{ link: string }>(
    'staff add --email an@provider.example --name An --role owner',
  )
  const post = (to: string, body: object): Promise<Response> =>
    fetch(`${portal.url}/api/operator/${to}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
  const token = new URL(link).hash.slice(1)
  const opened = (await (await post('invitation', { token })).json()) as {
    result: { secret: string }
  }
  const code = totpAt(opened.result.secret, stepOf(new Date()))
  const accepted = await post('invitation/accept', { token, password: 'Correct-horse-9', code })
  if (!accepted.ok) throw new Error(`the invitation: ${await accepted.text()}`)
  const [cookie = ''] = (accepted.headers.get('set-cookie') ?? '').split(';')
  const [name = '', value = ''] = cookie.split('=')
  const { page, context } = await visitAs(browser, { language: 'en' })
  await context.addCookies([{ name, value, url: `${portal.url}/api/operator` }])
  await page.goto(`${portal.url}/operator/capacity`)
  await page.getByText('b', { exact: true }).waitFor()
  await picture(page, 'desk-nodes')
  await context.close()
}

/** Drains B, retrying while a server's nightly backup is made; returns the number of retries. */
async function drainB(): Promise<number> {
  for (let again = 0; ; again++) {
    const { code, said } = await a.run('npm run -s portal -- node drain b --wait')
    if (code === 0) return again
    if (!said.includes('A backup is being made')) throw new Error(said)
    await pause(1_000)
  }
}

async function run(browser: Browser): Promise<void> {
  let began = performance.now()
  // The manual page's "Sites in containers", there before step 5 and here before the first start.
  const [onA, onB] = inContainers
    ? await Promise.all([startEngineOn(a), startEngineOn(b)])
    : [{}, {}]
  if (inContainers) console.log(`      engines with their images: ${seconds(began)}`)
  b.settings(onB)
  began = performance.now()
  const stopPortal = await startPortal(String(regionOfA), onA)
  line('A: from `npm start` to ready', secondsSince(began), 60, 's')
  const added = await a.run(
    `npm run -s portal -- node add b ${b.address}:7443 ` +
      `--sites ${b.address}:${portal.sitesPort} --regions ${regionOfB}`,
  )
  const [, join = ''] = /^ {2}(npm run portal -- join .*)$/m.exec(added.said) ?? []
  const [, key = ''] = /^ {2}((?:[a-z0-9]{5}-){3,}[a-z0-9]+)$/m.exec(added.said) ?? []
  if (join === '' || key === '') throw new Error(added.said)
  began = performance.now()
  const joined = b.start(`exec ${join}`, `${key}\n`)
  const said = saidBy(joined)
  logs.set(b.name, said)
  await until('B', 90, async () => {
    if (joined.exitCode !== null) throw new Error(said())
    return (await nodes()).some(({ id, lost }) => id === 'b' && !lost) || undefined
  }).catch((error: unknown) => {
    throw new Error(said(), { cause: error })
  })
  line('B: from the printed command to a node that takes sites', secondsSince(began), 60, 's')

  const token = await signIn(portal)
  const { domain: siteOfA } = await orderSite(portal, token, regionOfA)
  began = performance.now()
  const ofB = [await orderInBrowser(browser, token)]
  line('order in Chromium in the region of B, until its page is seen', secondsSince(began), 60, 's')
  while (ofB.length < siteServers) ofB.push((await orderSite(portal, token, regionOfB)).domain)
  line('servers of the region of B that are not on B', siteServers - (await sitesOn('b')), 0, '')
  const bad = await otherThan200([siteOfA, ...ofB], [a, b])
  line('each site by the edge of A and of B: other than 200', bad.length, 0, '')
  await showNodes(browser)

  // A also serves the data centre of B, so that its servers can be moved there.
  await stopPortal()
  const stopAgain = await startPortal(`${regionOfA},${regionOfB}`, onA)
  await until('every site again', 90, async () => {
    const away = await otherThan200([siteOfA, ...ofB], [a, b])
    return away.length === 0 || undefined
  })
  let end = visits([siteOfA, ...ofB])
  began = performance.now()
  const waited = await drainB()
  if (waited > 0) console.log(`      asked again while backups were made: ${waited} times`)
  line(`drain of B with ${siteServers} servers`, secondsSince(began), 60, 's')
  await pause(3_000)
  line('moves of which the log does not say how long', siteServers - heldMs.length, 0, '')
  line('writes held, the longest of all moves', Math.max(...heldMs) / 1000, 2, 's')
  let { made, failed } = await end()
  line(`visits meanwhile: ${made} made, failed`, failed, 0, '')
  line('servers left on B', await sitesOn('b'), 0, '')

  // From now on a server with a mirror is started elsewhere by rule when its machine is lost.
  await stopAgain()
  const { port } = await openWitness()
  await startPortal(`${regionOfA},${regionOfB}`, {
    ...onA,
    CATALOG: catalogWithMirrors(),
    MIRROR_FAILOVER_SECONDS: String(failoverSeconds),
    MIRROR_FAILOVER_WITNESS: `${benchAddress}:${port}`,
  })
  await until('every site again', 90, async () => {
    const away = await otherThan200([siteOfA, ...ofB], [a])
    return away.length === 0 || undefined
  })
  // One more server is placed on B, so that it has something to lose.
  await command('node undrain b')
  await command('node drain main --stay')
  const { id, domain: lostSite } = await orderSite(portal, token, regionOfB)
  await command('node undrain main')
  began = performance.now()
  await until('its mirror', 300, async () => {
    const one = await call<{ mirroredAt: string | null }>(portal, 'GET', `/api/wp/${id}`, token)
    return one.mirroredAt ?? undefined
  })
  console.log(`      its first mirror is whole: ${seconds(began)}`)
  // Waits until the node has reported that it uses the short lease.
  await pause(10_000)
  end = visits([siteOfA, ...ofB])
  await pause(2_000)
  began = performance.now()
  b.powerOff()
  await until('the lost server on A', 120, async () =>
    (await visit(a, lostSite, `/?at=${performance.now()}`)) === 200 ? true : undefined,
  )
  line('B without power: its mirrored server answers on A after', secondsSince(began), 30, 's')
  ;({ made, failed } = await end())
  line(`visits of the other sites meanwhile: ${made} made, failed`, failed, 0, '')
}

const browser = await chromium.launch({
  executablePath: await browserPath(),
  args: [...browserArguments, `--host-resolver-rules=MAP *.${sitesDomain} ${a.address}`],
})
try {
  await run(browser)
} catch (error) {
  console.error(error)
  for (const [name, said] of logs) console.error(`\n${name} said:\n${said().slice(-longestLog)}`)
  worst = 1
} finally {
  await browser.close()
  a.powerOff()
  b.powerOff()
}
process.exit(worst)
