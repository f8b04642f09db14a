/**
 * Automatic top-up in a real browser: set by keyboard on the top-up page, charged, and switched off
 * again. With PICTURES=folder pictures are saved there.
 */
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { cardsOf } from '../card-holder.ts'
import { eventually, openTestPortal, type TestPortal } from '../portal.ts'
import { stripeBrowser, testCards } from '../stripe-browser.ts'
import { endVisits, judgeBothWidths, openBrowser, openPage, visitAs, type Look } from './browser.ts'

let portal: TestPortal
let browser: Browser
beforeAll(async () => {
  ;[portal, browser] = await Promise.all([openTestPortal(), openBrowser()])
})
afterAll(async () => {
  await endVisits(browser)
  await portal?.close()
})
const { link, balances } = cardsOf(
  () => portal,
  () => stripeBrowser(portal.sandboxUrl, portal.keysOf('stripe')['publishableKey'] ?? ''),
)

const cardOf = (page: Page, name: string) => page.getByRole('region', { name })

test('is set by keyboard, charges the card, and is switched off', async () => {
  const an = await portal.customer({ region: 'USD' })
  await link(an, testCards.visa)
  const { page, complaints } = await visitAs(browser, { language: 'en', customer: an })
  await openPage(page, `${portal.url}/payment`)
  const card = cardOf(page, 'Automatic top-up')
  await card.getByText('Off', { exact: true }).waitFor()
  await card.getByRole('button', { name: 'Set up' }).focus()
  await page.keyboard.press('Enter')
  const dialog = page.getByRole('dialog')
  const agree = dialog.getByRole('button', { name: 'Agree and switch on' })
  await dialog.getByLabel('When the balance is below').fill('15')
  await dialog.getByLabel('Top up by').fill('20')
  await dialog.getByLabel('At most in a calendar month').fill('10')
  // The server's rules are checked before the call; the first wrong field gets the focus.
  await agree.click()
  await dialog.getByText('Agree that the card is charged without asking').waitFor()
  await dialog.getByText('The limit of a month must be at least').waitFor()
  await page.waitForFunction(() => document.activeElement?.matches('[name=monthLimit]'))
  await judgeBothWidths(page, 'auto-top-up-form-en-light')
  await dialog.getByLabel('At most in a calendar month').fill('200')
  await page.keyboard.press('Enter')
  await page.waitForFunction(() => document.activeElement?.matches('[type=checkbox]'))
  await page.keyboard.press('Space')
  await page.keyboard.press('Enter')
  await dialog.waitFor({ state: 'hidden' })
  await card.getByText('On', { exact: true }).waitFor()
  await balances(an, 2000)
  // The pushed event of the receipt causes a refetch.
  await card.getByText('Succeeded').waitFor()
  await card.getByText('20.00 USD of 200.00 USD').waitFor()
  await judgeBothWidths(page, 'auto-top-up-on-en-light')

  await card.getByRole('button', { name: 'Switch off' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Switch off' }).click()
  await card.getByText('Off', { exact: true }).waitFor()
  await eventually('the wish is gone', async () => {
    const { rule } = await portal.app.topUps.autoTopUps.read(
      portal.app.db,
      await portal.app.topUps.orders.buyerOf(an.id),
    )
    return rule === null
  })
  expect(complaints).toEqual([])
})

const looks: readonly (Look & { name: string })[] = [
  { language: 'en', theme: 'dark', name: 'Automatic top-up' },
  { language: 'vi', theme: 'light', name: 'Tự động nạp ví' },
  { language: 'vi', theme: 'dark', name: 'Tự động nạp ví' },
]
test.each(looks)('a card that was declined, in $language and $theme', async (look) => {
  const an = await portal.customer({ region: 'USD' })
  const cardId = await link(an, testCards.linkedThenDeclined)
  const wish = { below: 1500, amount: 1000, monthLimit: 5000, cardId, consent: true }
  await portal.call('PUT', '/api/payments/auto-top-up', { token: an.token, body: wish })
  const { page, complaints } = await visitAs(browser, { ...look, customer: an })
  await openPage(page, `${portal.url}/payment`)
  const card = cardOf(page, look.name)
  await card
    .getByText(look.language === 'vi' ? 'Bị từ chối' : 'Declined', { exact: true })
    .waitFor()
  const at = `${look.language}-${look.theme}`
  await judgeBothWidths(page, `auto-top-up-declined-${at}`)
  await card.getByRole('button', { name: look.language === 'vi' ? 'Thay đổi' : 'Change' }).click()
  await page.getByRole('dialog').getByRole('checkbox').waitFor()
  await judgeBothWidths(page, `auto-top-up-form-${at}`)
  expect(complaints).toEqual([])
})

test('is not shown in Vietnam, where no cards are linked', async () => {
  const an = await portal.customer()
  const { page, complaints } = await visitAs(browser, { language: 'vi', customer: an })
  await openPage(page, `${portal.url}/payment`)
  await page.getByLabel('Mã voucher').waitFor()
  expect(await cardOf(page, 'Tự động nạp ví').count()).toBe(0)
  expect(complaints).toEqual([])
})
