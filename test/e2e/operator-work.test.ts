/**
 * The desk's pages about work in a real browser: an order that does not start, a letter, a webhook,
 * and every page in both languages, in both themes and on a phone. With PICTURES=folder pictures
 * are saved there.
 */
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { DriverFailure } from '../../server/platform/errors.ts'
import { eventually, openTestPortal, type TestPortal } from '../portal.ts'
import { newMember, type TestMember } from '../staff.ts'
import { endVisits, judgeBothWidths, type Look, openBrowser, openPage } from './browser.ts'
import { visitDesk } from './desk.ts'

let portal: TestPortal
let browser: Browser
let owner: TestMember
beforeAll(async () => {
  ;[portal, browser] = await Promise.all([
    openTestPortal({
      changeDrivers: (drivers) => ({
        ...drivers,
        wordpress: {
          ...drivers.wordpress,
          // Unless a test says otherwise, no server ever starts.
          install: () => new Promise(() => undefined),
          frontPage: () => Promise.reject(new DriverFailure('unavailable', 'no disk answers')),
        },
      }),
    }),
    openBrowser(),
  ])
  owner = await newMember(portal, 'owner')
  const an = await portal.customer()
  await portal.topUp(an, 1_000_000)
  const form = {
    size: 1,
    region: 1,
    disk: 10_240,
    mariadb_disk_size: 10_240,
    user: 'an',
    password: 'Mat-khau-9!',
    replicate: 1,
  }
  await portal.call('POST', '/api/wp', { token: an.token, body: form })
  const binh = await portal.customer()
  await portal.call('POST', '/api/wp', { token: binh.token, body: form })
  await portal.call('POST', '/api/dns', { token: binh.token, body: { name: 'cho-o-day.vn' } })
  await portal.call('GET', '/api/webhooks/vnpay?vnp_TxnRef=NOBODY&vnp_SecureHash=abc')
  await eventually('the order is paid', async () => {
    const list = await owner.call<unknown[]>('GET', '/api/operator/servers?state=setting_up')
    return list.body.result.length > 0
  })
})
afterAll(async () => {
  await endVisits(browser)
  await portal?.close()
})

const deskOf = (member: TestMember, look: Look = {}) => visitDesk(browser, portal, member, look)

test('an order that does not come up is found and given up', async () => {
  const { page, complaints } = await deskOf(owner)
  await openPage(page, `${portal.url}/operator`)
  const nav = page.getByRole('navigation', { name: 'Desk' })
  await nav.getByRole('link', { name: 'Work' }).click()
  await page.getByRole('link', { name: 'Orders and servers' }).click()
  await page.getByRole('button', { name: 'Give up order' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Text for the customer').fill('The data centre has no disks left')
  await dialog.getByLabel('Reason').fill('Ticket 4711')
  await judgeBothWidths(page, 'give-up-en-light')
  await dialog.getByRole('button', { name: 'Give up order' }).click()
  await dialog.waitFor({ state: 'detached' })
  await page.getByLabel('State').selectOption('failed')
  await page.getByText('The data centre has no disks left').waitFor({ timeout: 40_000 })
  await judgeBothWidths(page, 'servers-failed-en-light')
  await page.getByLabel('State').selectOption('unpaid')
  await page.getByText('lapses').waitFor()
  await judgeBothWidths(page, 'servers-unpaid-en-light')
  expect(complaints).toEqual([])
})

test('a letter is sent again, and a forged webhook is read', async () => {
  const { page, complaints } = await deskOf(owner)
  await openPage(page, `${portal.url}/operator/letters`)
  await page.getByText('Sent', { exact: true }).click()
  await page.getByRole('button', { name: 'Send again' }).first().click()
  const dialog = page.getByRole('dialog')
  await judgeBothWidths(page, 'letter-again-en-light')
  await dialog.getByRole('button', { name: 'Send again' }).click()
  await dialog.waitFor({ state: 'detached' })
  await page.getByText('Sent again').first().waitFor({ timeout: 40_000 })
  await judgeBothWidths(page, 'letters-sent-en-light')
  await openPage(page, `${portal.url}/operator/webhooks`)
  await page.getByText('Signature wrong').waitFor()
  await judgeBothWidths(page, 'webhooks-forged-en-light')
  await page.getByRole('link', { name: /VNPay · / }).click()
  await page.getByText('NOBODY', { exact: true }).waitFor()
  await judgeBothWidths(page, 'webhook-en-light')
  expect(complaints).toEqual([])
})

test('in Vietnamese and dark every page is whole, in English and light too', async () => {
  await portal.app.db
    .updateTable('node')
    .set({ regions: [1, 2] })
    .where('id', '=', 'main')
    .execute()
  for (const look of [
    { language: 'vi', theme: 'dark' },
    { language: 'en', theme: 'light' },
  ] as const) {
    const { page, complaints } = await deskOf(owner, look)
    for (const name of ['work', 'servers', 'letters', 'upkeep', 'capacity', 'webhooks']) {
      await openPage(page, `${portal.url}/operator/${name}`)
      // It is not called "sold out", because nothing was ever for sale there.
      if (name === 'capacity')
        await page
          .getByText(look.language === 'vi' ? 'Chưa có node nào phục vụ' : 'No node serves it')
          .first()
          .waitFor()
      await judgeBothWidths(page, `${name}-${look.language}-${look.theme}`)
    }
    const all = look.language === 'vi' ? 'Tất cả' : 'All'
    await page.getByText(all, { exact: true }).click()
    await page.getByText(look.language === 'vi' ? 'Đã ghi sổ' : 'Posted', { exact: true }).waitFor()
    await page.getByRole('link', { name: /VNPay · 1$/ }).click()
    await page.getByText('vnp_TxnRef', { exact: true }).waitFor()
    await judgeBothWidths(page, `webhook-posted-${look.language}-${look.theme}`)
    expect(complaints).toEqual([])
  }
})
