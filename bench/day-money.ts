/** Tasks about money: wallets, top-ups, disputes, reconciliation, codes, accounting. */
import { readFile } from 'node:fs/promises'
import { sql } from 'kysely'
import { formatMoney } from '../contract/money.ts'
import { eventually } from '../test/portal.ts'
import { settled } from '../test/e2e/browser.ts'
import { vietnamDay } from '../web/vietnam-day.ts'
import { findCustomer } from './day-customers.ts'
import type { Hand } from './day-hand.ts'
import type { Who } from './day-provider.ts'
import { named, stated, type Day, type Task } from './day-task.ts'

const balanceOf = async ({ provider: { portal, customers } }: Day, who: Who): Promise<number> =>
  Number((await portal.app.ledger.balanceOf(portal.app.db, customers[who].id)).balance)
/** Resolves when the page shows this balance. */
const seesBalance = ({ t, language }: Day, hand: Hand, amount: number): Promise<void> =>
  hand.page
    .getByLabel(t.customer.balance)
    .getByText(formatMoney(amount, 'VND', language))
    .waitFor()
const has = async (day: Day, who: Who, amount: number): Promise<void> =>
  stated(`${who} has ${amount}`, (await balanceOf(day, who)) === amount)

function moneyEntries({ t }: Day, amount: string, told: string, reason: string) {
  return [
    [t.fields.amountOf('VND'), amount],
    [t.fields.told, told],
    [t.fields.reason, reason],
  ] as const
}

export const moneyTasks: readonly Task[] = [
  {
    name: 'Credit a wallet, with a reason',
    role: 'finance',
    async does(day, hand) {
      await findCustomer(day, hand, 'dung.dang@', 'dung')
      await hand.act(
        named(day.t, 'money.credit'),
        moneyEntries(day, '50000', 'Bồi thường sự cố ngày 24/11', 'Ticket 4720'),
        'credit',
      )
      await seesBalance(day, hand, 1_550_000)
    },
    proof: (day) => has(day, 'dung', 1_550_000),
  },
  {
    name: 'Debit a wallet, with a reason',
    role: 'finance',
    async does(day, hand) {
      await findCustomer(day, hand, 'huong.bui@', 'huong')
      await hand.act(
        named(day.t, 'money.debit'),
        moneyEntries(day, '20000', 'Cộng nhầm ngày 20/11', 'Sửa bút toán cộng nhầm'),
        'debit',
      )
      await seesBalance(day, hand, 1_480_000)
    },
    proof: (day) => has(day, 'huong', 1_480_000),
  },
  {
    name: 'Credit above the limit, with a second member',
    role: 'finance',
    async does(day, hand) {
      const { t, hands } = day
      await findCustomer(day, hand, 'son.hoang@', 'son')
      await hand.act(
        named(t, 'money.credit'),
        moneyEntries(day, '6000000', 'Thanh toán hợp đồng thiết kế', 'Hợp đồng 12/2026'),
      )
      await hand.sees(t.proposed)
      const second = hands.secondFinance
      await second.atStart()
      await second.goTo(t.nav.proposals)
      await second.look('approvals')
      await second.act(t.proposals.approve, [], 'approve')
      await second.sees(t.proposals.empty)
    },
    proof: (day) => has(day, 'son', 7_500_000),
  },
  {
    name: 'Refund a top-up to its source',
    role: 'finance',
    async does(day, hand) {
      const { t } = day
      await findCustomer(day, hand, 'khanh.do@', 'khanh')
      await hand.press(hand.page.getByRole('button', { name: t.customer.refund }).first())
      await hand.fillIn(
        named(t, 'money.refund'),
        [[t.fields.reason, 'Khách nạp nhầm hai lần']],
        'refund',
      )
      await seesBalance(day, hand, 1_500_000)
      await hand.sees(t.customer.givenBack(formatMoney(700_000, 'VND', day.language)))
      await hand.look('customer-refunded')
    },
    proof: (day) => has(day, 'khanh', 1_500_000),
  },
  {
    name: 'Give money in suspense to whose it is',
    role: 'finance',
    async does(day, hand) {
      const { t, provider } = day
      await hand.goTo(t.money.nav)
      await hand.look('suspense')
      // The transfer's text says whose it is.
      await hand.press(hand.page.getByRole('link', { name: t.suspense.notice }))
      await hand.sees('Hoang Ngoc Son nap tien')
      await hand.look('webhook-of-suspense')
      await hand.press(hand.page.getByRole('link', { name: t.money.pages.suspense }))
      await settled(hand.page)
      await hand.press(hand.page.getByRole('button', { name: t.suspense.assign, exact: true }))
      await hand.fillIn(
        named(t, 'money.assign'),
        [
          [t.fields.to, provider.customers.son.email],
          [t.fields.reason, 'Tên người chuyển khớp với chủ tài khoản'],
        ],
        'assign',
      )
      await hand.sees(t.suspense.empty)
    },
    async proof({ provider: { portal, customers } }) {
      const { rows } = await sql`select e.amount from ledger_entry e
        join ledger_account a on a.id = e.account_id
        where a.customer_id = ${customers.son.id} and e.amount = 600000`.execute(portal.app.db)
      stated('the money is in the wallet', rows.length === 1)
    },
  },
  {
    name: 'Answer a dispute with evidence, accept another',
    role: 'finance',
    async does(day, hand) {
      const { t, provider } = day
      const words = t.money.disputes
      await hand.goTo(t.money.nav, t.money.pages.disputes)
      await hand.look('disputes')
      const rows = hand.page.getByRole('link', { name: provider.emma.name })
      await hand.press(rows.first())
      await settled(hand.page)
      await hand.act(
        named(t, 'dispute.answer'),
        [
          [t.fields.evidence, 'Ordered on 1 November; signed in daily since, log attached.'],
          [t.fields.reason, 'Khách vẫn dùng dịch vụ hằng ngày'],
        ],
        'dispute-answer',
      )
      await hand.sees(words.states.under_review)
      await hand.look('dispute')
      await hand.press(hand.page.getByRole('link', { name: words.back }))
      const disputes = hand.page.getByRole('main').getByRole('listitem')
      await disputes.filter({ hasText: words.states.under_review }).waitFor()
      await hand.press(disputes.filter({ hasText: words.states.needs_evidence }).getByRole('link'))
      await settled(hand.page)
      await hand.act(
        named(t, 'dispute.accept'),
        [[t.fields.reason, 'Thu hai lần, khách đúng']],
        'dispute-accept',
      )
      await hand.sees(words.acceptance)
    },
    async proof({ provider }) {
      await eventually('both disputes are answered', async () => {
        const { body } = await provider.staff.owner.call<{ state: string }[]>(
          'GET',
          '/api/operator/disputes?show=all',
        )
        const states = body.result.map(({ state }) => state)
        return states.includes('under_review') && states.includes('lost')
      })
    },
  },
  {
    name: 'Resolve a difference of a gateway',
    role: 'finance',
    async does({ t }, hand) {
      await hand.goTo(t.money.nav, t.money.pages.reconciliation)
      await hand.sees(t.money.reconciliation.kinds.line)
      await hand.look('reconciliation')
      await hand.act(
        named(t, 'reconcile.close'),
        [[t.fields.reason, 'Bán tại quầy, đã ghi sổ riêng']],
        'reconcile-close',
      )
      await hand.sees(t.money.reconciliation.empty)
    },
  },
  {
    name: 'Make a coupon',
    role: 'finance',
    async does({ t }, hand) {
      await hand.goTo(t.money.nav, t.money.pages.coupons)
      await hand.act(
        named(t, 'coupon.make'),
        [
          [t.fields.code, 'TET2027'],
          [t.fields.most, '50000'],
          [t.fields.percent, '20'],
          [t.fields.orders, '50'],
          [t.fields.expiresOn, '2027-02-28'],
          [t.fields.reason, 'Khuyến mãi Tết 2027'],
        ],
        'coupon-make',
      )
      await hand.sees('TET2027')
      await hand.look('coupons')
    },
  },
  {
    name: 'Make a voucher',
    role: 'finance',
    async does({ t }, hand) {
      await hand.goTo(t.money.nav, t.money.pages.vouchers)
      await hand.act(
        named(t, 'voucher.make'),
        [
          [t.fields.code, 'CHOHOA2027'],
          [t.fields.amount, '100000'],
          [t.fields.uses, '20'],
          [t.fields.reason, 'Quà tặng hội chợ tháng 1'],
        ],
        'voucher-make',
      )
      await hand.sees('CHOHOA2027')
      await hand.look('vouchers')
    },
  },
  {
    name: 'Export the journal of a month for accounting',
    role: 'finance',
    async does({ t }, hand) {
      const words = t.money.exports
      await hand.goTo(t.money.nav, t.money.pages.exports)
      // In the seller's time zone, wherever the benchmark runs.
      const today = vietnamDay(new Date().toISOString())
      await hand.pick(hand.page.getByLabel(words.from), `${today.slice(0, 8)}01`)
      await hand.pick(hand.page.getByLabel(words.to), today)
      await hand.look('exports')
      const download = hand.page.waitForEvent('download')
      await hand.press(
        hand.page.getByRole('link', { name: `${words.download}: ${words.names.journal}` }),
      )
      const text = await readFile((await (await download).path()) ?? '', 'utf8')
      stated('the journal has entries', text.split('\n').length > 20)
    },
  },
]
