/** The updates of a server, as its owner uses them in a real browser. */
import path from 'node:path'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { pluginSlug, themeSlug } from '../../sandbox/wordpress/releases.ts'
import { installRelease } from '../installed-software.ts'
import { orderServer } from '../ordered-servers.ts'
import { openTestPortal, type TestCustomer, type TestPortal } from '../portal.ts'
import { endVisits, openBrowser, openPage, settled, visitAs } from './browser.ts'

let portal: TestPortal
let browser: Browser
let owner: TestCustomer
let page: Page
let id = ''

beforeAll(async () => {
  ;[portal, browser] = await Promise.all([openTestPortal(), openBrowser()])
  owner = await portal.customer()
  await portal.topUp(owner, 5_000_000)
  ;({ id } = await orderServer(portal, owner))
  const site = path.join(portal.dataDir, 'sites', id)
  installRelease(site, pluginSlug, '1.0.0')
  installRelease(site, themeSlug, '1.0')
  ;({ page } = await visitAs(browser, { language: 'en', customer: owner }))
}, 120_000)
afterAll(async () => {
  await endVisits(browser)
  await portal?.close()
})

const publish = (newest: Record<string, string>) =>
  fetch(`${portal.sandboxUrl}/wordpress/state.json`, {
    method: 'POST',
    body: JSON.stringify({ newest }),
  })
const button = (label: string | RegExp) => page.getByRole('button', { name: label, exact: true })
const history = () => page.getByRole('list', { name: 'History' }).getByRole('listitem')
const text = (of: string) => page.getByText(of, { exact: true }).first().waitFor()

describe('the Updates tab', { timeout: 120_000 }, () => {
  test('shows what is installed once somebody has looked', async () => {
    await openPage(page, `${portal.url}/wordpress/${id}?tab=updates`)
    await text('No updates yet.')
    await button('Check now').click()
    await text('Everything is up to date.')
    await text('Giờ mở cửa')
    expect(await button('Update all').count()).toBe(0)
  })

  test('a newer release is offered, installed at a press, and stands in the history', async () => {
    await publish({ [pluginSlug]: '1.0.2' })
    await button('Check now').click()
    await text('Version 1.0.2 is available')
    await text('Security')
    await button('Update Giờ mở cửa to 1.0.2').click()
    const dialog = page.getByRole('dialog')
    await dialog.getByText('1.0.0 → 1.0.2').waitFor()
    await dialog.getByRole('button', { name: 'Update now' }).click()
    await text('Installed')
    await text('Everything is up to date.')
    expect(await history().first().textContent()).toContain('Started by you')
  })

  test('a bad one is undone, and the owner reads why', async () => {
    await publish({ [pluginSlug]: '1.1.0', [themeSlug]: '1.1' })
    await button('Check now').click()
    await button('Update all').click()
    await page.getByRole('dialog').getByRole('button', { name: 'Update now' }).click()
    await text('Undone')
    await text('/ answered 500 instead of 200.')
    await text('Version 1.1.0 was undone here before.')
    // The other update alone succeeds.
    await button('Update Mùa thu to 1.1').click()
    await page.getByRole('dialog').getByRole('button', { name: 'Update now' }).click()
    await history().nth(2).waitFor()
    await page.getByRole('listitem').filter({ hasText: 'Mùa thu1.1' }).waitFor()
  })

  test('what comes by itself is chosen, and kept', async () => {
    await page.getByRole('radio', { name: /^All/ }).check()
    await text('Automatic updates changed.')
    await page.reload()
    await settled(page)
    expect(await page.getByRole('radio', { name: /^All/ }).isChecked()).toBe(true)
    await page.getByText(/^Next automatic update:/).waitFor()
  })

  test('a backup from before an update says so', async () => {
    await page.getByRole('tab', { name: 'Backups', exact: true }).click()
    await page
      .getByText(/^Before an update/)
      .first()
      .waitFor()
  })
})
