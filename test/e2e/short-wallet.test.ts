/** An order that the wallet cannot pay: a normal step, not an error. */
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openTestPortal, type TestPortal } from '../portal.ts'
import { endVisits, openBrowser, openPage, visitAs } from './browser.ts'

let portal: TestPortal
let browser: Browser
beforeAll(async () => {
  ;[portal, browser] = await Promise.all([openTestPortal(), openBrowser()])
})
afterAll(async () => {
  await endVisits(browser)
  await portal?.close()
})

async function review(page: Page): Promise<void> {
  await openPage(page, `${portal.url}/wordpress/create`)
  // A press on a card's text chooses it, and so does its radio.
  await page.getByText('Singapore').click()
  await page.getByRole('radio', { name: /BASIC-1/ }).check()
  for (const group of await page.getByRole('radio', { name: /10 GB/ }).all())
    await group.check({ force: true })
  await page.getByLabel('User name').fill('an')
  await page.getByLabel('Password', { exact: true }).fill('Mat-khau-9!')
  await page.getByRole('button', { name: 'Review and confirm' }).click()
}

test('a short wallet is a step: what is missing is topped up, the order goes on', async () => {
  const an = await portal.customer()
  await portal.topUp(an, 100_000)
  const { page, context } = await visitAs(browser, { language: 'en', customer: an })
  await review(page)
  // 218,000 đ are due, and the wallet holds 100,000 đ.
  await page.getByRole('button', { name: 'Confirm, then top up 118.000 đ' }).click()
  await page.waitForURL(/\/wordpress-progress\//)
  await page.getByRole('heading', { name: 'Waiting for 118.000 đ' }).waitFor()
  expect(await page.getByText('Error !').count()).toBe(0)
  for (const [term, amount] of [
    ['Amount paid', '0 đ'],
    ['Amount due', '218.000 đ'],
  ] as const)
    await page.locator('dl > div', { hasText: term }).getByText(amount).waitFor()
  await page.getByRole('link', { name: 'Top up 118.000 đ' }).click()
  await page.waitForURL(/\/payment\?amount=118000/)
  await page.goBack()
  const progress = page.url()
  // Money pays the older order first: a second one needs the price of both.
  await review(page)
  await page.getByRole('button', { name: 'Confirm, then top up 336.000 đ' }).waitFor()
  await page
    .locator('dl > div', { hasText: 'Older unpaid invoices' })
    .getByText('218.000 đ')
    .waitFor()
  await openPage(page, progress)
  await portal.topUp(an, 118_000)
  await page.getByRole('heading', { name: 'Your server is ready' }).waitFor({ timeout: 90_000 })
  await context.close()
}, 180_000)
