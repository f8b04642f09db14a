/**
 * E-mail on a server's page in a real browser: from the switch to the records of its domain, and
 * the result of each message.
 */
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { SentMail } from '../../contract/wordpress-mail.ts'
import { openTestDns, type TestDns } from '../dns-server.ts'
import { mailServersOf, type MailServer } from '../mail-world.ts'
import { eventually, freePort, openTestPortal, type TestPortal } from '../portal.ts'
import {
  endVisits,
  openBrowser,
  openPage,
  phone,
  resize,
  settled,
  sideways,
  violations,
  visitAs,
  wide,
  type Visit,
} from './browser.ts'

let dns: TestDns
let portal: TestPortal
let browser: Browser
let an: MailServer
let tab: Visit
let page: Page
const { call, server, send, state, became, header, domainFor } = mailServersOf(() => portal)

beforeAll(async () => {
  dns = await openTestDns()
  ;[portal, browser] = await Promise.all([
    openTestPortal({
      env: {
        DNS_RESOLVERS: dns.address,
        SITES_DOMAIN: 'sites.example.net',
        SITE_MAIL_SPF: 'include:_spf.relay.example',
        SITE_MAIL_REPORTS: 'returned.example.net',
        SITE_MAIL_REPORTS_PORT: String(await freePort()),
      },
    }),
    openBrowser(),
  ])
  dns.records.set('A *.sites.example.net', ['127.0.0.1'])
  an = await server()
  tab = await visitAs(browser, { language: 'en', customer: an.owner })
  page = tab.page
})
afterAll(async () => {
  await endVisits(browser)
  await portal?.close()
  await dns?.close()
})

const open = (): Promise<void> => openPage(page, `${portal.url}/wordpress/${an.id}?tab=mail`)
const told = (text: string | RegExp) => page.getByText(text).first().waitFor()
const item = (to: string) => page.getByRole('listitem').filter({ hasText: to })

describe('the email of a server', { timeout: 90_000 }, () => {
  test('is empty at first, and says where messages come from', async () => {
    await open()
    await told('This site has not sent any email yet.')
    await told(/has no domain of its own yet/)
    expect(await page.getByLabel('Name before the @').inputValue()).toBe('wordpress')
    await told('0 of 100')
    expect(tab.complaints).toEqual([])
  })

  test('has its sender chosen on a domain of its own, and an address refused', async () => {
    await domainFor(an, 'coffee.com.vn')
    await open()
    const name = page.getByLabel('Name before the @')
    const save = page.getByRole('button', { name: 'Save sender' })
    await name.fill('no body')
    await save.click()
    await told('Enter an address such as shop@example.vn.')
    await name.fill('order')
    await save.click()
    await told('Messages now come from order@coffee.com.vn.')
    expect((await state(an)).sender).toBe('order@coffee.com.vn')
  })

  test('has the missing records added by one press', async () => {
    const domain = page.getByRole('region', { name: 'coffee.com.vn', exact: true })
    await domain.getByText('Missing').first().waitFor()
    expect(await domain.getByText('Missing').count()).toBe(3)
    await page.getByRole('button', { name: 'Add to DNS: missing records of coffee.com.vn' }).click()
    await domain.getByText('All records found').waitFor()
    expect(await domain.getByText('Found', { exact: true }).count()).toBe(3)
    const alias = page.getByRole('region', { name: 'www.coffee.com.vn' })
    await alias.getByText(/is an alias/).waitFor()
  })

  test('shows each message, why one was refused, and when another is tried again', async () => {
    const headers = 'From: Quán <quan@gmail.com>'
    expect(await send(an, { to: 'khach@example.vn', subject: 'Đơn hàng số 9', headers })).toBe(true)
    expect(await send(an, { to: 'nobody@bounce.example' })).toBe(true)
    expect(await send(an, { to: 'busy@later.example', subject: 'Hẹn gặp' })).toBe(true)
    await became(an, 'khach@example.vn', 'sent')
    await became(an, 'nobody@bounce.example', 'bounced')
    await eventually(
      'a try',
      async () => (await became(an, 'busy@later.example', 'waiting')).attempts > 0,
    )
    await open()
    await item('khach@example.vn').getByText('Sent', { exact: true }).waitFor()
    await item('khach@example.vn')
      .getByText(/in place of quan@gmail\.com/)
      .waitFor()
    await item('nobody@bounce.example')
      .getByText(/No such user here/)
      .waitFor()
    await item('busy@later.example')
      .getByText(/^1 try · Next try /)
      .waitFor()
    expect(await header('khach@example.vn', 'from')).toContain('<order@coffee.com.vn>')
    await told('2 of 100')
  })

  test('shows what came back later, and has its address written to again', async () => {
    const to = 'lan@returns.example'
    expect(await send(an, { to, subject: 'Hoá đơn' })).toBe(true)
    await became(an, to, 'bounced')
    expect(await send(an, { to, subject: 'Lời nhắc' })).toBe(true)
    await became(an, to, 'refused')
    await open()
    const [second, first] = [item(to).nth(0), item(to).nth(1)]
    await first.getByText(/^Came back .*, after it was sent\.$/).waitFor()
    await first.getByText('The mail server said: 550 5.1.1 No such user here').waitFor()
    await second.getByText(/A message to this address came back/).waitFor()
    await second.getByRole('button', { name: `Allow again: messages to ${to}` }).click()
    await told(`Messages to ${to} are sent again.`)
    expect(await send(an, { to, subject: 'Lần nữa' })).toBe(true)
    await eventually('sent again', async () => {
      const [newest] = (await call<SentMail[]>(an, 'GET', '/mail/messages')).body.result
      return newest?.subject === 'Lần nữa' && newest.state === 'bounced'
    })
  })

  test('fits a phone, and breaks no rule of accessibility in either theme', async () => {
    await resize(page, phone)
    expect(await sideways(page)).toBe(0)
    expect(await violations(page)).toEqual([])
    const dark = await visitAs(browser, {
      language: 'vi',
      theme: 'dark',
      viewport: phone,
      customer: an.owner,
    })
    await openPage(dark.page, `${portal.url}/wordpress/${an.id}?tab=mail`)
    await dark.page.getByText('Thư trong 30 ngày qua').waitFor()
    expect(await sideways(dark.page)).toBe(0)
    expect(await violations(dark.page)).toEqual([])
    expect([...tab.complaints, ...dark.complaints]).toEqual([])
    await resize(page, wide)
  })

  test('says why it is suspended and what to do, as it happens', async () => {
    for (let at = 0; at < 10; at++)
      expect(await send(an, { to: `nobody${at}@bounce.example` })).toBe(true)
    await told('Sending is suspended')
    await told(/Find the form or plugin that sends these messages/)
    expect((await state(an)).suspended?.cause).toBe('bounces')
  })

  test('is switched off by its owner', async () => {
    await page.getByRole('switch', { name: 'Let the site send email' }).click()
    await told('Email is off. Messages that were waiting are not sent.')
    await settled(page)
    expect((await call<{ enabled: boolean }>(an, 'GET', '/mail')).body.result.enabled).toBe(false)
    await open()
    await item('busy@later.example').getByText('Email was off.').waitFor()
  })
})
