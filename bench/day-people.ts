/** Tasks about people: tickets, data requests, colleagues, and the trail. */
import { settled } from '../test/e2e/browser.ts'
import { eventually } from '../test/portal.ts'
import { named, stated, type Task } from './day-task.ts'

export const peopleTasks: readonly Task[] = [
  {
    name: 'Answer a ticket by a canned answer, take it over',
    role: 'support',
    async does({ t, provider }, hand) {
      const words = t.tickets
      await hand.goTo(t.nav.tickets)
      await hand.look('tickets')
      await hand.press(hand.page.getByRole('link', { name: /Trang web chạy chậm/ }))
      await settled(hand.page)
      await hand.choose(
        hand.page.getByRole('combobox', { name: words.assignee }),
        provider.staff.support.name,
      )
      await hand.choose(hand.page.getByLabel(words.canned), 'Đang kiểm tra máy chủ')
      await hand.look('ticket')
      await hand.press(hand.page.getByRole('button', { name: words.send, exact: true }))
      await hand.page
        .getByRole('listitem')
        .filter({ hasText: `Chào ${provider.customers.hoa.name}` })
        .waitFor()
      await hand.sees(words.states.answered)
      await hand.look('ticket-answered')
    },
    async proof({ provider: { portal, customers } }) {
      await eventually('the letter', async () =>
        (await portal.inbox(customers.hoa.email)).some(({ text }) =>
          text.includes('chúng tôi đang kiểm tra'),
        ),
      )
    },
  },
  {
    name: 'Answer a request about personal data',
    role: 'support',
    async does({ t }, hand) {
      await hand.goTo(t.privacy.nav)
      await hand.look('data-requests')
      await hand.act(
        named(t, 'privacy.done'),
        [[t.fields.toldWhy, 'Bản sao dữ liệu có trong mục Tài khoản, Dữ liệu của bạn.']],
        'data-request-met',
      )
      await hand.sees(t.privacy.empty.open)
    },
    async proof({ provider: { portal, customers } }) {
      const { body } = await portal.call<{ state: string }[]>(
        'GET',
        '/api/v1/account/data-requests',
        { token: customers.mai.token },
      )
      stated('it was met', body.result[0]?.state === 'done')
    },
  },
  {
    name: 'Invite a member, and change the role of another',
    role: 'owner',
    async does({ t, provider }, hand) {
      await hand.goTo(t.nav.staff)
      await hand.press(hand.page.getByRole('button', { name: t.staff.invite, exact: true }))
      await hand.fillIn(
        named(t, 'staff.invite'),
        [
          [t.fields.name, 'Tạ Quỳnh Anh'],
          [t.fields.email, 'anh@letspanel.example'],
          [t.fields.role, t.roles.support],
          [t.fields.reason, 'Nhân viên mới từ tháng 12'],
        ],
        'invite',
      )
      await hand.sees('anh@letspanel.example')
      const row = hand.page
        .getByRole('listitem')
        .filter({ hasText: provider.staff.secondFinance.email })
      await hand.press(row.getByRole('button', { name: named(t, 'staff.change'), exact: true }))
      await hand.fillIn(
        named(t, 'staff.change'),
        [
          [t.fields.role, t.roles.read_only],
          [t.fields.reason, 'Chuyển sang kiểm toán nội bộ'],
        ],
        'staff-change',
      )
      await row.getByText(t.roles.read_only).waitFor()
      await hand.look('staff')
    },
  },
  {
    name: 'Read the trail, and verify it',
    role: 'owner',
    async does({ t, provider }, hand) {
      await hand.goTo(t.nav.trail)
      await hand.press(hand.page.getByRole('button', { name: t.trail.verify }))
      await hand.page.getByRole('alert').filter({ hasText: t.trail.head }).waitFor()
      const verified = await provider.staff.owner.call<{ acts: number; findings: unknown[] }>(
        'GET',
        '/api/operator/trail/verification',
      )
      stated('the chain is whole', verified.body.result.findings.length === 0)
      const { acts } = verified.body.result
      await hand.sees(t.trail.whole(acts))
      await hand.page.getByText(`${acts} · `).first().waitFor()
      await hand.look('trail')
    },
    proof: ({ provider }) => provider.portal.ledgerHolds(),
  },
]
