/**
 * A website is exported from one server and imported into another, manually in a browser, with
 * WordPress itself in both: its post, its pages and its administrator come along. With
 * PICTURES=folder pictures are saved there.
 */
import { createServer, request, type Server } from 'node:http'
import fs from 'node:fs/promises'
import type { AddressInfo } from 'node:net'
import os from 'node:os'
import path from 'node:path'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { eventually, openTestPortal, type TestCustomer, type TestPortal } from '../portal.ts'
import { endVisits, keepPicture, openBrowser, openPage, settled, visitAs, wide } from './browser.ts'

let portal: TestPortal
let browser: Browser
let an: TestCustomer
/** Serves the first server's site by its own name, as on the web. */
let original: Server
let originalPort = 0
let folder: string

interface Ordered {
  readonly id: string
  readonly domain: string
}
const password = 'Another#1pass'
async function order(user: string): Promise<Ordered> {
  const { token } = an
  const body = {
    size: 1,
    region: 1,
    disk: 10_240,
    mariadb_disk_size: 10_240,
    user,
    password,
    replicate: 1,
  }
  const { id } = (await portal.call<{ id: string }>('POST', '/api/wp', { token, body })).body.result
  const domain = await eventually(
    'the server running',
    async () => {
      const { result } = (
        await portal.call<{ status: string; domain: string }>('GET', `/api/wp/${id}`, { token })
      ).body
      return result.status === 'running' && result.domain
    },
    180,
  )
  return { id, domain }
}

beforeAll(async () => {
  folder = await fs.mkdtemp(path.join(os.tmpdir(), 'portal-move-'))
  ;[portal, browser] = await Promise.all([
    openTestPortal({ wordpress: 'real', mayFetch: (_address, port) => port === originalPort }),
    openBrowser(),
  ])
  an = await portal.customer()
  await portal.topUp(an, 3_000_000)
}, 200_000)
afterAll(async () => {
  await endVisits(browser)
  await portal?.close()
  original?.close()
  await fs.rm(folder, { recursive: true, force: true })
})

function openOriginal(of: Ordered): Promise<void> {
  original = createServer((asked, answer) => {
    const port = portal.config.SITES_PORT
    const passed = request(
      { host: '127.0.0.1', port, path: asked.url, headers: { host: of.domain } },
      (got) => {
        answer.writeHead(got.statusCode ?? 502, got.headers)
        got.pipe(answer)
      },
    )
    passed.on('error', () => answer.destroy())
    passed.end()
  })
  return new Promise((done) =>
    original.listen(0, '127.0.0.1', () => {
      originalPort = (original.address() as AddressInfo).port
      done()
    }),
  )
}

async function picture(page: Page, name: string): Promise<void> {
  await settled(page)
  await keepPicture(page, `move-${name}`)
}

test(
  'a post, its pages and its administrator move to another server',
  { timeout: 500_000 },
  async () => {
    const [from, into] = [await order('chu.cu'), await order('chu.moi')]
    await openOriginal(from)
    const { page, context } = await visitAs(browser, {
      language: 'en',
      customer: an,
      viewport: wide,
    })
    const siteOf = ({ domain }: Ordered) => `http://${domain}`

    // A post is published in the first server's wp-admin, entered from the portal.
    await openPage(page, `${portal.url}/wordpress/${from.id}`)
    const opened = context.waitForEvent('page')
    await page.getByRole('button', { name: 'Open wp-admin' }).first().click()
    const admin = await opened
    await admin.locator('#wpadminbar').waitFor()
    await admin.goto(`${siteOf(from)}/wp-admin/post-new.php`)
    const status = await admin.evaluate(
      async (content) => {
        const { nonce } = (globalThis as unknown as { wpApiSettings: { nonce: string } })
          .wpApiSettings
        const answer = await fetch('/wp-json/wp/v2/posts', {
          method: 'POST',
          headers: { 'content-type': 'application/json', 'x-wp-nonce': nonce },
          body: JSON.stringify({ title: 'Đường về nhà 🌧', content, status: 'publish' }),
        })
        return answer.status
      },
      `Mưa rơi. <a href="${siteOf(from)}/?p=1">Bài đầu</a>`,
    )
    expect(status).toBe(201)
    await admin.close()

    // Its archive is downloaded.
    await openPage(page, `${portal.url}/wordpress/${from.id}?tab=backups`)
    await page.getByRole('button', { name: 'Back up now' }).click()
    const download = page.getByRole('button', { name: /^Download the backup of/ })
    await download.waitFor({ timeout: 120_000 })
    await picture(page, '1-taken-away')
    const [file] = await Promise.all([page.waitForEvent('download'), download.click()])
    const archive = path.join(folder, file.suggestedFilename())
    await file.saveAs(archive)

    // It is uploaded to the other server, which keeps running as it is.
    await openPage(page, `${portal.url}/wordpress/${into.id}?tab=move-in`)
    await page.getByLabel('Files of the website').setInputFiles(archive)
    await page.getByLabel('Address of the website today').fill(`http://127.0.0.1:${originalPort}`)
    await page.getByRole('button', { name: 'Upload' }).click()
    await page.getByText('Building the copy').waitFor({ timeout: 60_000 })
    await picture(page, '2-building')
    await page.getByText('The copy is ready').waitFor({ timeout: 180_000 })
    await page.getByText('Backup of this portal').waitFor()
    await picture(page, '3-compared')
    const rows = page.getByRole('row').filter({ hasText: /^\// })
    const verdicts = await rows.getByText('Same', { exact: true }).count()
    expect(verdicts).toBe(await rows.count())
    expect(verdicts).toBeGreaterThan(2)
    const visitor = await context.newPage()
    await visitor.goto(siteOf(into))
    expect(await visitor.content()).not.toContain('Đường về nhà')

    await page.getByRole('button', { name: 'Switch over' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Switch over' }).click()
    await page.getByText('The website has moved in').waitFor({ timeout: 180_000 })
    await picture(page, '4-moved-in')

    // Visitors of the other server see the post, with addresses of that server.
    await eventually('the site again', async () => {
      const answer = await visitor.goto(siteOf(into))
      return answer?.status() === 200
    })
    await visitor.getByRole('link', { name: 'Đường về nhà 🌧' }).first().click()
    await visitor.getByText('Mưa rơi.').waitFor()
    expect(visitor.url().startsWith(siteOf(into))).toBe(true)
    expect(await visitor.getByRole('link', { name: 'Bài đầu' }).getAttribute('href')).toBe(
      `${siteOf(into)}/?p=1`,
    )
    await picture(visitor, '5-the-post')
    // The original's administrator can sign in here.
    await visitor.goto(`${siteOf(into)}/wp-login.php`)
    await visitor.locator('#user_login:focus').waitFor()
    await visitor.locator('#user_login').fill('chu.cu')
    await visitor.locator('#user_pass').fill(password)
    await visitor.locator('#wp-submit').click()
    await visitor.locator('#wpadminbar').waitFor()
  },
)
