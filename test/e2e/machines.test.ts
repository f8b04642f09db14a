/**
 * Two portals and three nodes behind one address, as on five machines; the journey in a browser,
 * while one process after the other is killed. What was acknowledged is there at the end.
 */
import { readFileSync } from 'node:fs'
import http from 'node:http'
import net from 'node:net'
import path from 'node:path'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { dig } from '../dig.ts'
import { eventually, freePort } from '../portal.ts'
import { PortalProcess } from '../portal-process.ts'
import { endVisits, openBrowser, visit } from './browser.ts'

/** Portals with their jobs; the first has the database, the name server and the node `main`. */
let first: PortalProcess
let second: PortalProcess
/** Machines with nothing but sites. */
let hanoi: PortalProcess
let sydney: PortalProcess
let settings: Map<PortalProcess, Record<string, string>>
let browser: Browser
let balancer: net.Server
let address: string

/**
 * What stands in front of several portals: a connection goes to each in turn, and to the other one
 * where nobody listens.
 */
function balance(ports: readonly number[]): net.Server {
  let turn = 0
  return net.createServer((client) => {
    const order = ports.map((_, index) => ports[(turn + index) % ports.length] ?? 0)
    turn++
    client.on('error', () => client.destroy())
    const connect = (left: readonly number[]): void => {
      const [port, ...others] = left
      if (port === undefined) return void client.destroy()
      const upstream = net.connect(port, '127.0.0.1')
      let reached = false
      upstream.once('connect', () => {
        reached = true
        client.pipe(upstream).pipe(client)
      })
      upstream.on('error', () => {
        if (reached) client.destroy()
        else connect(others)
      })
      upstream.once('close', () => reached && client.destroy())
      client.once('close', () => upstream.destroy())
    }
    connect(order)
  })
}
const portOf = (url: string): number => Number(new URL(url).port)
const start = (one: PortalProcess): Promise<void> => one.start(settings.get(one))

async function node(name: string, regions: string): Promise<PortalProcess> {
  const machine = await PortalProcess.create()
  const line = `127.0.0.1:${await freePort()}`
  const sites = `127.0.0.1:${machine.sitesPort}`
  const told = await first.command(
    'node',
    {},
    `add ${name} ${line} --regions ${regions} --sites ${sites} --json`.split(' '),
  )
  const { key } = JSON.parse(told.said) as { key: string }
  settings.set(machine, {
    ROLES: 'node',
    NODE_NAME: name,
    NODE_LISTEN: line,
    NODE_KEY: key,
  })
  return machine
}

beforeAll(async () => {
  browser = await openBrowser()
  first = await PortalProcess.create()
  second = await PortalProcess.create()
  balancer = balance([portOf(first.url), portOf(second.url)]).listen(0, '127.0.0.1')
  await new Promise((resolve) => balancer.once('listening', resolve))
  address = `http://127.0.0.1:${(balancer.address() as net.AddressInfo).port}`
  const line = `127.0.0.1:${await freePort()}`
  settings = new Map([
    [
      first,
      {
        PORTAL_URL: address,
        NODE_LISTEN: line,
        NODE_REGIONS: '2,3',
        NODE_SITES_ADDRESS: `127.0.0.1:${first.sitesPort}`,
      },
    ],
  ])
  await start(first)
  const { said } = await first.command('node', {}, ['key', 'main', '--json'])
  settings.set(second, {
    ROLES: 'api,worker',
    PORTAL_URL: address,
    DATABASE_URL: await first.database(),
    PORTAL_SECRET: readFileSync(path.join(first.dataDir, 'secret'), 'utf8').trim(),
    NAME_SERVER_ADDRESS: line,
    NAME_SERVER_KEY: (JSON.parse(said) as { key: string }).key,
  })
  hanoi = await node('hanoi', '1')
  sydney = await node('sydney', '4')
  await Promise.all([second, hanoi, sydney].map(start))
  await eventually('three nodes', async () => (await first.command('node')).code === 0, 60)
}, 240_000)
afterAll(async () => {
  await endVisits(browser)
  balancer.close()
  for (const one of [second, hanoi, sydney, first]) {
    if (one.pid !== 0) await one.kill('database')
    one.discard()
  }
}, 60_000)

const pidsOf = (one: PortalProcess, program: string): number[] =>
  one.processes().flatMap(({ pid, command }) => (command.includes(program) ? [pid] : []))
/** kill -9 of one process of a machine; its parent starts another. */
function kill(one: PortalProcess, program: 'server/api.ts' | 'name-server-process.ts'): void {
  const pids = pidsOf(one, program)
  expect(pids).toHaveLength(1)
  for (const pid of pids) process.kill(pid, 'SIGKILL')
}
/** The sandbox is in the portals' processes, which is killed now and then. */
const inbox = async (to: string): Promise<string> => {
  const ask = (one: PortalProcess): Promise<Response> =>
    fetch(`${one.sandboxUrl}/inbox.json?to=${encodeURIComponent(to)}`)
  const answer = await ask(first).catch(() => ask(second))
  return ((await answer.json()) as { text: string }[])[0]?.text ?? ''
}
const person = {
  name: 'Lê Văn Cường',
  email: 'cuong@example.vn',
  phone: '0913 456 789',
  password: 'Ba-con-vit-9',
}

async function register(page: Page): Promise<void> {
  await page.goto(`${address}/register`)
  await page.getByLabel('Full name').fill(person.name)
  await page.getByLabel('Email').fill(person.email)
  await page.getByLabel('Phone').fill(person.phone)
  await page.getByLabel('Password', { exact: true }).fill(person.password)
  await page.getByLabel('Billing region').selectOption('VN')
  kill(first, 'server/api.ts')
  await page.getByRole('button', { name: 'Create account' }).click()
  await page.waitForURL(/\/check-otp/)
  const code = await eventually(
    'the code',
    async () => /\b\d{6}\b/.exec(await inbox('+84913456789'))?.[0],
    60,
  )
  kill(second, 'server/api.ts')
  await page.getByLabel('One-time code').first().fill(code)
  // Nobody is signed in yet, so that the press of a killed process is the person's to repeat.
  const confirm = page.getByRole('button', { name: 'Confirm' })
  await eventually('the account active', async () => {
    if (/\/login/.test(page.url())) return true
    await confirm.click({ timeout: 500 }).catch(() => undefined)
    return false
  })
  await page.getByLabel('Email').fill(person.email)
  await page.getByLabel('Password', { exact: true }).fill(person.password)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.waitForURL((url) => url.pathname === '/' || url.pathname === '/wordpress')
}

async function topUp(page: Page): Promise<void> {
  await page.goto(`${address}/payment`)
  await page.getByRole('radio', { name: /^500\.000/ }).check({ force: true })
  await page.getByRole('radio', { name: /VN Pay/ }).check({ force: true })
  await page
    .getByRole('button', { name: /Nạp 500\.000/ })
    .first()
    .click()
  await page.waitForURL(/vpcpay/)
  // The webhook finds the portal whose sandbox has shown the page.
  const shownBy = page.url().startsWith(first.sandboxUrl) ? first : second
  kill(shownBy === first ? second : first, 'server/api.ts')
  await page
    .getByRole('button', { name: /^(Thanh toán|Pay)/ })
    .first()
    .click()
  await page.waitForURL(/\/api\/payments\/success\?transId=/)
  await page.getByText('500.000').first().waitFor()
}

/** Answers the site's host name. */
async function order(page: Page): Promise<string> {
  await page.goto(`${address}/wordpress/create`)
  await page.getByRole('radio', { name: /Hà Nội/ }).check({ force: true })
  await page.getByRole('radio', { name: /BASIC-1/ }).check({ force: true })
  const disks = page.getByRole('radio', { name: /^10 GB/ })
  await disks.nth(0).check({ force: true })
  await disks.nth(1).check({ force: true })
  await page.getByLabel('Tên đăng nhập').fill('cuong')
  await page.getByLabel('Mật khẩu', { exact: true }).fill('Another#1pass')
  await page.getByRole('button', { name: 'Xem lại và xác nhận' }).first().click()
  const review = page.getByRole('dialog')
  await review.getByRole('button', { name: /^Xác nhận/ }).click()
  await page.waitForURL(/\/wordpress-progress\//, { timeout: 20_000 })
  kill(first, 'server/api.ts')
  await page.waitForURL(/\/wordpress\/[0-9a-f-]{36}/, { timeout: 120_000 })
  const site = await page.getByRole('link', { name: 'Xem trang' }).first().getAttribute('href')
  return new URL(site ?? '').hostname
}

/** 0 where nobody answers. */
const statusOf = ({ sitesPort: port }: PortalProcess, host: string): Promise<number> =>
  new Promise((resolve) => {
    http
      .get(
        {
          host: '127.0.0.1',
          port,
          path: '/wp-login.php',
          headers: { host: `${host}:${port}` },
          agent: false,
        },
        (answer) => void answer.resume().once('end', () => resolve(answer.statusCode ?? 0)),
      )
      .once('error', () => resolve(0))
  })
const reachedAt = (machine: PortalProcess, host: string): Promise<true> =>
  eventually(
    `${host} at ${machine.sitesPort}`,
    async () => (await statusOf(machine, host)) === 200,
    90,
  )

test(
  'a customer pays and gets a site while every process is killed in turn',
  { timeout: 400_000 },
  async () => {
    const { page } = await visit(browser)
    await register(page)
    await topUp(page)
    const host = await order(page)
    // The data centre's machine runs it; each edge leads there.
    expect(pidsOf(hanoi, '--container')).toHaveLength(1)
    for (const machine of [hanoi, first, sydney]) await reachedAt(machine, host)

    kill(first, 'name-server-process.ts')
    const name = 'ns1.letspanel-dns.example'
    await eventually('the name server', async () => {
      const answer = await dig(first.dnsPort, { name, type: 'A' }).catch(() => undefined)
      return answer?.rcode === 'NOERROR'
    })

    // A machine without a site of anybody is gone, and nobody notices.
    await sydney.kill('database')
    await reachedAt(first, host)
    // The machine of the site is gone: the portal goes on, and the site is back with its machine.
    await hanoi.kill('database')
    await page.goto(`${address}/transactions`)
    await page.getByText('−218.000').first().waitFor()
    await start(hanoi)
    await reachedAt(first, host)

    await page.goto(`${address}/wordpress`)
    await page
      .getByText(host.split('.')[0] ?? '')
      .filter({ visible: true })
      .first()
      .waitFor()
    const [{ balance: left } = {}] = await first.rows<{ balance: string }>(
      `select a.balance from ledger_account a join customer c on a.customer_id = c.id
        where c.email = $1`,
      [person.email],
    )
    expect(Number(left)).toBe(500_000 - 218_000)
    expect((await first.command('ledger:check', {}, ['--full'])).code).toBe(0)
    for (const one of [first, second, hanoi]) expect(one.fell).toBeUndefined()
  },
)
