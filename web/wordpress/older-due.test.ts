import { expect, test } from 'vitest'
import type { Invoice } from '../../contract/billing.ts'
import { olderDue } from './older-due.ts'

const invoice = (id: string, amount_due: number, status: Invoice['status'] = 'open') =>
  ({ id, amount_due, status }) as Invoice
/** Newest first. */
const invoices = [
  invoice('newer', 700),
  invoice('mine', 300),
  invoice('paid', 0, 'paid'),
  invoice('lapsed', 50, 'void'),
  invoice('older', 200),
  invoice('oldest', 100),
]

test.each([
  ['mine', 300],
  ['oldest', 0],
  ['newer', 600],
  ['of another page', 0],
])('before the order %s a top-up pays %i', (id, due) => {
  expect(olderDue(invoices, id)).toBe(due)
})
