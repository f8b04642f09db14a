/**
 * A customer leaves: downloads all stored data, reads what must be resolved first, and closes the
 * account. With PICTURES=folder pictures are saved there.
 */
import { readFileSync } from 'node:fs'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openTestPortal, type TestPortal } from '../portal.ts'
import { endVisits, judgeBothWidths, openBrowser, openPage, visitAs, wide } from './browser.ts'

let portal: TestPortal
let browser: Browser
beforeAll(async () => {
  ;[portal, browser] = await Promise.all([openTestPortal(), openBrowser()])
})
afterAll(async () => {
  await endVisits(browser)
  await portal?.close()
})

test.each([
  ['en', 'light'],
  ['vi', 'dark'],
] as const)('data is downloaded and the account closed (%s, %s)', async (language, theme) => {
  const words = {
    en: {
      get: 'Download',
      begin: 'Close…',
      title: 'Close your account?',
      wallet: 'ask us to give back what is in your wallet',
      cancel: 'Cancel',
      password: 'Current password',
      close: 'Close for good',
      signIn: 'Sign in',
    },
    vi: {
      get: 'Tải xuống',
      begin: 'Đóng…',
      title: 'Đóng tài khoản của bạn?',
      wallet: 'yêu cầu chúng tôi hoàn lại tiền trong ví',
      cancel: 'Huỷ',
      password: 'Mật khẩu hiện tại',
      close: 'Đóng vĩnh viễn',
      signIn: 'Đăng nhập',
    },
  }[language]
  const an = await portal.customer()
  await portal.topUp(an, 250_000)
  const { page, complaints } = await visitAs(browser, {
    customer: an,
    language,
    theme,
    viewport: wide,
  })
  await openPage(page, `${portal.url}/account`)
  const [file] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: words.get }).click(),
  ])
  const data = JSON.parse(readFileSync(await file.path(), 'utf8')) as { customer: object[] }
  expect(data.customer).toMatchObject([{ email: an.email }])

  await page.getByRole('button', { name: words.begin }).click()
  const dialog = page.getByRole('dialog', { name: words.title })
  await dialog.getByRole('link', { name: words.wallet }).waitFor()
  expect(await dialog.getByRole('button', { name: words.close }).count()).toBe(0)
  await judgeBothWidths(page, `close-first-${language}-${theme}`)
  await dialog.getByRole('button', { name: words.cancel, exact: true }).click()

  // Empties the wallet.
  await portal.app.db.transaction().execute(async (tx) => {
    await portal.app.ledger.adjust(tx, {
      key: `adjustment:${an.id}`,
      customerId: an.id,
      amount: -250_000n,
      currency: 'VND',
      details: { reason: 'given back' },
    })
  })
  await page.getByRole('button', { name: words.begin }).click()
  await dialog.getByLabel(words.password).fill(an.password)
  await judgeBothWidths(page, `close-${language}-${theme}`)
  // After the press, everything that the page still requests is answered with 401.
  expect(complaints).toEqual([])
  await dialog.getByRole('button', { name: words.close }).click()
  await page.getByRole('button', { name: words.signIn, exact: true }).waitFor()
  const { email, password } = an
  const login = await portal.call('POST', '/api/v1/auth/login', { body: { email, password } })
  expect(login.status).toBe(401)
})
