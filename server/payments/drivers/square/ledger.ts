/**
 * Disputes and pay-outs of Square: https://developer.squareup.com/reference/square/disputes-api,
 * https://developer.squareup.com/reference/square/payouts-api
 */
import * as z from 'zod/mini'
import { DriverFailure, type DriverFailureKind } from '../../../platform/errors.ts'
import type { HttpCall } from '../../../platform/http-client.ts'
import type { DisputeCalls, GatewayDispute, GatewayPayout, PayoutLine } from '../../driver.ts'
import { errors, Money, read } from './wire.ts'

/**
 * Calls Square. `kind`: what a lost answer or a fault of Square's means; 'unclear' for a call after
 * which money may have gone, and `unavailable` without it, for every write may be repeated.
 */
export type Ask = (
  call: Pick<HttpCall, 'method' | 'json' | 'accept'> & {
    readonly path: string
    readonly kind?: DriverFailureKind
  },
) => Promise<{ readonly status: number; readonly body: unknown }>

const Dispute = z.object({
  id: z.string(),
  state: z.string(),
  reason: z.optional(z.string()),
  amount_money: Money,
  disputed_payment: z.object({ payment_id: z.string() }),
  created_at: z.string(),
  due_at: z.optional(z.string()),
})
const cursor = z.optional(z.string())
const Payout = z.object({
  id: z.string(),
  status: z.string(),
  amount_money: Money,
  created_at: z.string(),
  arrival_date: z.optional(z.string()),
  payout_fee: z.optional(z.array(z.object({ amount_money: Money }))),
})
const about = z.optional(
  z.object({
    payment_id: z.optional(z.string()),
    refund_id: z.optional(z.string()),
    dispute_id: z.optional(z.string()),
  }),
)
const Entry = z.object({
  id: z.string(),
  type: z.string(),
  gross_amount_money: Money,
  net_amount_money: Money,
  type_charge_details: about,
  type_refund_details: about,
  type_dispute_details: about,
  type_open_dispute_details: about,
})

const states: Readonly<Record<string, GatewayDispute['state']>> = {
  INQUIRY_EVIDENCE_REQUIRED: 'needs_evidence',
  INQUIRY_PROCESSING: 'under_review',
  INQUIRY_CLOSED: 'closed',
  EVIDENCE_REQUIRED: 'needs_evidence',
  PROCESSING: 'under_review',
  WON: 'won',
  LOST: 'lost',
  ACCEPTED: 'lost',
}
function moneyOf(state: string): GatewayDispute['money'] {
  if (state.startsWith('INQUIRY_')) return 'kept'
  return state === 'WON' ? 'returned' : 'taken'
}

/** Undefined: the dispute cannot be about a payment of ours. */
function disputeOf(dispute: z.output<typeof Dispute>): GatewayDispute | undefined {
  const state = states[dispute.state]
  if (state === undefined || dispute.amount_money.currency !== 'AUD') return undefined
  return {
    id: dispute.id,
    paymentRef: dispute.disputed_payment.payment_id,
    state,
    isInquiry: dispute.state.startsWith('INQUIRY_'),
    amount: BigInt(dispute.amount_money.amount),
    currency: 'AUD',
    reason: dispute.reason ?? '',
    openedAt: new Date(dispute.created_at),
    evidenceDueAt: dispute.due_at === undefined ? null : new Date(dispute.due_at),
    fee: null,
    money: moneyOf(dispute.state),
  }
}

export function disputesOf(ask: Ask): DisputeCalls {
  const pathOf = (id: string): string => `/v2/disputes/${encodeURIComponent(id)}`
  async function get(id: string): Promise<GatewayDispute | null> {
    const { status, body } = await ask({ method: 'GET', path: pathOf(id), accept: [404] })
    if (status === 404) return null
    return disputeOf(read(z.object({ dispute: Dispute }), body).dispute) ?? null
  }
  /** Square refuses a repeated act because the dispute has moved on: the act was done before. */
  async function act(id: string, path: string): Promise<GatewayDispute> {
    const { status, body } = await ask({
      method: 'POST',
      path: `${pathOf(id)}/${path}`,
      json: {},
      accept: [400],
    })
    const now = await get(id)
    if (now && (status === 200 || now.state !== 'needs_evidence')) return now
    const [error] = status === 400 ? errors(body) : []
    throw new DriverFailure('rejected', `square: ${path} answered ${status} ${error?.code ?? ''}`)
  }
  return {
    longestText: 500,
    get,
    async list(since) {
      const found: GatewayDispute[] = []
      let after: string | undefined
      for (;;) {
        const query = after === undefined ? '' : `?${new URLSearchParams({ cursor: after })}`
        const { body } = await ask({ method: 'GET', path: `/v2/disputes${query}` })
        const page = read(z.object({ disputes: z._default(z.array(Dispute), []), cursor }), body)
        found.push(...page.disputes.flatMap((dispute) => disputeOf(dispute) ?? []))
        after = page.cursor
        if (after === undefined) return found.filter(({ openedAt }) => openedAt >= since)
      }
    },
    async submit(id, { answerId, text }) {
      const { status, body } = await ask({
        method: 'POST',
        path: `${pathOf(id)}/evidence-text`,
        json: {
          idempotency_key: answerId,
          evidence_type: 'GENERIC_EVIDENCE',
          evidence_text: text,
        },
        accept: [400],
      })
      const now = status === 200 ? null : await get(id)
      if (now && now.state !== 'needs_evidence') return now
      if (status !== 200)
        throw new DriverFailure('rejected', `square: evidence ${errors(body)[0]?.code ?? ''}`)
      return await act(id, 'submit-evidence')
    },
    accept: (id) => act(id, 'accept'),
  }
}

const statuses: Readonly<Record<string, GatewayPayout['status']>> = {
  SENT: 'on_its_way',
  PAID: 'paid',
  FAILED: 'failed',
}
const feeTypes = new Set(['FEE', 'TAX_ON_FEE', 'PROCESSING_FEE', 'THIRD_PARTY_FEE', 'DEPOSIT_FEE'])

function lineOf(entry: z.output<typeof Entry>): PayoutLine {
  const amount = BigInt(entry.gross_amount_money.amount)
  // The difference between gross and net is the fee, independent of the sign that Square gives the
  // fee.
  const line = { id: entry.id, amount, fee: amount - BigInt(entry.net_amount_money.amount) }
  if (entry.type === 'CHARGE')
    return { ...line, kind: 'payment', movement: entry.type_charge_details?.payment_id ?? null }
  if (entry.type === 'REFUND')
    return { ...line, kind: 'refund', movement: entry.type_refund_details?.refund_id ?? null }
  const disputed = entry.type_dispute_details ?? entry.type_open_dispute_details
  if (entry.type === 'DISPUTE' || entry.type === 'OPEN_DISPUTE')
    return {
      ...line,
      kind: amount < 0n ? 'dispute' : 'dispute_won',
      movement: disputed?.dispute_id ?? null,
    }
  return { ...line, kind: feeTypes.has(entry.type) ? 'fee' : 'other', movement: null }
}

export async function payoutsSince(
  ask: Ask,
  locationId: string,
  since: Date,
): Promise<GatewayPayout[]> {
  const pages = async <T>(
    path: string,
    query: object,
    read_: (body: unknown) => {
      readonly rows: readonly T[]
      readonly cursor?: string | undefined
    },
  ): Promise<T[]> => {
    const all: T[] = []
    let after: string | undefined
    for (;;) {
      const asked = new URLSearchParams({ ...query, ...(after !== undefined && { cursor: after }) })
      const page = read_((await ask({ method: 'GET', path: `${path}?${asked}` })).body)
      all.push(...page.rows)
      after = page.cursor
      if (after === undefined) return all
    }
  }
  const payouts = await pages(
    '/v2/payouts',
    { location_id: locationId, begin_time: since.toISOString() },
    (body) => {
      const page = read(z.object({ payouts: z._default(z.array(Payout), []), cursor }), body)
      return { rows: page.payouts, cursor: page.cursor }
    },
  )
  const found: GatewayPayout[] = []
  for (const payout of payouts) {
    if (payout.amount_money.currency !== 'AUD') continue
    const entries = await pages(`/v2/payouts/${payout.id}/payout-entries`, {}, (body) => {
      const page = read(z.object({ payout_entries: z._default(z.array(Entry), []), cursor }), body)
      return { rows: page.payout_entries, cursor: page.cursor }
    })
    const ownFees = (payout.payout_fee ?? []).map(({ amount_money: fee }, index) => ({
      id: `${payout.id}:fee:${index}`,
      kind: 'fee' as const,
      amount: -BigInt(fee.amount),
      fee: 0n,
      movement: null,
    }))
    found.push({
      id: payout.id,
      currency: 'AUD',
      amount: BigInt(payout.amount_money.amount),
      status: statuses[payout.status] ?? 'on_its_way',
      arrivesAt: new Date(payout.arrival_date ?? payout.created_at),
      lines: [...entries.map(lineOf), ...ownFees],
    })
  }
  return found
}
