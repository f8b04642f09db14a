/**
 * A domain in a real browser, from its creation to its last record; the name server is queried as
 * `dig` does.
 */
import type { Browser, Locator, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { dig } from '../dig.ts'
import { orderServer } from '../ordered-servers.ts'
import { eventually, openTestPortal, type TestCustomer, type TestPortal } from '../portal.ts'
import {
  endVisits,
  openBrowser,
  openPage,
  phone,
  settled,
  sideways,
  violations,
  visitAs,
  type Visit,
} from './browser.ts'

const name = 'tiem-hoa.com.vn'
let portal: TestPortal
let browser: Browser
let an: TestCustomer
let tab: Visit
let page: Page

beforeAll(async () => {
  ;[portal, browser] = await Promise.all([openTestPortal(), openBrowser()])
  an = await portal.customer()
  tab = await visitAs(browser, { language: 'en', customer: an })
  page = tab.page
})
afterAll(async () => {
  await endVisits(browser)
  await portal?.close()
})

const button = (label: string | RegExp) => page.getByRole('button', { name: label, exact: true })
const told = (text: string | RegExp) => page.getByText(text).first().waitFor()
const open = (path: string): Promise<void> => openPage(page, `${portal.url}${path}`)
const wrong = async (at: Page = page): Promise<string[]> => {
  return [...(await violations(at)), ...((await sideways(at)) > 0 ? ['scrolls sideways'] : [])]
}
const answers = async (type: string, of = name): Promise<readonly string[]> => {
  const { answer } = await dig(portal.config.DNS_PORT, { name: of, type })
  return answer
}
/** Expects the focus on this element. */
const focusOn = async (of: Locator): Promise<void> =>
  await expect.poll(() => of.evaluate((element) => element === document.activeElement)).toBe(true)
const rowOf = (text: string) => page.getByRole('row').filter({ hasText: text })

describe('a domain', { timeout: 60_000 }, () => {
  test('is created from whatever was typed; an empty name asks for nothing', async () => {
    await open('/dns')
    expect(await wrong()).toEqual([])
    await button('Create domain').first().click()
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('button', { name: 'Cancel' }).click()
    await focusOn(button('Create domain').first())
    await page.keyboard.press('Enter')
    await focusOn(dialog.getByLabel('Domain'))
    await dialog.getByRole('button', { name: 'Confirm' }).click()
    // The user types right after opening it.
    await dialog.getByLabel('Domain').focus()
    await page.keyboard.type('com.vn')
    await page.keyboard.press('Enter')
    await told('This is a public suffix.')
    await dialog.getByLabel('Domain').fill(`https://${name}/shop?x=1`)
    await dialog.getByRole('button', { name: 'Confirm' }).click()
    await told(`${name} added.`)
    await focusOn(button('Create domain').first())
    await button(`Activate ${name}`).click()
    await page.getByRole('heading', { name: `Activate ${name}` }).waitFor()
  })

  test('not delegated is told what to change; delegated, it opens its records', async () => {
    await button('Check').click()
    await told('The domain name is not pointing correctly')
    await told(`${name} is not registered.`)
    expect(await wrong()).toEqual([])
    const nameservers = await page.getByRole('dialog').locator('li code').allTextContents()
    expect(nameservers).toHaveLength(2)
    await fetch(`${portal.sandboxUrl}/registry.json`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ name, nameservers }),
    })
    await button('Check').click()
    await told('Add domain success !')
    await page.waitForURL(/\/dns\/domain\/[^/]+$/)
    await focusOn(page.getByRole('heading', { name }))
    await page.getByRole('main').getByText('Activated', { exact: true }).first().waitFor()
    await told('Record Empty !')
  })

  test('takes records of all six types, each as the form says it first', async () => {
    await page.getByRole('link', { name: 'Add record' }).first().click()
    await page.getByRole('heading', { name: 'Add DNS record' }).waitFor()
    await expect.poll(() => page.getByText('___').count()).toBe(2)
    expect(await wrong()).toEqual([])
    await button('Confirm and save the record').click()
    await told('Please input info record !')
    await focusOn(page.getByRole('textbox', { name: 'Name' }))
    await page.getByText('Please fill this in.').first().waitFor()
    const records = [
      ['@', 'A', 'IPV4', '203.0.113.24'],
      ['@', 'AAAA', 'IPV6', '2001:DB8:0::24'],
      ['@', 'TXT', 'Content', 'v=spf1 include:_spf.example.org ~all; "quoted" ờ'],
      ['@', 'MX', 'Mail Server', 'mail.example.org'],
      ['lab', 'NS', 'Name Server', 'ns1.example.org'],
      ['www', 'CNAME', 'Target', name],
    ] as const
    for (const [index, [host, type, label, content]] of records.entries()) {
      if (index > 0) await page.getByRole('link', { name: 'Add record' }).first().click()
      await page.getByLabel('Name', { exact: true }).fill(host)
      await page.getByLabel('Type').selectOption(type)
      await page.getByLabel(label, { exact: true }).fill('')
      await page.getByLabel(label, { exact: true }).fill(content)
      await button('Confirm and save the record').click()
      await page.waitForURL(/\/dns\/domain\/[^/]+$/)
      await rowOf(type === 'AAAA' ? '2001:db8::24' : content)
        .first()
        .waitFor()
    }
    await expect.poll(() => answers('A')).toEqual([`${name} 300 A 203.0.113.24`])
    await expect.poll(() => answers('AAAA')).toEqual([`${name} 300 AAAA 2001:db8::24`])
    await expect
      .poll(() => answers('TXT'))
      .toEqual([`${name} 300 TXT v=spf1 include:_spf.example.org ~all; "quoted" ờ`])
    await expect.poll(() => answers('MX')).toEqual([`${name} 300 MX 10 mail.example.org`])
    await expect
      .poll(async () => (await answers('A', `www.${name}`))[0])
      .toBe(`www.${name} 300 CNAME ${name}`)
    expect(await wrong()).toEqual([])
  })

  test('says what is wrong with a record in the field, and writes nothing', async () => {
    await page.getByRole('link', { name: 'Add record' }).first().click()
    await page.getByLabel('Name', { exact: true }).fill('@')
    await page.getByLabel('IPV4', { exact: true }).fill('203.0.113.256')
    await page.getByLabel('TTL').fill('29')
    await button('Confirm and save the record').click()
    await told('Enter an IPv4 address, such as 203.0.113.7.')
    await told('The TTL is a whole number of seconds from 30 to 86400.')
    // Errors that only the server can find are shown in the same place.
    await page.getByLabel('IPV4', { exact: true }).fill('203.0.113.24')
    await page.getByLabel('TTL').fill('300')
    await button('Confirm and save the record').click()
    await told('This record exists already.')
    await told('Fail to add record to domain !')
    await page.getByRole('link', { name: 'Cancel' }).click()
  })

  test('is edited, and two tabs lose nothing', async () => {
    await button(`Actions for A ${name}`).click()
    await page.getByRole('menuitem', { name: 'Edit' }).click()
    await page.getByRole('heading', { name: 'Edit DNS record' }).waitFor()
    await page.getByLabel('Priority').waitFor()
    await page.getByLabel('IPV4', { exact: true }).fill('203.0.113.25')
    const other = await tab.context.newPage()
    await other.goto(page.url())
    await other.getByLabel('IPV4', { exact: true }).fill('203.0.113.26')
    await button('Confirm and save the record').click()
    await rowOf('203.0.113.25').waitFor()
    await other.getByRole('button', { name: 'Confirm and save the record' }).click()
    await other.getByText('This record was changed in the meantime.').first().waitFor()
    await other.getByRole('button', { name: 'Load the current version' }).click()
    await expect
      .poll(() => other.getByLabel('IPV4', { exact: true }).inputValue())
      .toBe('203.0.113.25')
    await other.close()
    await expect.poll(() => answers('A')).toEqual([`${name} 300 A 203.0.113.25`])
  })

  test('asks before records are deleted, many at once, and gives them back', async () => {
    await page.getByRole('radio', { name: /^TXT/ }).click({ force: true })
    await page.waitForURL(/record=TXT/)
    await expect.poll(() => page.getByRole('row').count()).toBe(2)
    await page.getByRole('radio', { name: /^All/ }).click({ force: true })
    for (const label of [`Select A ${name}`, `Select MX ${name}`])
      await page.getByRole('checkbox', { name: label }).check()
    await told('2 records selected')
    await button('Delete').click()
    await page.getByRole('heading', { name: 'Delete 2 records?' }).waitFor()
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
    await told('2 records deleted.')
    await eventually(
      'the name server has forgotten them',
      async () => (await answers('MX')).length === 0,
    )
    await button('Undo').click()
    await told('Change undone.')
    await rowOf('mail.example.org').waitFor()
    await expect.poll(() => answers('A')).toEqual([`${name} 300 A 203.0.113.25`])
  })

  test('takes a zone file after it was shown what changes, and keeps its history', async () => {
    await button('More').last().click()
    await page.getByRole('menuitem', { name: 'Import records from a file' }).click()
    const dialog = page.getByRole('dialog')
    // The user types right after opening it; its own button is reached and pressed by keyboard.
    await focusOn(dialog.getByLabel('Zone file'))
    // Asked for early, because the browser has to know of it before the key is pressed.
    const chooser = page.waitForEvent('filechooser')
    await page.keyboard.press('Tab')
    await focusOn(dialog.getByRole('button', { name: 'Choose a file' }))
    await page.keyboard.press('Enter')
    const file = { name: 'bind.zone', mimeType: 'text/plain', buffer: Buffer.from('www A ::') }
    await (await chooser).setFiles(file)
    await dialog.getByRole('status').filter({ hasText: 'bind.zone' }).waitFor()
    expect(await dialog.getByLabel('Zone file').inputValue()).toBe('www A ::')
    expect(await dialog.locator('input[type=file]').isVisible()).toBe(false)
    await dialog.getByLabel('Zone file').fill('api 600 IN A 203.0.113.60\nbad line')
    await dialog.getByRole('button', { name: 'Preview' }).click()
    await told(/^Line 2:/)
    await dialog
      .getByLabel('Zone file')
      .fill('$TTL 1h\napi IN A 203.0.113.60\n@ MX 5 mail2.example.org.')
    await dialog.getByRole('button', { name: 'Preview' }).click()
    await dialog.getByText('api A 203.0.113.60').waitFor()
    await expect.poll(() => answers('A', `api.${name}`)).toEqual([])
    expect(await wrong()).toEqual([])
    await page.keyboard.press('Escape')
    await dialog.getByRole('button', { name: 'Keep editing' }).click()
    await dialog.getByRole('button', { name: /^Apply/ }).click()
    await told('Records imported.')
    await expect
      .poll(() => answers('A', `api.${name}`))
      .toEqual([`api.${name} 3600 A 203.0.113.60`])
    await button('More').last().click()
    await page.getByRole('menuitem', { name: 'History' }).click()
    await page.getByRole('dialog').getByText('Imported', { exact: true }).waitFor()
    expect(await wrong()).toEqual([])
    await page.getByRole('dialog').getByRole('button', { name: 'Close' }).last().click()
    await focusOn(button('More').last())
  })

  test('asks after a change for it alone, of two thousand, and follows another tab', async () => {
    const domain = new URL(page.url()).pathname.split('/').at(-1)
    const send = (method: string, path: string, body: object) =>
      portal.call(method, `/api/dns/${domain}${path}`, { token: an.token, body })
    const file = Array.from(
      { length: 2000 },
      (_, n) => `big${n} 300 IN A 10.1.${n >> 8}.${n & 255}`,
    ).join('\n')
    expect((await send('POST', '/zone', { content: file })).status).toBe(200)
    await page.reload()
    await page
      .getByRole('status')
      .filter({ hasText: /^20\d\d \/ 20\d\d records$/ })
      .waitFor()
    const asked: string[] = []
    page.on('request', (request) => {
      const path = new URL(request.url()).pathname
      if (request.method() === 'GET' && path.startsWith('/api/dns/'))
        asked.push(path.replace(`/api/dns/${domain}`, ''))
    })
    await page.getByRole('link', { name: 'Add record' }).first().click()
    await page.getByLabel('Name', { exact: true }).fill('bigger')
    await page.getByLabel('IPV4', { exact: true }).fill('203.0.113.77')
    await button('Confirm and save the record').click()
    await page.getByRole('searchbox').fill(`bigger.${name}`)
    await rowOf('203.0.113.77').waitFor()
    // A change from the other tab.
    expect(
      (
        await send('POST', '/records', {
          name: 'bigger',
          type: 'A',
          content: '203.0.113.78',
          ttl: 300,
        })
      ).status,
    ).toBe(201)
    await button(`Actions for A bigger.${name}`).first().click()
    await page.getByRole('menuitem', { name: 'Delete' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
    await rowOf('203.0.113.78').waitFor()
    await expect.poll(() => rowOf('203.0.113.77').count()).toBe(0)
    expect(asked.filter((path) => path === '/changed-records').length).toBeGreaterThan(0)
    // The form queries the set of one name; the list itself is never read again.
    expect(asked.filter((path) => path === '/records').length).toBeLessThan(3)
    page.removeAllListeners('request')
    await send('POST', '/zone', { content: 'www CNAME example.org.', mode: 'replace' })
    await page.getByRole('searchbox').fill('')
  })

  test('says whose TTL changes too, what quotes mean; no switch without a proxy', async () => {
    await page.getByRole('link', { name: 'Add record' }).first().click()
    await page.getByLabel('Type').selectOption('TXT')
    expect(await page.getByRole('switch').count()).toBe(0)
    expect(await page.getByText('DNS only').count()).toBe(0)
    await page.getByLabel('Name', { exact: true }).fill('@')
    await page
      .getByLabel('Content', { exact: true })
      .fill('"v=spf1 include:_spf.example.org" " -all"')
    await told('Saved without quotation marks: v=spf1 include:_spf.example.org -all')
    await button('Confirm and save the record').click()
    await rowOf('v=spf1 include:_spf.example.org -all').waitFor()
    await expect
      .poll(() => answers('TXT'))
      .toEqual([`${name} 300 TXT v=spf1 include:_spf.example.org -all`])
    await page.getByRole('link', { name: 'Add record' }).first().click()
    await page.getByLabel('Type').selectOption('TXT')
    await page.getByLabel('Name', { exact: true }).fill(name)
    await page.getByLabel('Content', { exact: true }).fill('second')
    expect(await page.getByText(/gets? this TTL too/).count()).toBe(0)
    await page.getByLabel('TTL').fill('600')
    await told('The other TXT @ record gets this TTL too: 10 minutes instead of 5 minutes.')
    expect(await wrong()).toEqual([])
    await button('Confirm and save the record').click()
    await told(
      'The record is saved. 1 other record of the same name and type changed with it (TTL: 10 ' +
        'minutes).',
    )
    await rowOf('second').waitFor()
  })

  test('shows of an imported file each TTL that is not kept', async () => {
    await button('More').last().click()
    await page.getByRole('menuitem', { name: 'Import records from a file' }).click()
    const dialog = page.getByRole('dialog')
    await dialog
      .getByLabel('Zone file')
      .fill('$TTL 1\napi IN A 203.0.113.60\n@ 1w MX 5 mail2.example.org.')
    await dialog.getByRole('button', { name: 'Preview' }).click()
    await dialog.getByText('2 TTLs were adjusted').waitFor()
    await dialog
      .getByText(
        'Line 2: api A gets a TTL of 30 seconds instead of 1: a TTL is 30 to 86400 seconds here.',
      )
      .waitFor()
    await dialog.getByText('Line 3: @ MX gets a TTL of 86400 seconds instead of 604800').waitFor()
    expect(await wrong()).toEqual([])
    await dialog.getByRole('button', { name: 'Cancel' }).click()
  })

  test('deletes several records at once on a phone, too', async () => {
    const held = await visitAs(browser, { language: 'en', viewport: phone, customer: an })
    const at = held.page
    await at.goto(page.url())
    await at
      .getByRole('checkbox', { name: `Select TXT ${name}` })
      .first()
      .check()
    await at.getByText('1 record selected').waitFor()
    expect(await wrong(at)).toEqual([])
    await at.getByRole('button', { name: 'Select all shown records' }).click()
    await at.getByText('3 records selected').waitFor()
    await at.getByRole('button', { name: 'Delete', exact: true }).click()
    await at.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
    await at.getByText('3 records deleted.').waitFor()
    await at.getByText('Record Empty !').waitFor()
    await at.getByRole('button', { name: 'Undo' }).click()
    await at.getByRole('row').filter({ hasText: 'second' }).waitFor()
    expect(held.complaints).toEqual([])
    await held.context.close()
  })

  test('fits a phone, in Vietnamese', async () => {
    const held = await visitAs(browser, { language: 'vi', viewport: phone, customer: an })
    for (const path of [
      '/dns',
      new URL(page.url()).pathname,
      `${new URL(page.url()).pathname}/add-record`,
      '/docs/dns',
    ]) {
      await held.page.goto(`${portal.url}${path}`)
      await settled(held.page)
      expect(await wrong(held.page), path).toEqual([])
    }
    await held.page.goto(`${portal.url}/dns`)
    await held.page.getByRole('heading', { name: 'Danh sách tên miền' }).waitFor()
    expect(held.complaints).toEqual([])
    await held.context.close()
  })

  test('is deleted after a warning, and answered no more', async () => {
    await open('/dns')
    await button(`Delete ${name}`).click()
    await told(`Are you sure you want to delete the domain ${name}?`)
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
    await told('Delete domain success !')
    await told('No domains yet.')
    // The name server is updated after the list.
    await eventually('no answer for it', async () => {
      const { rcode } = await dig(portal.config.DNS_PORT, { name, type: 'A' })
      return rcode === 'REFUSED'
    })
  })
})

test('who leaves a check that is under way stays where they went', async () => {
  const binh = await portal.customer()
  const made = await portal.call<{ id: string; nameserver: string[] }>('POST', '/api/dns', {
    token: binh.token,
    body: { name: 'bo-di.com.vn' },
  })
  const { id, nameserver: nameservers } = made.body.result
  const { page: own, context } = await visitAs(browser, { language: 'en', customer: binh })
  const left = Promise.withResolvers<void>()
  await own.route('**/api/dns/check?*', async (route) => {
    await left.promise
    await route.continue()
  })
  await own.clock.install()
  await openPage(own, `${portal.url}/dns`)
  await own.getByRole('button', { name: 'Activate bo-di.com.vn' }).click()
  const dialog = own.getByRole('dialog')
  await dialog.getByRole('button', { name: 'Check', exact: true }).click()
  await dialog.getByRole('button', { name: 'Close' }).last().click()
  await dialog.waitFor({ state: 'detached' })
  await fetch(`${portal.sandboxUrl}/registry.json`, {
    method: 'POST',
    body: JSON.stringify({ name: 'bo-di.com.vn', nameservers }),
  })
  left.resolve()
  await own.getByText('Add domain success !').first().waitFor()
  // The pause after which the dialog leads on, if it is still open.
  await own.clock.fastForward(2_000)
  await own.getByRole('link', { name: /Details/ }).waitFor()
  expect(new URL(own.url()).pathname).toBe('/dns')
  await own.getByRole('link', { name: /Details/ }).click()
  await own.waitForURL(`${portal.url}/dns/domain/${id}`)
  await context.close()
})

test('the focus goes on from a domain that was added or deleted', async () => {
  const binh = await portal.customer()
  const held = await visitAs(browser, { language: 'en', customer: binh })
  const own = held.page
  await openPage(own, `${portal.url}/dns`)
  const dialog = own.getByRole('dialog')
  const add = async (name: string, opener: string) => {
    await own.getByRole('button', { name: opener, exact: true }).press('Enter')
    await dialog.getByLabel('Domain').fill(name)
    await own.keyboard.press('Enter')
    await own.getByText(`${name} added.`).waitFor()
  }
  const link = (name: string) => own.getByRole('link', { name, exact: true })
  // This button leaves with the empty list.
  await add('mot.com.vn', 'Add your first domain')
  await focusOn(link('mot.com.vn'))
  await add('hai.com.vn', 'Create domain')
  await focusOn(own.getByRole('button', { name: 'Create domain' }))
  const remove = async (name: string) => {
    await own.getByRole('button', { name: `Delete ${name}` }).press('Enter')
    await dialog.getByRole('button', { name: 'Delete', exact: true }).press('Enter')
    await link(name).waitFor({ state: 'detached' })
  }
  await remove('hai.com.vn')
  await focusOn(link('mot.com.vn'))
  await remove('mot.com.vn')
  await focusOn(own.getByRole('heading', { level: 1 }))
  await held.context.close()
})

test('a record has no switch where no proxy is', async () => {
  const binh = await portal.customer()
  const { id } = (
    await portal.call<{ id: string }>('POST', '/api/dns', {
      token: binh.token,
      body: { name: 'khong-proxy.com.vn' },
    })
  ).body.result
  const held = await visitAs(browser, { language: 'en', customer: binh })
  await openPage(held.page, `${portal.url}/dns/domain/${id}/add-record`)
  for (const type of ['A', 'TXT']) {
    await held.page.getByLabel('Type').selectOption(type)
    expect(await held.page.getByRole('switch').count()).toBe(0)
    expect(await held.page.getByText('DNS only').count()).toBe(0)
  }
  await held.context.close()
})

test('a domain is pointed at the oldest of many servers', async () => {
  const binh = await portal.customer()
  await portal.topUp(binh, 900_000)
  const oldest = await orderServer(portal, binh)
  const newest = await orderServer(portal, binh)
  const domain = await portal.call<{ id: string }>('POST', '/api/dns', {
    token: binh.token,
    body: { name: 'nhieu-may-chu.com' },
  })
  const { page: own, complaints } = await visitAs(browser, { language: 'en', customer: binh })
  // Pages of one item, so that two items stand for more than one page.
  await own.route(/\/api\/wp\?limit=/, (route) =>
    route.continue({
      url: route
        .request()
        .url()
        .replace(/limit=\d+/, 'limit=1'),
    }),
  )
  await openPage(own, `${portal.url}/dns/domain/${domain.body.result.id}`)
  await own.locator('main').getByRole('button', { name: 'More' }).click()
  await own.getByRole('menuitem', { name: 'Point at a WordPress server' }).click()
  const dialog = own.getByRole('dialog', { name: 'Point at a WordPress server' })
  const servers = dialog.getByLabel('Server')
  await expect
    .poll(() => servers.locator('option').allInnerTexts())
    .toEqual([newest.name, oldest.name])
  await servers.selectOption({ label: oldest.name })
  await dialog.getByText('These records change').waitFor()
  await dialog.getByRole('button', { name: 'Point domain' }).click()
  await own.getByText(`The domain now points at ${oldest.name}.`).first().waitFor()
  expect(complaints).toEqual([])
})
