/**
 * HTTPS on the Domain tab: a valid certificate, a pending one, a failed one with its reason, and
 * what the owner does about it. With PICTURES=folder pictures are saved there.
 */
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openHttpsWorld, sitesDomain, type HttpsServer, type HttpsWorld } from '../https-world.ts'
import { jobsIdle } from '../idle-jobs.ts'
import { eventually } from '../portal.ts'
import {
  endVisits,
  keepPicture,
  openBrowser,
  openPage,
  phone,
  settled,
  sideways,
  violations,
  visitAs,
  wide,
} from './browser.ts'

const good = 'tiem-banh.example.org'
const away = 'cua-hang-ban-le-o-mot-ten-mien-rat-dai-khong-tro-ve-day.example.org'
const forbidden = 'www.tiem-banh.example.org'
let world: HttpsWorld
let browser: Browser
let server: HttpsServer

beforeAll(async () => {
  ;[world, browser] = await Promise.all([openHttpsWorld(), openBrowser()])
  server = await world.server()
  // The wildcard certificate of the sites' domain is validated by a CNAME to our name server.
  const [own = ''] = world.portal.app.dns.ownZones
  await fetch(`${world.portal.sandboxUrl}/registry.json`, {
    method: 'POST',
    body: JSON.stringify({ name: own, nameservers: world.portal.app.dns.pool.slice(0, 2) }),
  })
  world.dns.records.set(`CNAME _acme-challenge.${sitesDomain}`, [`${sitesDomain}.acme.${own}`])
  // It was tried when the portal started, before the record existed.
  const { db, tls } = world.portal.app
  await jobsIdle(db)
  await db
    .updateTable('certificate')
    .set({ next_at: new Date(0), attempts: 0 })
    .execute()
  await tls.due()
})
afterAll(async () => {
  await endVisits(browser)
  await world?.close()
})

const tabOf = (): string => `${world.portal.url}/wordpress/${server.id}?tab=domain`
const shown = (page: Page, text: string | RegExp) =>
  page.getByText(text).first().waitFor({ state: 'visible' })

test('a domain that is added shows its certificate as soon as it is there', async () => {
  const { page, complaints } = await visitAs(browser, { language: 'en', customer: server.owner })
  await openPage(page, tabOf())
  await shown(page, 'HTTPS active')
  world.point(good, server)
  await page.getByRole('button', { name: 'Add domain' }).click()
  await page.getByLabel('Domain name').fill(good)
  await page.getByRole('button', { name: 'OK' }).click()
  const row = page.getByRole('listitem').filter({ hasText: good })
  await row.getByText('HTTPS active').waitFor()
  expect(await row.innerText()).toMatch(
    /Certificate from Sandbox CA, issued \d{4}-\d\d-\d\d, valid until \d{4}-\d\d-\d\d/,
  )
  expect(await row.getByRole('link').getAttribute('href')).toBe(`https://${good}`)
  expect(complaints).toEqual([])
})

test('one that failed says why and what to do, and is tried again at a press', async () => {
  const { token } = server.owner
  const check = await world.portal.call<{ records: { type: string; expected: string[] }[] }>(
    'GET',
    `/api/wp/${server.id}/domain/check?name=${away}`,
    { token },
  )
  const txt = check.body.result.records.find(({ type }) => type === 'TXT')
  world.dns.records.set(`TXT _portal-challenge.${away}`, txt?.expected ?? [])
  world.dns.records.set(`CNAME ${away}`, ['shops.elsewhere.example'])
  world.dns.records.set(`CAA ${forbidden}`, [
    { flags: 0, tag: 'issue', value: 'other.example' },
  ] as never)
  await world.add(server, away)
  await world.named(server, forbidden)
  await world.settled(server, away, 'failed', 'not_pointed')
  await world.settled(server, forbidden, 'failed', 'caa')
  const { page } = await visitAs(browser, { language: 'en', customer: server.owner })
  await openPage(page, tabOf())
  const row = page.getByRole('listitem').filter({ hasText: away })
  await row.getByText('points to shops.elsewhere.example').waitFor()
  await page.getByText('does not allow our certificate authority').waitFor()
  world.point(away, server)
  await row.getByRole('button', { name: 'Try again' }).click()
  await row.getByText('HTTPS active').waitFor()
})

test('browsers are told to come by HTTPS alone at a press, and the choice is kept', async () => {
  const { page } = await visitAs(browser, { language: 'en', customer: server.owner })
  await openPage(page, tabOf())
  const choice = page.getByRole('switch', { name: 'Always use HTTPS (HSTS)' })
  await choice.click()
  await eventually('chosen', async () => (await world.https(server)).httpsOnly === true)
  await page.reload()
  await settled(page)
  expect(await choice.isChecked()).toBe(true)
})

test('a main address is chosen: visitors of the others are sent there', async () => {
  const { page, complaints } = await visitAs(browser, { language: 'en', customer: server.owner })
  await openPage(page, tabOf())
  await page.getByLabel('Visitors see your site at').selectOption(good)
  await shown(page, `Visitors are now sent to ${good}.`)
  const own = `${server.name}.${sitesDomain}`
  await eventually(
    'the redirect',
    async () => (await world.plain(own, '/a?b=c')).headers.location === `https://${good}/a?b=c`,
  )
  expect((await world.visit(own, '/a?b=c')).headers.location).toBe(`https://${good}/a?b=c`)
  await page.getByRole('button', { name: 'Check stored addresses' }).click()
  await shown(page, /Everything stored uses|stored values? uses? another address/)
  expect(complaints).toEqual([])
})

test.each([
  ['wide', 'light', 'en'],
  ['wide', 'dark', 'vi'],
  ['phone', 'light', 'vi'],
  ['phone', 'dark', 'en'],
] as const)(
  '%s, %s, %s: nothing breaks WCAG or runs off the side',
  async (size, theme, language) => {
    world.dns.records.set(`CNAME ${away}`, ['shops.elsewhere.example'])
    const { page } = await visitAs(browser, {
      theme,
      language,
      customer: server.owner,
      viewport: size === 'wide' ? wide : phone,
    })
    await openPage(page, tabOf())
    await shown(page, language === 'vi' ? 'Đã có HTTPS' : 'HTTPS active')
    expect(await violations(page)).toEqual([])
    expect(await sideways(page)).toBe(0)
    await keepPicture(page, `https-${size}-${theme}-${language}`)
  },
)
