/** What an open screen reads again by itself, and what it leaves alone. */
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openTestHouse, type TestCustomer, type TestHouse } from '../house.ts'
import { openBrowser, visit, type Visit } from './browser.ts'

let house: TestHouse
let browser: Browser
let an: TestCustomer

beforeAll(async () => {
  ;[house, browser] = await Promise.all([openTestHouse(), openBrowser()])
  an = await house.customer()
})
afterAll(async () => {
  await browser?.close()
  await house?.close()
})

/** A tab of An's that has opened nothing yet. */
async function signedIn(): Promise<Visit> {
  const one = await visit(browser, { reducedMotion: 'reduce', locale: 'en-GB' })
  await one.context.addInitScript((token) => {
    localStorage.setItem('language', 'en')
    sessionStorage.setItem('accessToken', token)
    sessionStorage.setItem('isLogin', '1')
  }, an.token)
  return one
}

test.each([
  ['/payment/transfer/NOBODYS1', 'Choose another way', '/api/payments/transfer?'],
  ['/api/payments/success?transId=NOBODYS1', 'Back to overview', '/api/payments/get-transaction?'],
])('%s is not asked for again and again once it is known not to be there', async (address, way, path) => {
  const { page, context } = await signedIn()
  const asked: string[] = []
  page.on('request', (request) => {
    if (request.url().includes(path)) asked.push(request.url())
  })
  await page.clock.install()
  await page.goto(`${house.url}${address}`)
  await page.getByRole('link', { name: way }).waitFor()
  const before = asked.length
  expect(before).toBeGreaterThan(0)
  await page.clock.runFor(60_000)
  expect(asked).toHaveLength(before)
  await context.close()
})
