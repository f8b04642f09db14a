/** PHP settings on the server's page. */
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { orderServer } from '../ordered-servers.ts'
import { openTestPortal, type TestCustomer, type TestPortal } from '../portal.ts'
import {
  endVisits,
  keepPicture,
  openBrowser,
  phone,
  sideways,
  violations,
  visitAs,
  wide,
} from './browser.ts'

let portal: TestPortal
let browser: Browser
let customer: TestCustomer
let id: string
beforeAll(async () => {
  ;[portal, browser] = await Promise.all([openTestPortal(), openBrowser()])
  customer = await portal.customer()
  await portal.topUp(customer, 500_000)
  ;({ id } = await orderServer(portal, customer))
})
afterAll(async () => {
  await endVisits(browser)
  await portal?.close()
})

test('a wrong number is refused, a right one saved and applied', async () => {
  const open = async (
    language: 'en' | 'vi',
    viewport = wide,
    theme: 'light' | 'dark' = 'light',
  ) => {
    const visit = await visitAs(browser, { language, viewport, theme, customer })
    await visit.page.goto(`${portal.url}/wordpress/${id}?tab=speed`)
    await visit.page.getByText('WP_DEBUG').waitFor()
    return visit
  }
  const { page, complaints } = await open('en')
  const upload = page.getByLabel('Largest upload, MB')
  await upload.fill('500')
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText('At most 128.').waitFor()
  await upload.fill('96')
  await page.getByRole('switch', { name: 'Debug mode' }).check()
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText('PHP settings saved.').waitFor()
  await page.getByText('The settings are being applied').waitFor({ state: 'detached' })
  await page.reload()
  await expect.poll(() => upload.inputValue()).toBe('96')
  expect(complaints).toEqual([])
  for (const [language, viewport, theme, name] of [
    ['en', wide, 'light', 'php-en-light'],
    ['vi', wide, 'dark', 'php-vi-dark'],
    ['vi', phone, 'light', 'php-vi-phone'],
  ] as const) {
    const look = await open(language, viewport, theme)
    expect(await sideways(look.page)).toBe(0)
    expect(await violations(look.page)).toEqual([])
    await keepPicture(look.page, name)
  }
})
