import type { Mend } from './mend.ts'

export const money: readonly Mend[] = [
  {
    finding: 'F1',
    edits: [
      {
        file: 'server/billing/payment.ts',
        mended:
          "  if (locked.invoice.lapses_at && locked.invoice.lapses_at <= now) return 'settled'\n",
        without: '',
      },
    ],
  },
  {
    // A renewal that is paid only after its month was over.
    finding: 'F2',
    edits: [
      {
        file: 'server/billing/payment.ts',
        mended: `  if (stoodStill && invoice.period_end && invoice.period_end <= now)
    return await renewAnew(
      context,
      tx,
      invoice,
      beginningNow(context.catalog, invoice.region_code, now),
    )
`,
        without: '',
      },
      {
        file: 'server/billing/payment.ts',
        mended: 'invoice.id === row.invoice_id',
        without: 'invoice.period_end > context.clock.now()',
      },
      {
        file: 'server/billing/payment.ts',
        mended: 'row.region_code, invoice.period_start)',
        without: 'row.region_code, context.clock.now())',
      },
    ],
  },
  {
    // An order: its invoice kept the month in which it was placed.
    finding: 'F3',
    edits: [
      {
        file: 'server/billing/payment.ts',
        mended: '    await datedFromNow(tx, invoice.id, start, end)\n',
        without: '',
      },
    ],
  },
  {
    // A first period began with the payment only if it was already over.
    finding: 'F3',
    edits: [
      {
        file: 'server/billing/payment.ts',
        mended: '      ...beginningNow(context.catalog, row.region_code, now),\n',
        without: `      ...(row.period_end <= now
        ? beginningNow(context.catalog, row.region_code, now)
        : { next_at: row.period_end }),
`,
      },
    ],
  },
  {
    finding: 'F4',
    edits: [
      {
        file: 'server/billing/subscriptions.ts',
        mended: 'await creditWhole(context, tx, invoice, reason)',
        without: `await context.ledger.refund(tx, {
      key: ['invoice', invoice.id, 'refund'].join(':'),
      customerId: invoice.customer_id,
      product: invoice.product,
      amount: invoice.amount_paid,
      currency: invoice.currency as Currency,
      details: { invoice: invoice.number, reason },
      paidAt: invoice.paid_at ?? invoice.created_at,
    })`,
      },
    ],
  },
  {
    finding: 'F5',
    edits: [
      {
        file: 'server/billing/credit-notes.ts',
        mended: '        corrects: invoice.id,\n',
        without: '',
      },
      {
        file: 'server/migrations/0038_credit_notes.sql',
        mended: "  raise exception 'the credit note % corrects no invoice', new.id;",
        without: '  return new;',
      },
    ],
  },
  {
    finding: 'F6',
    edits: [
      {
        file: 'server/billing/subscriptions.ts',
        mended: 'if (totalOf(lines) === 0n) {',
        without: 'if (false) {',
      },
      {
        file: 'server/billing/issue.ts',
        mended: "  if (total === 0n) throw new Error('no document has a total of zero')\n",
        without: '',
      },
      {
        file: 'server/migrations/0037_orders_that_lapse.sql',
        mended: "  raise exception 'invoice % has a total of zero', new.id;",
        without: '  return new;',
      },
    ],
  },
  {
    finding: 'F7',
    edits: [
      {
        file: 'server/billing/prospects.ts',
        mended: '  if (offer.price <= agreed.price)\n',
        without: '',
      },
    ],
  },
  {
    finding: 'F8',
    edits: [
      {
        file: 'server/payments/letters.ts',
        mended: '    else await deps.mail(tx, customer.email, letter.subject, letter.text)\n',
        without: '',
      },
    ],
  },
  {
    finding: 'F8',
    guard: 'server/billing/renewals.test.ts',
    edits: [
      {
        file: 'server/billing/receipts.ts',
        mended: '  const { language, email } = of.customer\n',
        without: '  return\n  const { language, email } = of.customer\n',
      },
    ],
  },
  {
    finding: 'F9',
    edits: [
      {
        file: 'server/payments/checkout.ts',
        mended: "Promise<Shown['held']> {\n",
        without: "Promise<Shown['held']> {\n    if (payment.status === 'succeeded') return null\n",
      },
    ],
  },
  {
    finding: 'F10',
    edits: [
      {
        file: 'server/wordpress/align.ts',
        mended: '    await startBefore(deps, known.id)\n',
        without: '',
      },
    ],
  },
  {
    finding: 'Chargeback debts',
    edits: [
      {
        file: 'server/wallet/set-off.ts',
        mended: "outcome.outcome === 'posted' ? await setOff(tx, of, since) : 0n",
        without: '0n',
      },
    ],
  },
  {
    // A renewal that the wallet could not pay charged no card.
    finding: 'Automatic top-up',
    title: 'a renewal that failed is paid by it',
    edits: [
      {
        file: 'server/payments/auto-top-up-run.ts',
        mended: 'balance >= rule.below && balance >= due',
        without: 'balance >= rule.below',
      },
    ],
  },
  {
    // A card could be charged again and again.
    finding: 'Automatic top-up',
    title: 'a pause follows; the month’s limit is told once',
    edits: [
      {
        file: 'server/payments/auto-top-up-run.ts',
        mended: ' || (await isPausing(tx, customerId))',
        without: '',
      },
    ],
  },
  {
    // A charge whose answer was lost could be made again.
    finding: 'Automatic top-up',
    guard: 'server/payments/auto-top-up-faults.test.ts',
    title: 'a charge whose answer is lost is under way, and spent',
    edits: [
      {
        file: 'server/payments/auto-top-up-run.ts',
        mended: '    if (underWay !== undefined) return underWay\n',
        without: '    if (underWay) return underWay\n',
      },
      {
        file: 'server/payments/auto-top-up-month.ts',
        mended: "['under_way', 'succeeded']",
        without: "['succeeded']",
      },
    ],
  },
]
