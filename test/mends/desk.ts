/** Mends of the desk's lists of work, and of coupons. */
import type { Mend } from './mend.ts'

const coupons = { finding: 'Coupons', guard: 'server/billing/coupons.test.ts' }
const finding = 'Stuck orders, lost letters and webhooks'

export const desk: readonly Mend[] = [
  {
    ...coupons,
    title: 'of a month that is cancelled is a share of what was paid',
    edits: [
      {
        file: 'server/billing/subscriptions.ts',
        mended: 'const off = await takenOff(db, row.invoice_id)',
        without: 'const off = (await takenOff(db, row.invoice_id)) * 0n',
      },
    ],
  },
  {
    ...coupons,
    title: 'with one use left is had by one of ten orders at once',
    edits: [
      {
        file: 'server/billing/coupons.ts',
        mended: 'await byCode(tx, of.code).forUpdate().executeTakeFirst()',
        without: 'await byCode(tx, of.code).executeTakeFirst()',
      },
    ],
  },
  {
    ...coupons,
    title: 'of an unpaid order is the use, when it lapses or is deleted',
    edits: [
      {
        file: 'server/billing/orders.ts',
        mended: '      await giveBackCoupons(tx, [invoice.id])\n',
        without: '      await giveBackCoupons(tx, [])\n',
      },
    ],
  },
  {
    finding: 'One member could give',
    guard: 'server/operator/money.test.ts',
    title: 'is needed for what one member gives to many',
    edits: [
      {
        file: 'server/operator/second-member.ts',
        mended: 'return share > parts',
        without: 'return share < 0n',
      },
    ],
  },
  {
    finding,
    guard: 'server/operator/lost-letters.test.ts',
    title: 'that was given up is sent again from what is kept',
    edits: [
      {
        file: 'server/messages/again.ts',
        mended: ".where('resent_of', '=', id)",
        without: ".where('resent_of', 'is', null)",
      },
    ],
  },
  {
    finding,
    guard: 'server/operator/lists.test.ts',
    title: 'is shown without secrets',
    edits: [
      {
        file: 'server/payments/notice-desk.ts',
        mended: 'if (secretName.test(name) && ',
        without: "if (name === '' && secretName.test(name) && ",
      },
    ],
  },
]
