import fc from 'fast-check'
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
  invoice('dear', 5000),
  invoice('older', 200),
  invoice('oldest', 100),
]

test.each([
  ['mine', 5300],
  ['oldest', 0],
  ['of another page', 0],
])('before the order %s older ones take %i', (id, due) => {
  expect(olderDue(invoices, id)).toBe(due)
})

/** As the server pays: the oldest first, and what the wallet is short for is left out. */
function pays(amounts: readonly number[], money: number): boolean[] {
  let left = money
  return amounts.map((amount) => {
    if (amount > left) return false
    left -= amount
    return true
  })
}

test('is enough for this order, however much more is topped up', () => {
  fc.assert(
    fc.property(
      fc.array(fc.nat(40), { maxLength: 6 }),
      fc.integer({ min: 1, max: 40 }),
      fc.nat(100),
      (a, due, more) => {
        const list = [invoice('mine', due), ...a.map((amount, n) => invoice(`of ${n}`, amount))]
        const needed = due + olderDue(list, 'mine')
        expect(pays([...a.toReversed(), due], needed + more).at(-1)).toBe(true)
      },
    ),
  )
})
