/**
 * Transfers to the provider's own account: our VietQR code and page for the customer, and a bank
 * feed (SePay or Casso) that reports what arrives. The customer types text and amount, so each
 * movement is credited with the amount that arrived, once per reference of the bank.
 */
import * as z from 'zod/mini'
import { callHttp, jsonOf } from '../../../platform/http-client.ts'
import { DriverFailure } from '../../../platform/errors.ts'
import { fromVietnam, inVietnam } from '../../../platform/vietnam-time.ts'
import {
  ForgedWebhook,
  type HostedDriver,
  type PaymentUpdate,
  type UpdateOutcome,
  type WebhookRequest,
  type PaymentOrder,
} from '../../driver.ts'
import { findTransferCode, transferCode } from './code.ts'
import { dong, readCasso, readSepay, type Movement } from './feeds.ts'
import { vietQr } from './qr.ts'
import type { BankSettings } from './settings.ts'

const List = z.object({
  transactions: z.array(
    z.object({
      id: z.union([z.int(), z.string()]),
      transaction_date: z.string(),
      account_number: z.string(),
      amount_in: z.union([z.number(), z.string()]),
      transaction_content: z.nullish(z.string()),
      reference_number: z.nullish(z.string()),
    }),
  ),
})
/** SePay lists at most this many movements per call. */
const listLimit = 5000
/**
 * Most lists that one query may fetch: a feed that ignores the requested span must not be asked for
 * ever.
 */
const maxLists = 64

type Row = z.output<typeof List>['transactions'][number]

/** The feed whose own number a movement has; undefined: it has the bank's reference. */
const feedOf = (movement: string): string | undefined => /^[^:]*:(sepay|casso):/.exec(movement)?.[1]

/** Opens the driver. It keeps no state and touches the network only when it asks SePay. */
export function createBank(settings: BankSettings) {
  const { accountNumber, sepaySecret, sepayToken, cassoSecret } = settings

  const updateOf = (movement: Movement): PaymentUpdate => ({
    eventId: movement.eventId,
    // Money on another account of the provider's is not this one's customers'.
    reference:
      movement.accountNumber === accountNumber ? (findTransferCode(movement.text) ?? null) : null,
    providerTransactionId: `${movement.accountNumber}:${movement.bankReference}`,
    status: 'succeeded',
    amount: movement.arrived,
    currency: 'VND',
    occurredAt: movement.at,
    detail: movement.bankReference,
  })

  /** Debits yield no update. */
  function arrivedOf(row: Row): PaymentUpdate[] {
    const arrived = dong(row.amount_in)
    if (arrived === undefined || arrived <= 0n) return []
    const eventId = `sepay:${row.id}`
    return [
      updateOf({
        eventId,
        bankReference: row.reference_number?.trim() || eventId,
        accountNumber: row.account_number,
        arrived,
        text: row.transaction_content ?? '',
        at: fromVietnam(row.transaction_date),
      }),
    ]
  }

  function readWebhook(request: WebhookRequest): PaymentUpdate | null {
    const now = new Date()
    const casso = request.headers['x-casso-signature'] !== undefined
    const secret = casso ? cassoSecret : sepaySecret
    if (secret === undefined) throw new ForgedWebhook('bank: no feed of this kind is expected')
    const movement = casso ? readCasso(request, secret, now) : readSepay(request, secret, now)
    return movement.arrived > 0n ? updateOf(movement) : null
  }

  /** Lists one span; both ends are included. SePay's times have a resolution of one second. */
  async function list(from: Date, to: Date): Promise<Row[]> {
    const url = new URL(`${settings.sepayUrl}/transactions/list`)
    url.searchParams.set('account_number', accountNumber)
    url.searchParams.set('transaction_date_min', inVietnam(from).replace('T', ' '))
    url.searchParams.set('transaction_date_max', inVietnam(to).replace('T', ' '))
    url.searchParams.set('limit', String(listLimit))
    const answer = await callHttp({
      peer: 'sepay',
      method: 'GET',
      url,
      headers: { authorization: `Bearer ${sepayToken ?? ''}` },
      timeoutMs: settings.timeoutMs,
      maxBytes: 8 * 1_048_576,
    })
    const read = List.safeParse(jsonOf(answer, 'sepay'))
    if (!read.success) throw new DriverFailure('unavailable', 'sepay: a list that cannot be read')
    return read.data.transactions
  }

  /** A full list may have left movements out: then each half of its span is fetched. */
  async function movements(span: { from: Date; to: Date }): Promise<PaymentUpdate[]> {
    const found = new Map<string, PaymentUpdate>()
    const open = [span]
    for (let asked = 0, next = open.pop(); next !== undefined; next = open.pop()) {
      if (++asked > maxLists)
        throw new DriverFailure('unavailable', 'sepay: more movements than its lists can show')
      const { from, to } = next
      const rows = await list(from, to)
      const middle = new Date((from.getTime() + to.getTime()) / 2)
      if (rows.length >= listLimit && to.getTime() - from.getTime() > 2000)
        open.push({ from, to: middle }, { from: middle, to })
      else
        for (const row of rows)
          for (const update of arrivedOf(row)) found.set(update.eventId, update)
    }
    return [...found.values()]
  }

  /** A bank knows no orders: it reports nothing about a payment until money for it arrives. */
  async function lookUp(order: PaymentOrder): Promise<PaymentUpdate | null> {
    if (sepayToken === undefined) return null
    const from = new Date(order.createdAt.getTime() - 60_000)
    const found = await movements({ from, to: new Date(Date.now() + 60_000) })
    return found.find((update) => update.reference === order.reference) ?? null
  }

  async function begin(order: PaymentOrder) {
    if (order.currency !== 'VND')
      throw new DriverFailure('rejected', `bank: takes VND, not ${order.currency}`)
    return { checkoutUrl: order.transferUrl, providerRef: null }
  }

  function instructions(order: PaymentOrder) {
    const { bankName, bankBin, accountName } = settings
    const qr = vietQr({
      bin: bankBin,
      account: accountNumber,
      amount: order.amount,
      content: order.reference,
    })
    const appUrl =
      settings.appUrl === undefined ? null : `${settings.appUrl}?qr=${encodeURIComponent(qr)}`
    return { bankName, bankBin, accountNumber, accountName, content: order.reference, qr, appUrl }
  }

  /**
   * Both feeds retry a webhook that was not answered with 2xx; a movement in suspense is stored and
   * needs no retry.
   */
  function answerTo(outcome: UpdateOutcome) {
    const ok = outcome !== 'forged' && outcome !== 'error'
    const refused = outcome === 'forged' ? 401 : 500
    return {
      status: ok ? 200 : refused,
      contentType: 'application/json; charset=utf-8',
      body: JSON.stringify({ success: ok }),
    }
  }

  // SePay tells by webhooks, by its list, or by both.
  const hasTwoFeeds =
    cassoSecret !== undefined && (sepaySecret !== undefined || sepayToken !== undefined)
  /**
   * Whether two numbers may name one transfer. One feed never reports a transfer under two numbers.
   * The bank's own reference is the same in both feeds. Two feeds' own numbers may name one
   * transfer, also where one feed replaced the other.
   */
  function mayBeOne(movement: string, other: string): boolean {
    const [one, two] = [feedOf(movement), feedOf(other)]
    if (one === two) return false
    return hasTwoFeeds || (one !== undefined && two !== undefined)
  }

  return {
    kind: 'hosted' as const,
    name: 'bank',
    displayName: settings.bankName,
    currencies: ['VND'] as const,
    channels: [''],
    credits: 'received' as const,
    referenceOf: transferCode,
    begin,
    instructions,
    readWebhook,
    answerTo,
    lookUp,
    movementOf: (reference: string) => `${accountNumber}:${reference}`,
    mayBeOne,
    ...(sepayToken !== undefined && { movements }),
  } satisfies HostedDriver
}
