/** Tasks about selling: prices, and status notices. */
import { settled } from '../test/e2e/browser.ts'
import { eventually } from '../test/portal.ts'
import { named, stated, type Day, type Task } from './day-task.ts'

const notices = async ({ provider }: Day) =>
  (await provider.staff.owner.call<{ kind: string; when: string }[]>('GET', '/api/operator/status'))
    .body.result
const bodyOf = async ({ provider }: Day): Promise<number> =>
  (await provider.portal.call('GET', '/api/wp', { token: provider.customers.hoa.token })).status

export const sellingTasks: readonly Task[] = [
  {
    name: 'Raise a price: look at it, publish it, undo it',
    role: 'finance',
    async does(day, hand) {
      const { t } = day
      const words = t.catalog
      await hand.goTo(t.nav.catalog)
      await hand.look('catalog')
      await hand.press(hand.page.getByRole('button', { name: words.edit, exact: true }))
      await settled(hand.page)
      const plan = hand.page
        .locator('section')
        .filter({ has: hand.page.getByRole('heading', { name: 'BASIC-1', exact: true }) })
      await hand.type(plan.getByLabel(`${words.fields['price']} VND`, { exact: true }), '105000')
      await hand.look('catalog-edit')
      await hand.press(hand.page.getByRole('button', { name: words.editor.look }).first())
      await hand.sees(words.preview.prices)
      await settled(hand.page)
      await hand.look('catalog-preview')
      await hand.press(hand.page.getByRole('button', { name: words.preview.publish, exact: true }))
      await hand.fillIn(
        named(t, 'catalog.publish'),
        [[t.fields.reason, 'Giá điện tăng từ mùa xuân']],
        'catalog-publish',
      )
      await hand.sees('Giá điện tăng từ mùa xuân')
      await hand.look('catalog-published')
      await hand.press(hand.page.getByRole('button', { name: words.sellAgain }).first())
      await settled(hand.page)
      await hand.look('catalog-undo')
      await hand.press(hand.page.getByRole('button', { name: words.preview.publish, exact: true }))
      await hand.fillIn(named(t, 'catalog.publish'), [[t.fields.reason, 'Lùi lại đến quý sau']])
      await hand.sees(words.restores(1))
    },
  },
  {
    name: 'Announce, and put maintenance on and off',
    role: 'operations',
    async does(day, hand) {
      const { t } = day
      const both = (title: string, titleVi: string, text: string, textVi: string) =>
        [
          [t.fields.titleEn, title],
          [t.fields.titleVi, titleVi],
          [t.fields.textEn, text],
          [t.fields.textVi, textVi],
        ] as const
      await hand.goTo(t.nav.status)
      await hand.look('status-empty')
      await hand.act(
        named(t, 'status.publish'),
        [
          [t.fields.kind, t.status.kinds.announcement],
          ...both(
            'Support on Sundays',
            'Hỗ trợ cả Chủ nhật',
            'From December we answer on Sundays, too.',
            'Từ tháng 12, chúng tôi trả lời cả Chủ nhật.',
          ),
          [t.fields.reason, 'Quyết định của ban giám đốc'],
        ],
        'announce',
      )
      await hand.act(named(t, 'status.publish'), [
        [t.fields.kind, t.status.kinds.maintenance],
        ...both(
          'New database',
          'Cơ sở dữ liệu mới',
          'We move to a faster machine.',
          'Chúng tôi chuyển sang máy nhanh hơn.',
        ),
        [t.fields.closes, t.yes],
        [t.fields.reason, 'Theo kế hoạch'],
      ])
      const maintenance = hand.page
        .getByRole('listitem')
        .filter({ hasText: t.status.kinds.maintenance })
      await maintenance.getByText(t.status.closes).waitFor()
      await hand.look('status')
      await eventually('calls are refused', async () => (await bodyOf(day)) === 503)
      await hand.press(
        maintenance.getByRole('button', { name: named(t, 'status.end'), exact: true }),
      )
      await hand.fillIn(named(t, 'status.end'), [[t.fields.reason, 'Đã chuyển xong']], 'status-end')
      await maintenance.getByText(`· ${t.status.whens.past}`).waitFor()
    },
    async proof(day) {
      const now = (await notices(day)).filter(({ when }) => when === 'now')
      stated('only the announcement stands', now.length === 1 && now[0]?.kind === 'announcement')
      await eventually('the portal is open', async () => (await bodyOf(day)) === 200)
    },
  },
]
