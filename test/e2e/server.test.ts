/**
 * One customer and one running server, in a real browser: every tab of its page, from the first
 * visit to its deletion.
 */
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openTestDns, type TestDns } from '../dns-server.ts'
import { eventually, openTestPortal, type TestCustomer, type TestPortal } from '../portal.ts'
import { join, work } from '../team.ts'
import {
  endVisits,
  openBrowser,
  openPage,
  phone,
  resize,
  settled,
  visitAs,
  wide,
  type Visit,
} from './browser.ts'

const name = 'tiem-banh.example.org'
let dns: TestDns
let portal: TestPortal
let browser: Browser
let an: TestCustomer
let id: string
let server: string
let tab: Visit
let page: Page

beforeAll(async () => {
  dns = await openTestDns()
  ;[portal, browser] = await Promise.all([
    openTestPortal({ env: { DNS_RESOLVERS: dns.address } }),
    openBrowser(),
  ])
  an = await portal.customer()
  await portal.topUp(an, 3_000_000)
  const order = {
    size: 1,
    region: 1,
    disk: 10_240,
    mariadb_disk_size: 10_240,
    user: 'binh',
    password: 'Another#1pass',
    replicate: 1,
  }
  id = (await portal.call<{ id: string }>('POST', '/api/wp', { token: an.token, body: order })).body
    .result.id
  server = await eventually(
    'the server running',
    async () => {
      const { result } = (
        await portal.call<{ status: string; name: string }>('GET', `/api/wp/${id}`, {
          token: an.token,
        })
      ).body
      return result.status === 'running' && result.name
    },
    90,
  )
  tab = await visitAs(browser, { language: 'en', customer: an })
  page = tab.page
})
afterAll(async () => {
  await endVisits(browser)
  await portal?.close()
  await dns?.close()
})

const button = (label: string | RegExp) => page.getByRole('button', { name: label, exact: true })
const told = (text: string) => page.getByText(text, { exact: true }).first().waitFor()
const open = (path: string): Promise<void> => openPage(page, `${portal.url}${path}`)
const part = async (label: string): Promise<void> => {
  await page.getByRole('tab', { name: label, exact: true }).click()
  await settled(page)
}

describe('a running server', { timeout: 90_000 }, () => {
  test('is one entry of the bell, with the steps of its order in it', async () => {
    await open('/')
    await button('Notifications, 2 unread').click()
    const bell = page.getByRole('dialog', { name: /^Notifications/ })
    await bell.getByRole('link', { name: `${server}: Running` }).waitFor()
    expect(await bell.getByRole('link').filter({ visible: true }).count()).toBe(2)
    await bell.getByText('All 7 steps').click()
    await bell.getByRole('link', { name: /^Invoice .* is paid\./ }).click()
    await page.waitForURL(`${portal.url}/invoice`)
  })

  test('has parts that the palette finds by its name, and by theirs on its page', async () => {
    await open('/')
    const find = async (words: string) => {
      await page.keyboard.press('Control+k')
      await page.getByRole('combobox').fill(words)
    }
    const options = page.getByRole('option', { name: server })
    /** Waits for the list, so that Enter does not choose an outdated option. */
    const found = (part: RegExp) =>
      expect.poll(() => options.allInnerTexts()).toEqual([expect.stringMatching(part)])
    await find(`${server} logs`)
    await found(/log/i)
    await find('backups')
    await expect.poll(() => options.count()).toBe(0)
    await find(`${server} logs`)
    await found(/log/i)
    await page.keyboard.press('Enter')
    await page.waitForURL(`${portal.url}/wordpress/${id}?tab=logs`)
    await settled(page)
    await find('backups')
    await found(/backup/i)
    await page.keyboard.press('Enter')
    await page.waitForURL(`${portal.url}/wordpress/${id}?tab=backups`)
  })

  test('has its parts in two rows, which go on beyond a phone and fit a desk', async () => {
    /** The names of tabs that are wholly inside their row, and the window. */
    const inSight = () =>
      page.getByRole('tab').evaluateAll((tabs) =>
        tabs
          .filter((tab) => {
            const [own, row] = [tab, tab.parentElement ?? tab].map((one) =>
              one.getBoundingClientRect(),
            )
            return own && row && own.left >= row.left && own.right <= row.right
          })
          .map((tab) => tab.textContent),
      )
    /** The width of the fade at both ends of each row, px. */
    const ends = () =>
      page.getByRole('tablist').evaluate((list) =>
        [...list.querySelectorAll('.row-with-more')].map((row) => {
          const style = getComputedStyle(row)
          return ['left', 'right'].map((end) =>
            parseInt(style.getPropertyValue(`--more-${end}`), 10),
          )
        }),
      )
    await resize(page, phone)
    await open(`/wordpress/${id}`)
    await expect.poll(ends).toEqual([
      [0, 48],
      [0, 48],
    ])
    expect((await inSight()).length).toBeGreaterThanOrEqual(6)
    await open(`/wordpress/${id}?tab=database`)
    await expect.poll(ends).toEqual([
      [0, 48],
      [48, 48],
    ])
    expect(await inSight()).toContain('Database')
    await open(`/wordpress/${id}?tab=move-in`)
    await expect.poll(async () => (await ends())[1]?.[1]).toBeLessThanOrEqual(1)
    await resize(page, wide)
    await expect.poll(ends).toEqual([
      [0, 0],
      [0, 0],
    ])
    const all = await page.getByRole('tab').allTextContents()
    expect(all).toHaveLength(16)
    expect(await inSight()).toEqual(all)
    // Those of the specification stand in its order.
    const specified = ['General info', 'Runtime Logs', 'Disk', 'MariaDB disk', 'Configuration']
    expect(all.filter((name) => [...specified, 'Domain'].includes(name))).toEqual([
      ...specified,
      'Domain',
    ])
    // One list to the keyboard.
    await page.getByRole('tab', { selected: true }).focus()
    await page.keyboard.press('ArrowRight')
    await page.waitForURL(`${portal.url}/wordpress/${id}`)
    await page.keyboard.press('End')
    await page.waitForURL(/tab=move-in$/)
    const focused = () => page.evaluate(() => document.activeElement?.textContent)
    expect(await focused()).toBe('Move in')
    await page.keyboard.press('Home')
    await page.waitForURL(`${portal.url}/wordpress/${id}`)
    expect(await focused()).toBe('General info')
  })

  test('stands in the hosting list without its MariaDB disk, and leads to its page', async () => {
    await open('/hosting')
    expect(await page.getByRole('columnheader').allTextContents()).not.toContain('MariaDB')
    expect(await page.getByRole('link', { name: 'New Hosting' }).getAttribute('href')).toBe(
      '/hosting/create',
    )
    await page.getByRole('link', { name: `View ${server}` }).click()
    await page.waitForURL(`${portal.url}/wordpress/${id}`)
    await page.getByRole('heading', { level: 1, name: 'Server information' }).waitFor()
    await page.getByText(/^BASIC/).waitFor()
    expect(
      await page.getByRole('meter', { name: 'Disk', exact: true }).getAttribute('aria-valuetext'),
    ).toMatch(/ of 10 GB$/)
    await page.getByRole('meter', { name: 'Memory of web-1' }).waitFor()
    // The same under hosting's address.
    await open(`/hosting/${id}`)
    await page.getByRole('meter', { name: 'MariaDB disk', exact: true }).waitFor()
    expect(await page.getByRole('term').allTextContents()).toContain('MariaDB disk')
    await open(`/wordpress/${id}`)
  })

  test('opens wp-admin without a password', async () => {
    const opening = tab.context.waitForEvent('page')
    await button('Open wp-admin').click()
    const admin = await opening
    await admin.waitForURL(/\/wp-admin\/$/)
    await admin.getByRole('heading', { level: 1 }).waitFor()
    await admin.close()
  })

  test('takes a domain only once it points here, and lets go of it', async () => {
    await open(`/wordpress/${id}`)
    await part('Domain')
    await button('Add domain').click()
    await button('Cancel').click()
    expect(await page.getByLabel('Domain name').count()).toBe(0)
    await button('Add domain').click()
    await page.getByLabel('Domain name').fill(name)
    await button('OK').click()
    await told('Waiting for DNS')
    await told('Domain is not verified !')
    await told('Error !')
    await told('Update Fail !')
    await button('Verify').click()
    await told('Update Fail !')
    await settled(page)
    expect(await page.getByText('Error !').count()).toBe(1)
    await button('Add domain').click()
    await page.getByLabel('Domain name').fill('no domain')
    await button('OK').click()
    await page.getByText(/Enter a domain of your own/).waitFor()
    await button('Cancel').click()
    await page.getByText(`${server}.localhost`, { exact: true }).waitFor()
    await button(`Copy _portal-challenge.${name}`).waitFor()
    dns.records.set(`CNAME ${name}`, [`${server}.localhost`])
    await button('Verify').click()
    await told('Add domain success !')
    await told('Success !')
    await told('Verified')
    expect(await page.getByLabel('Domain name').count()).toBe(0)
    await button(`Remove ${name}`).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Remove', exact: true }).click()
    await told('Delete domain success !')
    await page.getByText(/No domain of your own yet/).waitFor()
  })

  test('grows its disk', async () => {
    await part('Disk')
    await button('Upgrade').click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('New size, GB').fill('10')
    expect(await dialog.getByRole('button', { name: 'Upgrade' }).isDisabled()).toBe(true)
    await dialog.getByLabel('New size, GB').fill('20')
    await dialog.getByText(/^about /).waitFor()
    expect(await dialog.getByRole('row').allTextContents()).toContainEqual(
      expect.stringMatching(/10 GB20 GB/),
    )
    await dialog.getByRole('button', { name: 'Upgrade' }).click()
    await told('Update Disk Success !')
    await page.getByRole('tabpanel').getByText('20 GB', { exact: true }).waitFor()
  })

  test('buys a bigger plan', async () => {
    await part('Configuration')
    await told('Current')
    await button('Buy BASIC-2').click()
    await page.getByRole('dialog').getByRole('button', { name: 'Buy' }).click()
    await told('Update Size Success !')
    await page
      .getByRole('row', { name: /BASIC-2/ })
      .getByText('Current')
      .waitFor()
  })

  test('plans a smaller plan for the renewal, and keeps its own after all', async () => {
    const present = page.getByRole('row', { name: /BASIC-2/ })
    expect(await button('Keep this plan').count()).toBe(0)
    await button('Buy BASIC-1').click()
    await page.getByRole('dialog').getByRole('button', { name: 'Buy' }).click()
    await told('From the renewal')
    const planned = () =>
      portal.call<{ size: number; planned: object | null }>('GET', `/api/wp/${id}`, {
        token: an.token,
      })
    expect((await planned()).body.result.planned).toMatchObject({ size: 1, replicate: 1 })
    await page.getByText('Update Size Success !').first().waitFor({ state: 'hidden' })
    await present.getByRole('button', { name: 'Keep this plan', exact: true }).click()
    await told('Update Size Success !')
    await button('Buy BASIC-1').waitFor()
    expect(await button('Keep this plan').count()).toBe(0)
    expect(
      await present
        .getByRole('rowheader')
        .evaluate((element) => element === document.activeElement),
    ).toBe(true)
    expect((await planned()).body.result).toMatchObject({ size: 2, planned: null })
  })

  test('writes the times of its log in the zone of who reads it', async () => {
    await part('Runtime Logs')
    const log = page.getByRole('log')
    const zoned = /^(\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d) \S+ /
    await expect.poll(() => log.innerText()).toMatch(zoned)
    const [, day, time] = zoned.exec(await log.innerText()) ?? []
    // Visitors in these tests are in Vietnam.
    const agoMs = Date.now() - Date.parse(`${day}T${time}+07:00`)
    expect(Math.abs(agoMs)).toBeLessThan(3_600_000)
    expect(await log.innerText()).not.toMatch(/\dT\d\d:\d\d:\d\d[.\d]*Z \S+-\d /)
  })

  test('restarts and goes on being there', async () => {
    await part('General info')
    // A member whose role receives no events sees the deletion as well.
    const binh = await portal.customer()
    const membership = await join(portal, an, binh, { role: 'technical' })
    const member = await visitAs(browser, {
      language: 'en',
      customer: { token: await work(portal, binh, membership) },
    })
    await member.context.addInitScript(() =>
      sessionStorage.setItem('view', JSON.stringify({ name: 'An', role: 'technical' })),
    )
    await openPage(member.page, `${portal.url}/wordpress/${id}`)
    await member.page.getByRole('button', { name: 'Restart' }).click()
    await member.page.getByRole('dialog').getByRole('button', { name: 'Restart' }).click()
    await member.page.getByText('Restart started.').waitFor()
    await eventually('the end of the restart', async () => {
      const { result } = (
        await portal.call<{ restarting: boolean }>('GET', `/api/wp/${id}`, { token: an.token })
      ).body
      return !result.restarting
    })
    for (const at of [page, member.page])
      await expect
        .poll(() => at.getByRole('button', { name: 'Restart', exact: true }).isEnabled())
        .toBe(true)
    await member.context.close()
  })

  test('is deleted by whoever types its name, and leaves its backups at its address', async () => {
    await part('Backups')
    await button('Back up now').click()
    await page.getByText('Verified', { exact: true }).first().waitFor({ timeout: 60_000 })
    await part('General info')
    await button('Delete server').click()
    const dialog = page.getByRole('dialog')
    await dialog
      .getByText('You can download its backups from this page for 7 days afterwards.')
      .waitFor()
    const confirm = dialog.getByRole('button', { name: 'Delete server' })
    await dialog.getByRole('textbox').fill('another')
    expect(await confirm.isDisabled()).toBe(true)
    await dialog.getByRole('textbox').fill(server)
    await confirm.click()
    await page.waitForURL(`${portal.url}/wordpress`)
    await told(`${server} is being deleted.`)
    await page.getByText(/You have no WordPress server yet/).waitFor({ timeout: 60_000 })
    await open(`/wordpress/${id}`)
    await told('This server was deleted')
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: /^Download/ }).click(),
    ])
    expect(download.suggestedFilename()).toMatch(/\.tar\.gz$/)
    expect(await page.getByRole('button', { name: /^Restore/ }).count()).toBe(0)
    expect(tab.complaints.filter((text) => !/\b(404|422)\b/.test(text))).toEqual([])
  })
})
