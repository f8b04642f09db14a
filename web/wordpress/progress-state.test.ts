import { expect, test } from 'vitest'
import type { Server } from '../../contract/wordpress.ts'
import { stageOf, stepOf } from './progress-state.ts'

const server = (status: Server['status'], due = 378_000) =>
  ({
    status,
    createdAt: '2026-11-21T05:00:00Z',
    invoice: {
      id: '1',
      number: 'VN-1',
      status: 'open',
      amount_paid: 0,
      amount_due: due,
      currency: 'VND',
      hosted_invoice_url: '',
    },
    reason: null,
  }) as Server

test('an order that the wallet covers is being paid, however long it waits', () =>
  expect(stageOf(server('pending_payment'), 378_000)).toBe('paying'))
test('too little money leads back to step 1', () => {
  expect(stageOf(server('pending_payment'), 100)).toBe('unpaid')
  expect(stepOf.unpaid).toBe(1)
})
test('once the invoice is paid the order goes on, whatever the balance', () =>
  expect(stageOf(server('pending_payment', 0), 0)).toBe('paying'))
test('an order that waits for room is not charged, and says so while the wallet covers it', () => {
  const full = { ...server('pending_payment'), reason: 'no room' }
  expect(stageOf(full, 500_000)).toBe('roomless')
  expect(stageOf(full, 100)).toBe('unpaid')
})
test('the server says the rest', () => {
  expect(stageOf(server('provisioning'), 0)).toBe('provisioning')
  expect(stepOf[stageOf(server('running'), 0)]).toBe(4)
})
