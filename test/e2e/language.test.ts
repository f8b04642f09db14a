/**
 * A chosen language applies to the whole screen and to the account; a lost connection loses no
 * page.
 */
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openTestPortal, type TestCustomer, type TestPortal } from '../portal.ts'
import { endVisits, openBrowser, openPage, visitAs } from './browser.ts'

let portal: TestPortal
let browser: Browser
let an: TestCustomer
beforeAll(async () => {
  ;[portal, browser] = await Promise.all([openTestPortal(), openBrowser()])
  an = await portal.customer()
  await portal.topUp(an, 150_000)
})
afterAll(async () => {
  await endVisits(browser)
  await portal?.close()
})

test('a language that is chosen is the whole screen’s at once, then the account’s', async () => {
  const { page, context } = await visitAs(browser, { language: 'vi', customer: an })
  await openPage(page, `${portal.url}/transactions`)
  await page.getByText('Nạp ví qua VNPay').first().waitFor()
  await page.getByRole('button', { name: /Ngôn ngữ/ }).click()
  await page.getByRole('menuitemradio', { name: 'English' }).click()
  await page.getByText('Top-up via VNPay').first().waitFor()
  await expect.poll(() => page.getByText('Nạp ví qua VNPay').count()).toBe(0)
  await expect
    .poll(
      async () =>
        (await portal.call<{ language: string }>('GET', '/api/v1/auth/me', { token: an.token }))
          .body.result.language,
    )
    .toBe('en')
  await context.close()
})

test('offline, a page that was not loaded leaves the screen and opens when online', async () => {
  const { page, context } = await visitAs(browser, { language: 'en', customer: an })
  await openPage(page, `${portal.url}/transactions`)
  await page.getByText('Top-up via VNPay').first().waitFor()
  await context.setOffline(true)
  await page.getByRole('link', { name: 'Invoices', exact: true }).first().click()
  await page
    .getByText(/connection/i)
    .first()
    .waitFor()
  expect(await page.getByText('Top-up via VNPay').count()).toBeGreaterThan(0)
  await context.setOffline(false)
  await page.getByRole('heading', { level: 1, name: 'Invoices' }).waitFor()
  await context.close()
})
