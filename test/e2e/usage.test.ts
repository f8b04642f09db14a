/** A server's figures over time, as its owner sees them. */
import { sql } from 'kysely'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openTestPortal, type TestCustomer, type TestPortal } from '../portal.ts'
import {
  endVisits,
  keepBothWidths,
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
  const body = {
    size: 1,
    region: 1,
    disk: 10_240,
    mariadb_disk_size: 10_240,
    user: 'binh',
    password: 'Another#1pass',
    replicate: 1,
  }
  id = (await portal.call<{ id: string }>('POST', '/api/wp', { token: customer.token, body })).body
    .result.id
})
afterAll(async () => {
  await endVisits(browser)
  await portal?.close()
})

const open = async (language: 'en' | 'vi', viewport = wide, theme: 'light' | 'dark' = 'light') => {
  const visit = await visitAs(browser, { language, viewport, theme, customer })
  await visit.page.goto(`${portal.url}/wordpress/${id}?tab=usage`)
  return visit
}

test('a new server says once when its first figures come', async () => {
  const { page } = await open('en')
  const empty = page.getByText('The first figures come within ten minutes')
  await empty.first().waitFor()
  expect(await empty.count()).toBe(1)
  expect(await page.getByRole('figure').count()).toBe(0)
  await keepBothWidths(page, 'usage-empty')
})

test('a day, a week and 90 days are drawn, and read by pointing', async () => {
  for (const [minutes, count] of [
    [5, 280],
    [60, 160],
    [1_440, 80],
  ])
    await sql`
      insert into site_usage (site_id, minutes, at, requests, client_errors, server_errors, cached,
        total_ms, times, memory_mb, cpu_ms, files_mb, database_mb)
      select ${id}, ${minutes}::int,
        date_bin(make_interval(mins => ${minutes}::int), now(), 'epoch')
          - make_interval(mins => ${minutes}::int * n),
        (200 + 150 * sin(n / 20.0))::int, (6 + 5 * sin(n / 9.0))::int,
        (n % 90 = 7)::int * 9, (140 + 100 * sin(n / 20.0))::int, 12000,
        array[0, 20, 90, 40, 10, 20, 30, 10, (n % 7), 0, 0, 0, 0, 0],
        (320 + 40 * sin(n / 15.0))::int, (${minutes}::int * 6000 * (1 + sin(n / 20.0)))::bigint,
        900 - n, 55 from generate_series(1, ${count}::int) n`.execute(portal.app.db)
  const { page, complaints } = await open('en')
  const visits = page.getByRole('figure', { name: 'Requests' })
  await visits.getByRole('img', { name: /All requests: \d+,\d{3}/ }).waitFor()
  const before = await visits.innerText()
  await visits.getByRole('img').hover()
  expect(await visits.innerText()).toMatch(/\d{4}-\d\d-\d\d \d\d:\d\d/)
  expect(await visits.innerText()).not.toBe(before)
  await page.getByText('90 days').click()
  await page.waitForFunction(
    (text) => document.querySelector('figure')?.textContent !== text,
    before,
  )
  await page.getByText('7 days').click()
  await page.getByText('95th percentile').waitFor()
  expect(complaints).toEqual([])
})

test.each([
  ['wide', 'light', 'vi'],
  ['wide', 'dark', 'en'],
  ['phone', 'light', 'en'],
  ['phone', 'dark', 'vi'],
] as const)('%s, %s, %s: accessible, within the screen', async (size, theme, language) => {
  const { page } = await open(language, size === 'wide' ? wide : phone, theme)
  await page.getByRole('figure').first().waitFor()
  await keepPicture(page, `usage-${size}-${theme}-${language}`)
  expect(await violations(page)).toEqual([])
  expect(await sideways(page)).toBe(0)
})
