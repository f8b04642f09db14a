/** A website is imported into a server in a browser, across a lost connection and a reload. */
import { randomBytes } from 'node:crypto'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { orderServer } from '../ordered-servers.ts'
import { zipOf } from '../packages.ts'
import { openTestPortal, type TestCustomer, type TestPortal } from '../portal.ts'
import {
  endVisits,
  openBrowser,
  openPage,
  phone,
  settled,
  sideways,
  violations,
  visitAs,
  wide,
  type Look,
} from './browser.ts'

let portal: TestPortal
let browser: Browser
let an: TestCustomer
let id: string
let original: Server
let originalPort = 0
let page: Page

const dump = `-- MySQL dump 10.13
/*!40101 SET NAMES utf8mb4 */;
CREATE TABLE \`wp_options\` (\`option_name\` varchar(191), \`option_value\` longtext);
CREATE TABLE \`wp_users\` (\`ID\` bigint, \`user_login\` varchar(60), \`user_pass\` varchar(255));
CREATE TABLE \`wp_usermeta\` (\`user_id\` bigint, \`meta_key\` varchar(255),
  \`meta_value\` longtext);
CREATE TABLE \`wp_posts\` (\`ID\` bigint, \`post_title\` text, \`post_content\` longtext,
  \`post_date\` datetime);
INSERT INTO \`wp_options\` VALUES ('blogname','Tiệm bánh Mây'),('home','https://tiem-banh.example');
INSERT INTO \`wp_users\` VALUES (1,'chu.tiem','x');
INSERT INTO \`wp_posts\` VALUES (1,'Bánh trung thu','a','2026-01-01'),
  (2,'Bánh mì','b','2026-01-02');
CREATE VIEW \`wp_seen\` AS SELECT 1;
`
const package_ = zipOf([
  { name: 'site/wp-content/uploads/anh.bin', content: randomBytes(7 * 2 ** 20) },
  { name: 'site/wp-content/themes/may/style.css', content: '/* Theme Name: Mây */' },
  { name: 'site/wp-content/object-cache.php', content: '<?php' },
  { name: 'site/dump.sql', content: dump },
])
const files = [{ name: 'tiem-banh.zip', mimeType: 'application/zip', buffer: package_ }]

beforeAll(async () => {
  original = createServer((request, response) => {
    const isOther = request.url === '/?p=2'
    response.writeHead(isOther ? 404 : 200, { 'content-type': 'text/html; charset=utf-8' })
    response.end(
      '<head><title>Tiệm bánh Mây</title></head><h1>Tiệm bánh Mây</h1>' +
        '<ul><li>Bánh mì</li><li>Bánh trung thu</li></ul><a href="/wp-login.php">Log in</a>',
    )
  })
  await new Promise<void>((done) => original.listen(0, '127.0.0.1', done))
  originalPort = (original.address() as AddressInfo).port
  ;[portal, browser] = await Promise.all([
    openTestPortal({ mayFetch: (_address, port) => port === originalPort }),
    openBrowser(),
  ])
  an = await portal.customer()
  await portal.topUp(an, 3_000_000)
  ;({ id } = await orderServer(portal, an))
  page = (await visitAs(browser, { language: 'en', customer: an })).page
})
afterAll(async () => {
  await endVisits(browser)
  await portal?.close()
  original?.close()
})

const address = () => `${portal.url}/wordpress/${id}?tab=move-in`

/** The looks to test; with PICTURES=folder all of them, and pictures are saved there. */
const folder = process.env['PICTURES']
const looks: readonly Look[] =
  folder === undefined
    ? [
        { viewport: wide, theme: 'light', language: 'en' },
        { viewport: phone, theme: 'dark', language: 'vi' },
      ]
    : [wide, phone].flatMap((viewport) =>
        (['light', 'dark'] as const).flatMap((theme) =>
          (['en', 'vi'] as const).map((language) => ({ viewport, theme, language })),
        ),
      )
async function look(name: string): Promise<void> {
  for (const { viewport, theme, language } of looks) {
    const one = await visitAs(browser, {
      customer: an,
      viewport: viewport ?? wide,
      theme: theme ?? 'light',
      language: language ?? 'en',
    })
    await openPage(one.page, address())
    await one.page.waitForSelector('#move-in')
    await settled(one.page)
    expect(await violations(one.page), `${name} ${theme} ${language}`).toEqual([])
    expect(await sideways(one.page), `${name} ${viewport?.width}`).toBeLessThanOrEqual(0)
    if (folder !== undefined)
      await one.page.screenshot({
        path: `${folder}/${name}-${viewport?.width}-${theme}-${language}.png`,
        fullPage: true,
      })
    await one.context.close()
  }
}

test('says what can be moved in, and refuses an address that is none', async () => {
  await openPage(page, address())
  await page.getByText('UpdraftPlus: the database').waitFor()
  await look('empty')
  const upload = page.getByRole('button', { name: 'Upload' })
  expect(await upload.isDisabled()).toBe(true)
  await page.getByLabel('Files of the website').setInputFiles(files)
  await page.getByText('tiem-banh.zip').waitFor()
  await page.getByLabel('Address of the website today').fill('not an address')
  await upload.click()
  await page.getByText('Enter the address of the website').waitFor()
})

test('goes on after a dropped line, and after a reload with the same files', async () => {
  await page.getByLabel('Address of the website today').fill(`http://127.0.0.1:${originalPort}`)
  let sent = 0
  let dropped = 0
  const arrived = Promise.withResolvers<void>()
  await page.route('**/import/*/files/**', async (route) => {
    if (route.request().method() !== 'PUT') return await route.continue()
    sent++
    // The second piece fails twice; the fourth never finishes.
    if (sent === 2 || sent === 3) {
      dropped++
      return await route.abort()
    }
    if (sent === 5) return arrived.resolve()
    await route.continue()
  })
  await page.getByRole('button', { name: 'Upload' }).click()
  await arrived.promise
  expect(dropped).toBe(2)
  await page.unroute('**/import/*/files/**')
  await openPage(page, address())
  await page.getByText('has arrived').waitFor()
  await look('half')
  const other = [{ ...files[0]!, buffer: Buffer.from('another') }]
  await page.getByLabel('Files of the website').setInputFiles(other)
  await page.getByRole('button', { name: 'Upload' }).click()
  await page.getByText('These are not the files').waitFor()
  await page.getByLabel('Files of the website').setInputFiles(files)
  await page.getByRole('button', { name: 'Upload' }).click()
  await page.getByText('The copy is ready').waitFor()
})

test('shows the copy beside the original, page by page', async () => {
  await page.getByText('Files and a database dump').waitFor()
  await page.getByText('chu.tiem').waitFor()
  await page.getByText('https://tiem-banh.example').waitFor()
  await page.getByText('Left out, as they belong to the former host: object-cache.php.').waitFor()
  const row = (target: string) => page.getByRole('row').filter({ hasText: target })
  await row('/?p=1').getByText('Same', { exact: true }).waitFor()
  await row('/?p=2').getByText('Other status').waitFor()
  await look('ready')
})

test(
  'switches over, tells who may sign in, and offers the way back',
  { timeout: 300_000 },
  async () => {
    await page.getByRole('button', { name: 'Switch over' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Switch over' }).click()
    await page.getByText('The website has moved in').waitFor({ timeout: 180_000 })
    await look('done')
    await page.getByRole('button', { name: 'Undo' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Undo' }).click()
    await page.getByText('The server is being put back.').waitFor()
  },
)
