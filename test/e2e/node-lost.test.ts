/**
 * The desk's page of a lost node in a real browser: it shows what each server would lose, a second
 * member approves the act, and the page updates itself. With PICTURES=folder pictures are saved
 * there.
 */
import { sql } from 'kysely'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { ActOutcome } from '../../contract/operator-acts.ts'
import type { Proposal } from '../../contract/operator-desk.ts'
import type { Delivery } from '../../contract/webhooks.ts'
import { nodeOf, setNodeState } from '../../server/wordpress/nodes.ts'
import { orderServer, type OrderedServer } from '../ordered-servers.ts'
import { openOtherNode, withSitesAddress, type OtherNode } from '../other-node.ts'
import { eventually, openTestPortal, type TestPortal } from '../portal.ts'
import { newMember, type TestMember } from '../staff.ts'
import { endVisits, judgeBothWidths, type Look, openBrowser, openPage } from './browser.ts'
import { visitDesk } from './desk.ts'

let portal: TestPortal
let browser: Browser
let other: OtherNode
let asks: TestMember
let approves: TestMember
let saved: OrderedServer
let bare: OrderedServer
beforeAll(async () => {
  const env = await withSitesAddress()
  ;[portal, browser] = await Promise.all([openTestPortal({ env }), openBrowser()])
  asks = await newMember(portal, 'owner')
  approves = await newMember(portal, 'owner')
  const { db, nodes } = portal.app
  const an = await portal.customer()
  await portal.topUp(an, 2_000_000)
  other = await openOtherNode(portal, 'hn2')
  await setNodeState(db, 'main', 'draining')
  ;[saved, bare] = [await orderServer(portal, an), await orderServer(portal, an)]
  await setNodeState(db, 'main', 'active')
  const of = { token: an.token }
  const at = `/api/wp/${saved.id}/backups`
  expect((await portal.call('POST', at, of)).status).toBe(201)
  await eventually(
    'a proven backup',
    async () => {
      const { body } = await portal.call<{ state: string }[]>('GET', at, of)
      return body.result[0]?.state === 'proven'
    },
    60,
  )
  // The first lease is given by a separate round, which comes late on a busy machine.
  await eventually('a lease', async () => {
    const { rows } = await sql<{ leased: boolean }>`
      select lease_until is not null as leased from node where id = 'hn2'`.execute(db)
    return rows[0]?.leased
  })
  await other.vanish()
  // A check that is under way may already have reached the node, and would record that.
  await nodes.look()
  // Twenty minutes pass, by the database's clock.
  await sql`update node set last_seen = last_seen - interval '20 minutes',
    lease_at = lease_at - interval '20 minutes', lease_until = lease_until - interval '20 minutes'
    where id = 'hn2'`.execute(db)
  await nodes.look()
}, 180_000)
afterAll(async () => {
  await endVisits(browser)
  await portal?.close()
  await other?.close()
})

const deskOf = (member: TestMember, look: Look = {}) => visitDesk(browser, portal, member, look)

test('what is lost is read before the press, and two members bring it up', async () => {
  const { page, complaints } = await deskOf(asks)
  await openPage(page, `${portal.url}/operator/capacity`)
  await page.getByText('may still take writes until').waitFor()
  await page
    .getByText(/comes up on main; what was written in .* since its backup is lost/)
    .waitFor()
  await page.getByText('stays: It has no backup that was verified.').waitFor()
  await judgeBothWidths(page, 'lost-en-light')
  const added = await asks.act<ActOutcome>('outgoing_webhook.add', {
    url: `${portal.sandboxUrl}/hooks/chat`,
    events: ['node.lost', 'proposal.made', 'proposal.decided'],
    reason: 'The chat of operations asks for it',
  })
  const card = page.getByRole('region', { name: 'Node hn2' })
  await card.getByRole('button', { name: 'Bring up elsewhere', exact: true }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Reason').fill('The board is broken')
  await judgeBothWidths(page, 'lost-dialog-en-light')
  await dialog.getByRole('button', { name: 'Bring up elsewhere' }).click()
  await dialog
    .getByText(/may still take writes until .* \(Vietnam time\)/)
    .first()
    .waitFor()
  await judgeBothWidths(page, 'lost-refused-en-light')
  await dialog.getByLabel('Is the machine off?').selectOption('yes')
  await dialog.getByRole('button', { name: 'Bring up elsewhere' }).click()
  await dialog.waitFor({ state: 'detached' })
  const waiting = await approves.call<Proposal[]>('GET', '/api/operator/proposals')
  const [proposal] = waiting.body.result
  const approved = await approves.call('POST', `/api/operator/proposals/${proposal?.id}/approve`)
  expect(approved.status, approved.text).toBe(200)
  await eventually(
    'the server there',
    async () => (await nodeOf(portal.app.db, saved.id)) === 'main',
    60,
  )
  expect(await nodeOf(portal.app.db, bare.id)).toBe('hn2')
  // The provider's own webhook is called.
  const { body: sent } = await asks.call<{ deliveries: Delivery[] }>(
    'GET',
    `/api/operator/outgoing-webhooks/${String(added.body.result.after?.['id'])}/deliveries`,
  )
  const told = sent.result.deliveries.map(({ body }) => JSON.parse(body) as object).toReversed()
  expect(told).toMatchObject([
    { type: 'proposal.made', data: { proposal: { id: proposal?.id, act: 'node.lost' } } },
    { type: 'node.lost', data: { node: { id: 'hn2', comes_up: 1, stays: 1 } } },
    { type: 'proposal.decided', data: { proposal: { id: proposal?.id, approved: true } } },
  ])
  await page.getByText(/came up on main, with its content of/).waitFor()
  await judgeBothWidths(page, 'lost-after-en-light')
  // The browser logs the refusal.
  expect(complaints).toEqual([expect.stringContaining('409')])
}, 120_000)

test('in Vietnamese and dark', async () => {
  const { page, complaints } = await deskOf(asks, { language: 'vi', theme: 'dark' })
  await openPage(page, `${portal.url}/operator/capacity`)
  await page.getByText(/đã được khôi phục trên main/).waitFor()
  await judgeBothWidths(page, 'lost-after-vi-dark')
  expect(complaints).toEqual([])
}, 60_000)
