/**
 * Two portals and three nodes behind one address, as on five machines: the journey in a browser,
 * while one process after the other is killed. Everything that was acknowledged exists at the end.
 */
import http from 'node:http'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { dig } from '../dig.ts'
import { openMachines, type Machines } from '../machines.ts'
import { eventually } from '../portal.ts'
import type { PortalProcess } from '../portal-process.ts'
import { endVisits, openBrowser, visit } from './browser.ts'

let machines: Machines
let first: PortalProcess
let second: PortalProcess
let hanoi: PortalProcess
let sydney: PortalProcess
let browser: Browser
let address: string
beforeAll(async () => {
  browser = await openBrowser()
  machines = await openMachines()
  ;({ first, second, hanoi, sydney, address } = machines)
}, 240_000)
afterAll(async () => {
  await endVisits(browser)
  await machines.close()
}, 60_000)

const pidsOf = (one: PortalProcess, program: string): number[] =>
  one.processes().flatMap(({ pid, command }) => (command.includes(program) ? [pid] : []))
/** kill -9 of one process of a machine; its parent starts another. */
function kill(one: PortalProcess, program: 'server/api.js' | 'name-server-process.js'): void {
  const pids = pidsOf(one, program)
  expect(pids).toHaveLength(1)
  for (const pid of pids) process.kill(pid, 'SIGKILL')
}
/** The sandbox runs in the portals' processes, which are killed now and then. */
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
  kill(first, 'server/api.js')
  await page.getByRole('button', { name: 'Create account' }).click()
  await page.waitForURL(/\/check-otp/)
  const code = await eventually(
    'the code',
    async () => /\b\d{6}\b/.exec(await inbox('+84913456789'))?.[0],
    60,
  )
  kill(second, 'server/api.js')
  await page.getByLabel('One-time code').first().fill(code)
  // Before the sign-in nothing retries a press whose process was killed, so the person repeats it.
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
  // The webhook goes to the portal whose sandbox has shown the page.
  const shownBy = page.url().startsWith(first.sandboxUrl) ? first : second
  kill(shownBy === first ? second : first, 'server/api.js')
  await page
    .getByRole('button', { name: /^(Thanh toán|Pay)/ })
    .first()
    .click()
  await page.waitForURL(/\/api\/payments\/success\?transId=/)
  await page.getByText('500.000').first().waitFor()
}

/** Orders a server; returns the site's host name. */
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
  kill(first, 'server/api.js')
  await page.waitForURL(/\/wordpress\/[0-9a-f-]{36}/, { timeout: 120_000 })
  const site = await page.getByRole('link', { name: 'Xem trang' }).first().getAttribute('href')
  return new URL(site ?? '').hostname
}

/** 0: no answer. */
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
    // The data centre's machine runs it; every edge leads there.
    expect(pidsOf(hanoi, '--site ')).toHaveLength(1)
    for (const machine of [hanoi, first, sydney]) await reachedAt(machine, host)

    kill(first, 'name-server-process.js')
    const name = 'ns1.letspanel-dns.example'
    await eventually('the name server', async () => {
      const answer = await dig(first.dnsPort, { name, type: 'A' }).catch(() => undefined)
      return answer?.rcode === 'NOERROR'
    })

    // A machine without any site vanishes, and no visitor notices.
    await sydney.kill('database')
    await reachedAt(first, host)
    // The site's machine vanishes: the portal keeps working, and the site returns with its machine.
    await hanoi.kill('database')
    await page.goto(`${address}/transactions`)
    await page.getByText('−218.000').first().waitFor()
    await machines.start(hanoi)
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
