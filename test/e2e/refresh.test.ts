/** What an open screen refetches by itself, and what it does not. */
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { eventually, openTestPortal, type TestCustomer, type TestPortal } from '../portal.ts'
import { endVisits, openBrowser, visitAs, type Visit } from './browser.ts'

let portal: TestPortal
let browser: Browser
let an: TestCustomer

beforeAll(async () => {
  ;[portal, browser] = await Promise.all([openTestPortal(), openBrowser()])
  an = await portal.customer()
})
afterAll(async () => {
  await endVisits(browser)
  await portal?.close()
})

const signedIn = (customer = an): Promise<Visit> => visitAs(browser, { language: 'en', customer })

/** Creates a domain that the registry does not know yet. */
async function created(name: string): Promise<{ id: string; delegate: () => Promise<unknown> }> {
  const { body } = await portal.call<{ id: string; nameserver: string[] }>('POST', '/api/dns', {
    token: an.token,
    body: { name },
  })
  const { id, nameserver } = body.result
  const delegate = () =>
    fetch(`${portal.sandboxUrl}/registry.json`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ name, nameservers: nameserver }),
    })
  return { id, delegate }
}
/** Creates a domain that the registry delegates here; its customer gets an event about it. */
async function domain(name: string): Promise<string> {
  const { id, delegate } = await created(name)
  await delegate()
  const { status } = await portal.call('GET', `/api/dns/check?domain=${name}`, { token: an.token })
  expect(status).toBe(200)
  return id
}

test('what is typed over a record stays when another tab changes it; saving says so', async () => {
  const id = await domain('vuon-rau.com.vn')
  const path = `/api/dns/${id}/records`
  const body = { name: 'www', type: 'A', content: '203.0.113.1', ttl: 300 }
  const { result } = (await portal.call<{ id: string }>('POST', path, { token: an.token, body }))
    .body
  const { page, context } = await signedIn()
  let reads = 0
  page.on('request', (request) => {
    if (request.method() === 'GET' && request.url().endsWith(`${path}/${result.id}`)) reads += 1
  })
  await page.goto(`${portal.url}/dns/domain/${id}/record/${result.id}`)
  await page.getByLabel('IPV4', { exact: true }).fill('203.0.113.2')
  await eventually(
    'the channel',
    async () =>
      (await portal.app.db.selectFrom('channel_grant').select('socket_id').execute()).length > 0,
  )

  await portal.call('PUT', `${path}/${result.id}`, {
    token: an.token,
    body: { ...body, content: '203.0.113.3' },
  })
  // Everything that the event concerns is refetched, at the same time.
  await Promise.all([
    page.waitForResponse(`${portal.url}/api/dns/${id}`),
    domain('vuon-hoa.com.vn'),
  ])
  expect(reads).toBe(1)
  expect(await page.getByLabel('IPV4', { exact: true }).inputValue()).toBe('203.0.113.2')
  await page.getByRole('button', { name: 'Confirm and save the record' }).click()
  await page.getByText('This record was changed in the meantime.').first().waitFor()
  await page.getByRole('button', { name: 'Load the current version' }).click()
  await expect.poll(() => page.getByLabel('IPV4', { exact: true }).inputValue()).toBe('203.0.113.3')
  await context.close()
})

test('a domain that is activated on its own page stays there, with the filter', async () => {
  const { id, delegate } = await created('trang-rieng.com.vn')
  const { page, context } = await signedIn()
  await page.goto(`${portal.url}/dns/domain/${id}?record=MX`)
  await page.getByRole('button', { name: 'Activate' }).first().click()
  const dialog = page.getByRole('dialog')
  await delegate()
  await dialog.getByRole('button', { name: 'Check' }).click()
  await page.getByText('Add domain success !').first().waitFor()
  await dialog.waitFor({ state: 'detached' })
  await page.getByRole('main').getByText('Activated', { exact: true }).first().waitFor()
  expect(new URL(page.url()).search).toBe('?record=MX')
  await context.close()
})

const list = '**/api/notifications?limit=100*'
const authorisation = '**/api/v1/auth/pusher'
const gate = () => Promise.withResolvers<void>()
/** Tops up, and waits until the event is in the list that a screen may read. */
async function toppedUp(customer: TestCustomer, amount: number): Promise<void> {
  const events = async () => {
    const { token } = customer
    return (
      await portal.call<{ data: { event: string }[] }>('GET', '/api/notifications', { token })
    ).body.result.data.length
  }
  const before = await events()
  await portal.topUp(customer, amount)
  await eventually('the event', async () => (await events()) > before)
}
const balance = (page: Page, text: RegExp) =>
  page.getByRole('main').getByText(text).first().waitFor()

test("what happened between a screen's reads and its channel's start is shown", async () => {
  const binh = await portal.customer()
  const { page, context } = await signedIn(binh)
  const slow = gate()
  for (const call of [list, authorisation])
    await page.route(call, async (route) => {
      await slow.promise
      await route.continue()
    })
  await Promise.all([page.waitForRequest(list), page.goto(`${portal.url}/`)])
  await balance(page, /^0\sđ$/)
  await toppedUp(binh, 50_000)
  slow.resolve()
  await balance(page, /^50\.000\sđ$/)
  expect(await page.getByText('Success !').count()).toBe(0)
  await context.close()
})

test('where the channel is back during a list, it is read again: it may be older', async () => {
  const chi = await portal.customer()
  const { page, context } = await signedIn(chi)
  const lines: { cut: () => Promise<void> }[] = []
  let subscriptions = 0
  await page.routeWebSocket(/\/app\//, (near) => {
    const far = near.connectToServer()
    far.onMessage((message) => {
      near.send(message)
      if (String(message).includes('subscription_succeeded')) subscriptions += 1
    })
    // The close code tells the client to reconnect at once.
    lines.push({
      cut: async () => void (await Promise.all([near.close({ code: 4200 }), far.close()])),
    })
  })
  await page.goto(`${portal.url}/`)
  await balance(page, /^0\sđ$/)
  await expect.poll(() => subscriptions).toBe(1)

  const [answered, arrives, authorised] = [gate(), gate(), gate()]
  await page.route(
    list,
    async (route) => {
      const response = await route.fetch()
      answered.resolve()
      await arrives.promise
      await route.fulfill({ response })
    },
    { times: 1 },
  )
  await lines.at(-1)?.cut()
  await answered.promise
  await page.route(authorisation, async (route) => {
    await authorised.promise
    await route.continue()
  })
  await Promise.all([page.waitForRequest(authorisation), lines.at(-1)?.cut()])
  await toppedUp(chi, 50_000)
  const before = subscriptions
  authorised.resolve()
  await expect.poll(() => subscriptions).toBe(before + 1)
  arrives.resolve()
  await balance(page, /^50\.000\sđ$/)
  await context.close()
})

test.each([
  ['/payment/transfer/NOBODYS1', 'Choose another way', '/api/payments/transfer?'],
  ['/api/payments/success?transId=NOBODYS1', 'Back to overview', '/api/payments/get-transaction?'],
])(
  '%s is not asked for again and again once it is known not to be there',
  async (address, way, path) => {
    const { page, context } = await signedIn()
    const asked: string[] = []
    page.on('request', (request) => {
      if (request.url().includes(path)) asked.push(request.url())
    })
    // Opening the channel also causes a refetch.
    await page.route(list, (route) => route.abort())
    await page.clock.install()
    await page.goto(`${portal.url}${address}`)
    await page.getByRole('link', { name: way }).waitFor()
    const before = asked.length
    expect(before).toBeGreaterThan(0)
    await page.clock.runFor(60_000)
    expect(asked).toHaveLength(before)
    await context.close()
  },
)
