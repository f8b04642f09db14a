/** Tasks about work: letters, orders, jobs, webhooks, servers. */
import { sql } from 'kysely'
import { formatMoney } from '../contract/money.ts'
import type { ActName } from '../contract/operator-acts.ts'
import { eventually } from '../test/portal.ts'
import { settled } from '../test/e2e/browser.ts'
import { nodeOf } from '../server/wordpress/nodes.ts'
import { findCustomer } from './day-customers.ts'
import type { Hand } from './day-hand.ts'
import { named, stated, type Day, type Task } from './day-task.ts'

const longestMoveMs = 90_000

/** The row of a list or card with this text; the toast after an act is not a row. */
const rowWith = (hand: Hand, text: string) =>
  hand.page.getByRole('main').getByRole('listitem').filter({ hasText: text })

async function pressIn(
  { t }: Day,
  hand: Hand,
  row: string,
  act: ActName,
  entries: readonly (readonly [string, string])[],
  picture?: string,
): Promise<void> {
  const name = named(t, act)
  await hand.press(rowWith(hand, row).getByRole('button', { name }))
  await hand.fillIn(name, entries, picture)
}
const serverState = async ({ provider }: Day, state: string, id: string): Promise<boolean> => {
  const { body } = await provider.staff.owner.call<{ id: string }[]>(
    'GET',
    `/api/operator/servers?state=${state}`,
  )
  return body.result.some((one) => one.id === id)
}

export const workTasks: readonly Task[] = [
  {
    name: 'Send a letter again that did not arrive',
    role: 'support',
    before: ({ provider }) => provider.outside.fullMailboxes.clear(),
    async does(day, hand) {
      const { t, provider } = day
      const { email } = provider.customers.yen
      await hand.goTo(t.nav.work, t.work.pages.letters)
      await hand.sees('452 4.2.2')
      await hand.look('letters-failed')
      await pressIn(day, hand, email, 'letter.resend', [], 'letter-again')
      await hand.press(hand.page.getByText(t.work.letters.states.sent, { exact: true }))
      await rowWith(hand, email).filter({ hasText: t.work.letters.again }).waitFor()
      await hand.look('letters-sent')
    },
    proof: async ({ provider: { portal, customers } }) =>
      stated('the letter came', (await portal.inbox(customers.yen.email)).length > 0),
  },
  {
    name: 'Find the stuck order, read why, and try it now',
    role: 'operations',
    before: ({ provider: { outside } }) => {
      outside.disksAway = false
    },
    async does(day, hand) {
      const { t, provider } = day
      const { name } = provider.trouble.stuck
      await hand.goTo(t.nav.work)
      await hand.look('work-now')
      await hand.goTo(t.nav.work, t.work.pages.servers)
      await rowWith(hand, name).getByText('the storage of this data centre is away').waitFor()
      await hand.look('servers-stuck')
      await pressIn(
        day,
        hand,
        name,
        'work.retry_server',
        [[t.fields.reason, 'Ổ đĩa đã hoạt động trở lại']],
        'try-now',
      )
      await hand.choose(
        hand.page.getByLabel(t.work.servers.show, { exact: true }),
        t.work.servers.states.running,
      )
      // In this list, and no longer in the previous one.
      const giveUp = hand.page.getByRole('button', { name: named(t, 'work.give_up_order') })
      await rowWith(hand, name).filter({ hasNot: giveUp }).waitFor()
    },
    proof: async (day) =>
      stated('it runs', await serverState(day, 'running', day.provider.trouble.stuck.id)),
  },
  {
    name: 'Give up an order that cannot be delivered',
    role: 'operations',
    async does(day, hand) {
      const { t, provider } = day
      const { name } = provider.trouble.hopeless
      await hand.goTo(t.nav.work, t.work.pages.servers)
      await pressIn(
        day,
        hand,
        name,
        'work.give_up_order',
        [
          [t.fields.told, 'Trung tâm dữ liệu này đã hết ổ đĩa'],
          [t.fields.reason, 'Chưa có ổ đĩa mới trong tuần này'],
        ],
        'give-up',
      )
      await hand.choose(
        hand.page.getByLabel(t.work.servers.show, { exact: true }),
        t.work.servers.states.failed,
      )
      await rowWith(hand, name).filter({ hasText: 'đã hết ổ đĩa' }).waitFor()
      await hand.look('servers-given-up')
    },
    async proof(day) {
      const { portal, customers } = day.provider
      const { balance } = await portal.app.ledger.balanceOf(portal.app.db, customers.thao.id)
      stated('the money is back', balance === 1_500_000n)
    },
  },
  {
    name: 'Start a job again that gave up',
    role: 'operations',
    before: ({ provider: { outside } }) => {
      outside.payoutsUnreadable = false
    },
    async does(day, hand) {
      const { t } = day
      await hand.goTo(t.nav.work)
      await hand.sees('Unexpected token')
      // Another job may have given up within the hour.
      const buttons = hand.page.getByRole('button', { name: named(t, 'work.retry_job') })
      const before = await buttons.count()
      await hand.act(
        named(t, 'work.retry_job'),
        [[t.fields.reason, 'Stripe đã sửa xong']],
        'job-again',
      )
      await buttons.nth(before - 1).waitFor({ state: 'detached' })
    },
    async proof({ provider: { portal } }) {
      await eventually('the job ended well', async () => {
        const { rows } = await sql`select id from pgboss.job
          where name = 'read-payouts-since-stripe' and state = 'completed'`.execute(portal.app.db)
        return rows.length > 0
      })
    },
  },
  {
    name: 'Read an unhandled webhook, and handle it',
    role: 'finance',
    async does(day, hand) {
      const { t, language } = day
      await hand.goTo(t.money.nav, t.money.pages.webhooks)
      await hand.sees(t.notices.outcomes.unfinished)
      await hand.look('webhooks')
      await hand.press(hand.page.getByRole('link', { name: /^VNPay · \d+$/ }).first())
      await settled(hand.page)
      await hand.sees(formatMoney(250_000, 'VND', language))
      await hand.sees('vnp_TxnRef')
      await hand.look('webhook')
      await hand.act(
        named(t, 'webhook.replay'),
        [[t.fields.reason, 'Máy chủ khởi động lại lúc nhận']],
        'webhook-again',
      )
      await hand.sees(t.notices.outcomes.posted)
    },
    async proof({ provider: { portal, customers } }) {
      const { balance } = await portal.app.ledger.balanceOf(portal.app.db, customers.dung.id)
      stated('the top-up is in the wallet', balance === 1_800_000n)
    },
  },
  {
    name: 'Suspend a server with a reason, and release it',
    role: 'operations',
    async does(day, hand) {
      const { t } = day
      await findCustomer(day, hand, 'quang.ly@', 'quang')
      await hand.act(
        named(t, 'work.hold_server'),
        [
          [t.fields.told, 'Một trang giả mạo ngân hàng'],
          [t.fields.reason, 'Khiếu nại của ngân hàng, ticket 4722'],
        ],
        'hold-server',
      )
      await hand.sees(t.customer.held)
      await hand.look('customer-held')
      await hand.act(named(t, 'work.release_server'), [
        [t.fields.reason, 'Trang giả mạo đã được gỡ'],
      ])
      await hand.page
        .getByRole('button', { name: named(t, 'work.hold_server'), exact: true })
        .waitFor()
    },
    proof: async (day) => {
      const { id } = day.provider.servers.quang
      await eventually('it runs again', () => serverState(day, 'running', id))
    },
  },
  {
    name: 'Move a server to another node',
    role: 'operations',
    async does(day, hand) {
      const { t, provider } = day
      await hand.goTo(t.nav.work, t.work.pages.capacity)
      await hand.sees('hn2')
      await hand.look('capacity')
      await hand.goTo(t.nav.customers)
      await findCustomer(day, hand, provider.servers.quang.name, 'quang')
      await hand.act(
        named(t, 'server.move'),
        [
          [t.fields.node, 'hn2'],
          [t.fields.reason, 'Giảm tải cho máy main'],
        ],
        'move',
      )
      await hand.sees(t.customer.movesTo('hn2'))
      // The site keeps running meanwhile, and the member may do something else.
      await hand.sees(t.customer.onNode('hn2'), longestMoveMs)
      await hand.look('customer-moved')
    },
    proof: async ({ provider: { portal, servers } }) =>
      stated('it is there', (await nodeOf(portal.app.db, servers.quang.id)) === 'hn2'),
  },
]
