import { expect, test } from 'vitest'
import type { EventName } from '../../contract/realtime.ts'
import { notificationTarget } from './notification-text.ts'

const wp = { id: 's1' }
const unpaid = (number: string | null, of: object | null = wp) => ({
  payment: {
    id: 'i1',
    number,
    amount_paid: 0,
    amount_due: 90_000,
    currency: 'VND',
    hosted_invoice_url: 'https://portal.example.com/invoice/hosted/tOk-en_1',
  },
  wp: of,
})
const target = (event: EventName, payload: Record<string, unknown>) =>
  notificationTarget({ event, payload })

test('an unpaid renewal leads to its invoice, and an unpaid order to the order', () => {
  const invoice = { to: '/invoice/hosted/$token', params: { token: 'tOk-en_1' } }
  expect(target('invoice.payment_failed', unpaid('VN-2026-000007'))).toEqual(invoice)
  expect(target('invoice.payment_failed', unpaid('VN-2026-000007', null))).toEqual(invoice)
  expect(target('invoice.payment_failed', unpaid(null))).toEqual({
    to: '/wordpress-progress/$id',
    params: { id: 's1' },
  })
  // A payload of before the link.
  expect(target('invoice.payment_failed', { wp })).toEqual({ to: '/invoice' })
})

test('what is told of a domain or of a subscription leads to the domain or the server', () => {
  expect(
    target('dns.status', { domain: { id: 'd1', name: 'a.example', status: 'moved' } }),
  ).toEqual({ to: '/dns/domain/$id', params: { id: 'd1' } })
  const server = { to: '/wordpress/$id', params: { id: 's1' } }
  expect(target('subscription.price_announced', { subscription: {}, wp })).toEqual(server)
  expect(target('subscription.updated', { subscription: {}, wp })).toEqual(server)
  expect(target('subscribe.create', { subscription: {}, wp })).toEqual(server)
  expect(target('subscription.updated', { subscription: {}, wp: null })).toBeUndefined()
  const taken = { hand_over: { kind: 'server', id: 's1', name: 'Shop' } }
  expect(target('hand_over.taken', taken)).toEqual(server)
  expect(target('hand_over.given', taken)).toBeUndefined()
})
