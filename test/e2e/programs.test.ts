/**
 * A customer's programs in a real browser: a token is made, used and revoked; a webhook is
 * delivered, fails, and is sent again. With PICTURES=folder pictures are saved there.
 */
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { orderServer } from '../ordered-servers.ts'
import { openTestPortal, type TestCustomer, type TestPortal } from '../portal.ts'
import { answersWith, openReceiver, type TestReceiver } from '../webhook-receiver.ts'
import { endVisits, judgeBothWidths, openBrowser, openPage, settled, visitAs } from './browser.ts'

let portal: TestPortal
let browser: Browser
let receiver: TestReceiver
beforeAll(async () => {
  ;[portal, browser, receiver] = await Promise.all([
    openTestPortal({
      mayFetch: (address) => address === '127.0.0.1',
      timing: { webhookSeconds: [0] },
    }),
    openBrowser(),
    openReceiver(),
  ])
})
afterAll(async () => {
  await endVisits(browser)
  await receiver?.close()
  await portal?.close()
})

const card = (page: Page, name: string) => page.getByRole('region', { name, exact: true })
const status = async (token: string, address: string): Promise<number> =>
  (await portal.call('GET', address, { token })).status

test('a token is made for one server, opens that one alone, and is revoked', async () => {
  const an = await portal.customer()
  await portal.topUp(an, 900_000)
  const [mine, other] = [await orderServer(portal, an), await orderServer(portal, an)]
  const { page, complaints } = await visitAs(browser, { language: 'en', customer: an })
  await openPage(page, `${portal.url}/account`)
  await page.getByRole('link', { name: 'Open: API and webhooks' }).click()
  const tokens = card(page, 'Tokens')
  await tokens.getByText('No token yet.').waitFor()
  await settled(page)
  await judgeBothWidths(page, 'programs-empty')
  await tokens.getByRole('button', { name: 'New token' }).click()
  await tokens.getByLabel('Name').fill('backup script')
  await tokens.getByLabel('Servers', { exact: true }).selectOption('Read and change')
  await tokens.getByLabel('Only some servers').check()
  await tokens.getByLabel(mine.name).check()
  await tokens.getByLabel('Network addresses').fill('127.0.0.0/8, ::1')
  await settled(page)
  await judgeBothWidths(page, 'token-form')
  // A wrong password first.
  await tokens.getByLabel('Current password', { exact: true }).fill('not this one')
  await tokens.getByRole('button', { name: 'Make the token' }).click()
  await tokens.locator('[aria-invalid=true]').waitFor()
  await tokens.getByLabel('Current password', { exact: true }).fill(an.password)
  await tokens.getByRole('button', { name: 'Make the token' }).click()
  const dialog = page.getByRole('dialog', { name: 'Keep this token' })
  await dialog.waitFor()
  const token = await dialog.locator('code').innerText()
  expect(token).toMatch(/^cpt_[0-9A-Za-z]{50}$/)
  await dialog.getByRole('button', { name: 'I have kept it' }).click()
  await tokens.getByText('Servers: Read and change').waitFor()
  expect(await page.content()).not.toContain(token)

  expect(await status(token, `/api/wp/${mine.id}`)).toBe(200)
  expect(await status(token, `/api/wp/${other.id}`)).toBe(403)
  expect(await status(token, '/api/v1/account')).toBe(403)
  await page.reload()
  await settled(page)
  await tokens.getByText('from 127.0.0.1').waitFor()
  await judgeBothWidths(page, 'tokens')
  await tokens.getByRole('button', { name: 'Revoke: backup script' }).click()
  await page
    .getByRole('dialog', { name: 'Revoke this token?' })
    .getByRole('button', { name: 'Revoke' })
    .click()
  await tokens.getByText('No token yet.').waitFor()
  expect(await status(token, `/api/wp/${mine.id}`)).toBe(401)
  // The browser logs the refusal of the wrong password.
  expect(complaints.filter((one) => !one.includes('422'))).toEqual([])
})

const withWebhook = async (an: TestCustomer, events: readonly string[]): Promise<string> => {
  const made = await portal.call<{ webhook: { id: string } }>('POST', '/api/v1/account/webhooks', {
    token: an.token,
    body: { url: receiver.url, events },
  })
  expect(made.status, made.text).toBe(201)
  return made.body.result.webhook.id
}

test('a webhook is added, delivered, fails, is sent again, and gets a new secret', async () => {
  const an = await portal.customer()
  receiver.answer = answersWith(503, 'in maintenance')
  const { page, complaints } = await visitAs(browser, { language: 'en', customer: an })
  await openPage(page, `${portal.url}/account/programs`)
  const hooks = card(page, 'Webhooks')
  await hooks.getByRole('button', { name: 'New webhook' }).click()
  await hooks.getByLabel('Address').fill('https://192.168.1.1/hook')
  await hooks.getByLabel('Topped up').check()
  await hooks.getByRole('button', { name: 'Add the address' }).click()
  await hooks.getByText('Write a public address').waitFor()
  await judgeBothWidths(page, 'webhook-form')
  await hooks.getByLabel('Address').fill(receiver.url)
  await hooks.getByRole('button', { name: 'Add the address' }).click()
  const secret = page.getByRole('dialog', { name: 'Keep this secret' })
  expect(await secret.locator('code').innerText()).toMatch(/^whsec_/)
  await secret.getByRole('button', { name: 'I have kept it' }).click()
  await hooks.getByRole('link', { name: `Deliveries: ${receiver.url}` }).click()

  const deliveries = card(page, 'Deliveries')
  await deliveries.getByText('Nothing was sent yet.').waitFor()
  await portal.topUp(an, 250_000)
  await page.reload()
  await deliveries.getByText('Topped up').waitFor()
  await deliveries.getByText('Failed', { exact: true }).waitFor()
  await deliveries.getByRole('button', { name: 'Details: Topped up' }).click()
  await deliveries.getByText('in maintenance').waitFor()
  await deliveries.getByText('"type":"wallet.credited"').waitFor()
  await settled(page)
  await judgeBothWidths(page, 'delivery-failed')
  receiver.answer = answersWith(200, 'thank you')
  await deliveries.getByRole('button', { name: 'Send again: Topped up' }).click()
  await deliveries.getByText('Delivered', { exact: true }).waitFor()
  await deliveries.getByText('thank you').waitFor()
  const ids = receiver.calls.map(({ headers }) => headers['webhook-id'])
  expect(new Set(ids).size).toBe(1)
  expect(ids.length).toBe(3)

  await deliveries.getByRole('button', { name: 'Send a test' }).click()
  await deliveries.getByText('Test', { exact: true }).waitFor()
  const settings = card(page, 'Settings')
  await settings.getByRole('button', { name: 'New secret' }).click()
  await page
    .getByRole('dialog', { name: 'Make a new secret?' })
    .getByRole('button', { name: 'New secret' })
    .click()
  await secret.getByRole('button', { name: 'I have kept it' }).click()
  await settings.getByText('The earlier secret signs as well').waitFor()
  await settings.getByRole('button', { name: 'Switch off' }).click()
  await page
    .getByRole('dialog', { name: 'Switch this webhook off?' })
    .getByRole('button', { name: 'Switch off' })
    .click()
  await settings.getByText('You switched it off.').waitFor()
  await settled(page)
  await judgeBothWidths(page, 'webhook-off')
  await settings.getByRole('button', { name: 'Switch on' }).click()
  await settings.getByRole('button', { name: 'Switch off' }).waitFor()
  await settings.getByRole('button', { name: 'Delete' }).click()
  await page
    .getByRole('dialog', { name: 'Delete this webhook?' })
    .getByRole('button', { name: 'Delete' })
    .click()
  await hooks.getByText('No address yet.').waitFor()
  // A page that was left requests nothing more; the private address was refused.
  expect(complaints.filter((one) => !one.includes('422'))).toEqual([])
})

const words = {
  vi: {
    tokens: 'Token',
    right: 'Máy chủ: Đọc và thay đổi',
    make: 'Tạo token',
    servers: 'Máy chủ',
    deliveries: 'Lịch sử gửi',
    delivered: 'Đã gửi',
  },
  en: {
    tokens: 'Tokens',
    right: 'Servers: Read and change',
    make: 'New token',
    servers: 'Servers',
    deliveries: 'Deliveries',
    delivered: 'Delivered',
  },
} as const

test('both pages in both languages and themes, wide and narrow', async () => {
  const an = await portal.customer()
  const made = await portal.call('POST', '/api/v1/account/tokens', {
    token: an.token,
    body: {
      name: 'Lệnh sao lưu hằng đêm của toà soạn',
      scopes: ['servers:write', 'domains:read', 'invoices:read', 'wallet:read'],
      networks: ['203.0.113.0/24', '2001:db8::/32'],
      password: an.password,
    },
  })
  expect(made.status, made.text).toBe(201)
  receiver.answer = answersWith(200)
  const id = await withWebhook(an, ['wallet.credited', 'dns.status'])
  await portal.call('POST', `/api/v1/account/webhooks/${id}/test`, { token: an.token })
  for (const language of ['vi', 'en'] as const) {
    await portal.call('PUT', '/api/v1/account', { token: an.token, body: { language } })
    for (const theme of ['light', 'dark'] as const) {
      const look = `${language}-${theme}`
      const { page, context, complaints } = await visitAs(browser, {
        language,
        theme,
        customer: an,
      })
      const text = words[language]
      await openPage(page, `${portal.url}/account/programs`)
      const tokens = card(page, text.tokens)
      await tokens.getByText(text.right).waitFor()
      await judgeBothWidths(page, `programs-${look}`)
      await tokens.getByRole('button', { name: text.make }).click()
      await tokens.getByLabel(text.servers, { exact: true }).selectOption('write')
      await settled(page)
      await judgeBothWidths(page, `token-form-${look}`)
      await openPage(page, `${portal.url}/account/webhooks/${id}`)
      await card(page, text.deliveries).getByText(text.delivered).waitFor()
      await judgeBothWidths(page, `webhook-${look}`)
      expect(complaints, look).toEqual([])
      await context.close()
    }
  }
})
