/** Tasks about customers: finding and reading a caller's account, and acts on it. */
import { formatMoney } from '../contract/money.ts'
import { settled } from '../test/e2e/browser.ts'
import { enView } from '../web/i18n/en-view.ts'
import { viView } from '../web/i18n/vi-view.ts'
import type { Hand } from './day-hand.ts'
import type { Who } from './day-provider.ts'
import { named, stated, type Day, type Task } from './day-task.ts'

/** Searches for the text, and opens the page of the customer who is found. */
export async function findCustomer(
  { t, provider }: Day,
  hand: Hand,
  typed: string,
  who: Who | 'emma',
): Promise<void> {
  const person = who === 'emma' ? provider.emma : provider.customers[who]
  await hand.type(hand.page.getByRole('searchbox', { name: t.search.label }), typed)
  await hand.press(hand.page.getByRole('link', { name: person.email }).first())
  await hand.page.getByRole('heading', { level: 1, name: person.name }).waitFor()
  await settled(hand.page)
}
const storyOf = ({ provider }: Day, who: Who) =>
  provider.staff.owner.call<{
    blockedAt: string | null
    sessions: unknown[]
    secondFactor: { app: boolean }
    labels: string[]
    notes: { text: string }[]
  }>('GET', `/api/operator/customers/${provider.customers[who].id}`)

export const customerTasks: readonly Task[] = [
  {
    name: 'Find a customer by name and read the whole story',
    role: 'support',
    async does(day, hand) {
      const { t, language, provider } = day
      await hand.type(hand.page.getByRole('searchbox', { name: t.search.label }), 'nguyen thi hoa')
      await hand.page.getByRole('link', { name: provider.customers.hoa.email }).waitFor()
      await hand.look('search')
      await hand.press(hand.page.getByRole('link', { name: provider.customers.hoa.email }))
      await settled(hand.page)
      const { ledger, db } = provider.portal.app
      const { balance } = await ledger.balanceOf(db, provider.customers.hoa.id)
      await hand.sees(formatMoney(Number(balance), 'VND', language))
      await hand.sees(provider.servers.hoa.name)
      await hand.sees(provider.trouble.invoice)
      await hand.sees('tiemhoa-hanoi.vn')
      await hand.sees('Trang web chạy chậm từ sáng nay')
      await hand.sees('Người phụ trách kỹ thuật')
      await hand.look('customer')
    },
  },
  {
    name: 'Find callers by e-mail, invoice, bank reference',
    role: 'support',
    async does(day, hand) {
      const { t, provider } = day
      await findCustomer(day, hand, 'minh.tran@', 'minh')
      for (const typed of [provider.trouble.invoice, provider.trouble.bankReference]) {
        await hand.press(hand.page.getByRole('link', { name: t.customer.back }))
        await findCustomer(day, hand, typed, 'hoa')
      }
    },
  },
  {
    name: 'Block an account, and unblock it',
    role: 'support',
    async does(day, hand) {
      const { t } = day
      await findCustomer(day, hand, 'minh.tran@', 'minh')
      const because = [[t.fields.reason, 'Báo mất máy tính, ticket 4711']] as const
      await hand.act(named(t, 'customer.block'), because, 'block')
      await hand.page.getByText(t.customer.blocked).first().waitFor()
      stated('blocked', (await storyOf(day, 'minh')).body.result.blockedAt !== null)
      await hand.look('customer-blocked')
      await hand.act(named(t, 'customer.unblock'), [
        [t.fields.reason, 'Đã xác minh qua điện thoại'],
      ])
      await hand.page
        .getByRole('button', { name: named(t, 'customer.unblock'), exact: true })
        .waitFor({ state: 'detached' })
    },
    proof: async (day) =>
      stated('unblocked', (await storyOf(day, 'minh')).body.result.blockedAt === null),
  },
  {
    name: 'End every session of an account',
    role: 'support',
    async does(day, hand) {
      const { t, provider } = day
      await findCustomer(day, hand, provider.customers.lan.phone, 'lan')
      await hand.act(
        named(t, 'customer.end_sessions'),
        [[t.fields.reason, 'Đăng nhập ở máy công cộng']],
        'end-sessions',
      )
      await hand.sees(t.customer.sessions(0))
    },
    proof: async (day) =>
      stated('no session', (await storyOf(day, 'lan')).body.result.sessions.length === 0),
  },
  {
    name: 'Reset a second factor, with proof of who asks',
    role: 'support',
    async does(day, hand) {
      const { t } = day
      await findCustomer(day, hand, 'Phạm Anh Tuấn', 'tuan')
      await hand.sees(t.customer.app)
      await hand.act(
        named(t, 'customer.reset_second_factor'),
        [
          [t.fields.proof, 'Gọi video, đối chiếu căn cước và hai hoá đơn gần nhất'],
          [t.fields.reason, 'Mất điện thoại'],
        ],
        'reset-second-factor',
      )
      await hand.sees(t.customer.noFactor)
    },
    proof: async (day) =>
      stated('no app', !(await storyOf(day, 'tuan')).body.result.secondFactor.app),
  },
  {
    name: 'See the portal as a customer sees it',
    role: 'support',
    async does(day, hand) {
      const { t, language, provider } = day
      await findCustomer(day, hand, 'mai.vo@', 'mai')
      const opened = hand.context.waitForEvent('page')
      await hand.act(
        named(t, 'customer.see'),
        [[t.fields.reason, 'Khách hỏi máy chủ nằm ở đâu']],
        'see',
      )
      const tab = await opened
      const bar = tab.getByRole('complementary', {
        name: language === 'vi' ? viView.label : enView.label,
      })
      await bar.waitFor()
      await tab.getByText(provider.servers.mai.name).filter({ visible: true }).first().waitFor()
      await hand.look('seen-as-the-customer', tab)
      await hand.press(
        bar.getByRole('button', { name: language === 'vi' ? viView.leave : enView.leave }),
      )
      await tab.getByText(t.view.ended).waitFor()
      await hand.look('view-ended', tab)
      await tab.close()
    },
  },
  {
    name: 'Write a note about a customer, and give a label',
    role: 'support',
    async does(day, hand) {
      const { t } = day
      await findCustomer(day, hand, 'huong.bui@', 'huong')
      const note = 'Muốn được gọi bằng tiếng Anh.'
      await hand.act(named(t, 'customer.note'), [[t.fields.text, note]], 'note')
      await hand.sees(note)
      await hand.act(named(t, 'customer.label'), [[t.fields.label, 'VIP']], 'label')
      await hand.page.getByRole('button', { name: t.customer.removeLabel('VIP') }).waitFor()
    },
    async proof(day) {
      const { labels, notes } = (await storyOf(day, 'huong')).body.result
      stated('label and note', labels.includes('VIP') && notes.length === 1)
    },
  },
]
