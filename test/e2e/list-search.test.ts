/** Long lists of servers and domains are searched, in a real browser. */
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { manyDomains, manyServers } from '../many-rows.ts'
import { openTestPortal, type TestCustomer, type TestPortal } from '../portal.ts'
import { endVisits, judgeBothWidths, openBrowser, openPage, visitAs } from './browser.ts'

let portal: TestPortal
let browser: Browser
let page: Page
let few: TestCustomer

beforeAll(async () => {
  ;[portal, browser] = await Promise.all([openTestPortal(), openBrowser()])
  const many = await portal.customer()
  few = await portal.customer()
  const { db } = portal.app
  await manyServers(db, many.id, 'cua-hang', 60)
  await manyDomains(db, many.id, 'dia-chi', 60)
  await manyServers(db, few.id, 'vuon', 9)
  await manyDomains(db, few.id, 'vuon', 9)
  ;({ page } = await visitAs(browser, { language: 'en', customer: many }))
})
afterAll(async () => {
  await endVisits(browser)
  await portal?.close()
})

const names = (): Promise<string[]> =>
  page
    .locator('tbody th')
    .evaluateAll((cells) =>
      cells.map((cell) => (cell as HTMLElement).innerText.split('\n')[0]?.trim() ?? ''),
    )

test.each([
  ['/wordpress', 'Search by name or domain', 'Cửa Hàng', 'cua-hang-7', 'No server has this'],
  ['/dns', 'Search by domain name', 'Địa chỉ', 'dia-chi-7.vn', 'None of your domains has this'],
])('%s is searched by the keyboard, past its first page', async (path, label, kind, one, none) => {
  await openPage(page, `${portal.url}${path}`)
  const field = page.getByRole('searchbox', { name: label })
  // Older than the first page shows.
  expect(await names()).not.toContain(one)
  await field.focus()
  await page.keyboard.type(`${kind} -7`)
  await expect.poll(names).toEqual([one])
  expect(new URL(page.url()).searchParams.get('search')).toBe(`${kind} -7`)
  await page.getByText(/^1 (server|domain) found$/).waitFor({ state: 'attached' })
  await judgeBothWidths(page, `search-${path.slice(1)}`)
  // The field kept what was typed, and the focus.
  expect(await field.evaluate((input) => input === document.activeElement)).toBe(true)

  await page.reload()
  await expect.poll(names).toEqual([one])
  expect(await field.inputValue()).toBe(`${kind} -7`)

  await field.fill('khong-co')
  await page.getByText(none).waitFor()
  await judgeBothWidths(page, `search-${path.slice(1)}-none`)
  await page.getByRole('button', { name: 'Show all' }).click()
  await expect.poll(async () => (await names()).length).toBe(50)
  expect(await field.inputValue()).toBe('')
  expect(await field.evaluate((input) => input === document.activeElement)).toBe(true)
  expect(new URL(page.url()).search).toBe('')
})

test('what is typed while the address changes stays', async () => {
  await openPage(page, `${portal.url}/dns`)
  await page.getByRole('searchbox').focus()
  await page.evaluate(() => {
    const { replaceState } = history
    history.replaceState = (...change) => {
      history.replaceState = replaceState
      replaceState.apply(history, change)
      document.execCommand('insertText', false, '-7')
    }
  })
  await page.keyboard.type('chi')
  await expect.poll(names).toEqual(['dia-chi-7.vn'])
  expect(await page.getByRole('searchbox').inputValue()).toBe('chi-7')
})

test('on a slow line a cleared search keeps field and focus, and counts truly', async () => {
  for (const [path, kind] of [
    ['/wordpress', 'cua'],
    ['/dns', 'chi'],
  ] as const) {
    await openPage(page, `${portal.url}${path}?search=${kind}`)
    await page.getByText(/^More than 50 (servers|domains) found$/).waitFor({ state: 'attached' })
    await openPage(page, `${portal.url}${path}?search=-7`)
    await expect.poll(async () => (await names()).length).toBe(1)
    const line = await page.context().newCDPSession(page)
    await line.send('Network.emulateNetworkConditions', {
      offline: false,
      latency: 600,
      downloadThroughput: -1,
      uploadThroughput: -1,
    })
    const field = await page.getByRole('searchbox').elementHandle()
    await field?.fill('')
    await expect.poll(async () => (await names()).length).toBe(50)
    expect(await field?.evaluate((input) => input === document.activeElement)).toBe(true)
    await line.detach()
  }
})

test('a short list has no search', async () => {
  const { page: own } = await visitAs(browser, { language: 'en', customer: few })
  for (const path of ['/wordpress', '/dns']) {
    await openPage(own, `${portal.url}${path}`)
    expect(await own.locator('tbody tr').count()).toBe(9)
    expect(await own.getByRole('searchbox').count()).toBe(0)
  }
})
