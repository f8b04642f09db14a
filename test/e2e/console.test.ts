/**
 * The console on a server's page: a command is typed, completed, run, confirmed, and found in the
 * history.
 */
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

const open = async (language: 'en' | 'vi', viewport = wide, theme: 'light' | 'dark' = 'light') => {
  const visit = await visitAs(browser, { language, viewport, theme, customer })
  await visit.page.goto(`${portal.url}/wordpress/${id}?tab=console`)
  return visit
}

test('by the keyboard alone', async () => {
  const { page, complaints } = await open('en')
  const prompt = page.getByRole('textbox', { name: 'Command' })
  const log = page.getByRole('log')
  await prompt.focus()
  await page.keyboard.type('user l')
  await page.keyboard.press('Tab')
  expect(await prompt.inputValue()).toBe('user list ')
  await page.keyboard.type('--fi')
  await page.keyboard.press('Tab')
  expect(await prompt.inputValue()).toBe('user list --field')
  await page.getByText('Possible: --field= --fields=').waitFor()
  await page.keyboard.type('s=ID,user_login')
  await page.keyboard.press('Enter')
  await log.getByRole('columnheader', { name: 'user_login' }).waitFor()
  expect(await log.getByRole('cell').allTextContents()).toEqual(['1', 'an'])

  // A typing mistake is reported before anything is sent.
  await page.keyboard.type('plugin lsit')
  await page.keyboard.press('Enter')
  await log.getByText('The nearest is “plugin list”').waitFor()
  await page.keyboard.press('ArrowUp')
  expect(await prompt.inputValue()).toBe('plugin lsit')
  await page.keyboard.press('ArrowUp')
  expect(await prompt.inputValue()).toBe('user list --fields=ID,user_login')
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('ArrowDown')
  expect(await prompt.inputValue()).toBe('')
  // Typed text is kept, even when moving past it in the history.
  await page.keyboard.type('cache fl')
  await page.keyboard.press('ArrowDown')
  expect(await prompt.inputValue()).toBe('cache fl')
  await page.keyboard.press('ArrowUp')
  await page.keyboard.press('ArrowDown')
  expect(await prompt.inputValue()).toBe('cache fl')
  // A recalled command that is completed counts as typed.
  await prompt.fill('')
  await page.keyboard.type('user ge')
  await page.keyboard.press('Enter')
  await log.getByText('user get').first().waitFor()
  await page.keyboard.press('ArrowUp')
  await page.keyboard.press('Tab')
  const completed = await prompt.inputValue()
  await page.keyboard.press('ArrowUp')
  await page.keyboard.press('ArrowDown')
  expect(await prompt.inputValue()).toBe(completed)
  await prompt.fill('')

  await page.keyboard.type('option update tried 1')
  await page.keyboard.press('Enter')
  await log.getByText("Success: Updated 'tried' option.").waitFor()
  await page.keyboard.type('option delete tried')
  await page.keyboard.press('Enter')
  const dialog = page.getByRole('dialog')
  await dialog.getByText('wp option delete tried').waitFor()
  await keepPicture(page, 'console-asks')
  const hasFocus = () => prompt.evaluate((one) => one === document.activeElement)
  await page.keyboard.press('Escape')
  await expect.poll(hasFocus).toBe(true)
  // The browser restores the focus before it reports that the dialog is closed.
  await dialog.waitFor({ state: 'detached' })
  expect(await prompt.inputValue()).toBe('option delete tried')
  await page.keyboard.press('Enter')
  await dialog.getByRole('button', { name: 'Run it' }).click()
  await log.getByText("Success: Deleted 'tried' option.").waitFor()

  // With nothing to complete, Tab moves the focus.
  await prompt.focus()
  await page.keyboard.press('Tab')
  expect(await hasFocus()).toBe(false)

  const history = page.getByRole('list', { name: 'History' })
  await history.getByText('option delete tried').waitFor()
  await page.reload()
  await history.getByRole('button', { name: 'option update tried 1' }).click()
  expect(await prompt.inputValue()).toBe('option update tried 1')
  expect(complaints).toEqual([])
})

test.each([
  ['wide', 'light', 'vi'],
  ['wide', 'dark', 'en'],
  ['phone', 'light', 'en'],
  ['phone', 'dark', 'vi'],
] as const)('%s, %s, %s: accessible, within the screen', async (size, theme, language) => {
  const { page } = await open(language, size === 'wide' ? wide : phone, theme)
  const prompt = page.getByRole('textbox', { name: language === 'vi' ? 'Lệnh' : 'Command' })
  for (const line of ['help user', 'user list', 'option get nowhere', 'plugin lsit']) {
    await prompt.fill(line)
    await prompt.press('Enter')
    await page
      .getByRole('log')
      .getByRole('article')
      .filter({ hasText: `$ wp ${line}` })
      .first()
      .waitFor()
  }
  await page.getByText('Does it exist?').waitFor()
  await keepPicture(page, `console-${size}-${theme}-${language}`)
  expect(await violations(page)).toEqual([])
  expect(await sideways(page)).toBe(0)
})
