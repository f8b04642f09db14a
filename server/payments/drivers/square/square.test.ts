/**
 * Square's words, read. Signature: https://developer.squareup.com/docs/webhooks/step3validate
 * (base64 of HMAC-SHA256 over the notification URL and the raw body); the vendor's own SDK (square
 * 46.0.0, WebhooksHelper.verifySignature) accepts the vector.
 */
import { createHmac } from 'node:crypto'
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { ForgedWebhook, type PaymentOrder } from '../../driver.ts'
import { createSquare } from './index.ts'
import { settings } from './settings.ts'

const webhookUrl = 'https://portal.example.com/api/webhooks/square'
const driver = createSquare(
  settings.parse({
    accessToken: 'T',
    applicationId: 'A',
    locationId: 'L',
    webhookKey: 'SIGKEY',
    apiUrl: 'http://127.0.0.1:9',
  }),
  { webhookUrl },
)
const read = (body: string, signature?: string) =>
  driver.readWebhook({
    method: 'POST',
    headers: {
      'x-square-hmacsha256-signature':
        signature ??
        createHmac('sha256', 'SIGKEY')
          .update(webhookUrl + body)
          .digest('base64'),
    },
    query: new URLSearchParams(),
    rawBody: Buffer.from(body),
  })
const webhookEvent = (type: string, object: object) =>
  read(
    JSON.stringify({
      merchant_id: 'M1',
      type,
      event_id: 'e1',
      data: { type: 'x', id: 'x', object },
    }),
  )

test('takes the known signature over its own address, and nothing else', () => {
  const body =
    '{"merchant_id":"M1","type":"labor.updated","event_id":"e1","data":{"type":"payment","id":' +
    '"pay_0"}}'
  const vectorBody =
    '{"merchant_id":"M1","type":"payment.updated","event_id":"e1","data":{"type":"payment","id' +
    '":"pay_0"}}'
  const vector = 'q0YqZcFXlteGpWKG+8Ag+3BvQGAth/7DdqEUY2dHD5A='
  expect(
    createHmac('sha256', 'SIGKEY')
      .update(webhookUrl + vectorBody)
      .digest('base64'),
  ).toBe(vector)
  expect(read(body)).toBeNull()
  expect(() => read(body, vector)).toThrow(ForgedWebhook)
  expect(() => read(body, '')).toThrow(ForgedWebhook)
})

test('an event about a payment is a hint, and one without our reference is none of ours', () => {
  const payment = {
    id: 'p1',
    status: 'COMPLETED',
    amount_money: { amount: 1, currency: 'AUD' },
    created_at: '2026-11-21T00:00:00Z',
  }
  expect(
    webhookEvent('payment.updated', { payment: { ...payment, reference_id: 'CODE' } }),
  ).toEqual({
    ask: true,
    eventId: 'e1',
    reference: 'CODE',
  })
  expect(webhookEvent('payment.updated', { payment })).toBeNull()
})

test.each([
  ['PENDING', undefined],
  ['COMPLETED', 'refunded'],
  ['FAILED', 'restored'],
  ['REJECTED', 'restored'],
])('a refund that is %s: %s', (status, expected) => {
  const refund = {
    id: 'r1',
    status,
    payment_id: 'p1',
    amount_money: { amount: 500, currency: 'AUD' },
    created_at: '2026-11-21T00:00:00Z',
    reason: 'Asked for (0123abc)',
  }
  const event = webhookEvent('refund.updated', { refund })
  if (expected === undefined) expect(event).toBeNull()
  else
    expect(event).toMatchObject({
      status: expected,
      paymentRef: 'p1',
      providerTransactionId: 'r1',
      amount: 500n,
      refundId: '0123abc',
    })
})

test.each([
  [500, '{}'],
  [503, ''],
  [408, ''],
  [409, '{"errors":[{"code":"CONFLICT"}]}'],
  [200, 'no JSON'],
])('a refund that is answered with %i %s may have been made', async (status, text) => {
  const server = http.createServer((request, response) => {
    const isRefund = request.method === 'POST'
    const payment = {
      id: 'p1',
      status: 'COMPLETED',
      amount_money: { amount: 500, currency: 'AUD' },
    }
    response.writeHead(isRefund ? status : 200, { 'content-type': 'application/json' })
    const found = { payment: { ...payment, created_at: '2026-11-21T00:00:00Z' } }
    response.end(isRefund ? text : JSON.stringify(found))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  const { port } = server.address() as AddressInfo
  const square = createSquare(
    settings.parse({
      accessToken: 'T',
      applicationId: 'A',
      locationId: 'L',
      webhookKey: 'SIGKEY',
      apiUrl: `http://127.0.0.1:${port}`,
    }),
    { webhookUrl },
  )
  const order = {
    reference: 'CODE',
    amount: 500n,
    currency: 'AUD',
    createdAt: new Date(),
    providerRef: 'p1',
  } as PaymentOrder
  const asked = { refundId: '0123abc', amount: 500n, reason: 'why', providerTransactionId: 'p1' }
  await expect(square.refund?.(order, asked)).rejects.toMatchObject({ kind: 'unclear' })
})

test.each([
  ['INQUIRY_PROCESSING', undefined],
  ['EVIDENCE_REQUIRED', 'reversed'],
  ['LOST', 'reversed'],
  ['WON', 'restored'],
])('a dispute that is %s: %s', (state, expected) => {
  const dispute = {
    id: 'd1',
    state,
    amount_money: { amount: 500, currency: 'AUD' },
    disputed_payment: { payment_id: 'p1' },
  }
  const event = webhookEvent('dispute.state.updated', { dispute })
  // It moves no money: we query the dispute's state.
  if (expected === undefined) expect(event).toEqual({ dispute: 'd1', eventId: 'e1' })
  else
    expect(event).toMatchObject({
      status: expected,
      paymentRef: 'p1',
      providerTransactionId: 'd1',
      amount: 500n,
    })
})
