/**
 * Pay-outs of Stripe and the balance transactions in them:
 * https://docs.stripe.com/api/balance_transactions
 */
import type Stripe from 'stripe'
import { DriverFailure } from '../../../platform/errors.ts'
import type { GatewayPayout, PayoutLine } from '../../driver.ts'
import { callStripe } from './failure.ts'
import { currencyOf, idOf, momentOf } from './wire.ts'

const pageSize = 100

/** Stripe's reporting categories that we have postings for; the others are `other`. */
const kinds: Readonly<Record<string, PayoutLine['kind']>> = {
  charge: 'payment',
  refund: 'refund',
  refund_failure: 'other',
  dispute: 'dispute',
  dispute_reversal: 'dispute_won',
  fee: 'fee',
}
const statuses: Readonly<Record<string, GatewayPayout['status']>> = {
  paid: 'paid',
  failed: 'failed',
  canceled: 'failed',
}

/** The id under which we know the movement: a payment by its intent, the others by their own. */
function movementOf({ source }: Stripe.BalanceTransaction): string | null {
  if (source === null || typeof source === 'string') return source
  return 'payment_intent' in source && source.object === 'charge'
    ? idOf(source.payment_intent as string | { readonly id: string } | null)
    : source.id
}

/** The amount of a movement in another currency than the account's, which Stripe changed. */
function convertedFrom(line: Stripe.BalanceTransaction): Pick<PayoutLine, 'converted'> {
  const { source, amount } = line
  if (source === null || typeof source === 'string') return {}
  if (!('currency' in source) || !('amount' in source)) return {}
  if (typeof source.currency !== 'string' || typeof source.amount !== 'number') return {}
  if (source.currency === line.currency) return {}
  const own = BigInt(Math.abs(source.amount)) * (amount < 0 ? -1n : 1n)
  return { converted: { amount: own, currency: currencyOf(source.currency) ?? null } }
}

/** All pages of a list. */
async function allOf<T extends { readonly id: string }>(
  page: (more: { limit: number; starting_after?: string }) => Promise<Stripe.ApiList<T>>,
): Promise<T[]> {
  const all: T[] = []
  for (;;) {
    const after = all.at(-1)?.id
    const { data, has_more: hasMore } = await callStripe(
      page({ limit: pageSize, ...(after !== undefined && { starting_after: after }) }),
    )
    all.push(...data)
    if (!hasMore || data.length === 0) return all
  }
}

/** Null: Stripe does not give the lines now. Other pay-outs go on without them. */
async function linesOf(stripe: Stripe, payout: Stripe.Payout): Promise<PayoutLine[] | null> {
  // Stripe does not list the contents of a pay-out that somebody made by hand.
  if (!payout.automatic) return []
  let transactions: Stripe.BalanceTransaction[]
  try {
    transactions = await allOf((more) =>
      stripe.balanceTransactions.list({ payout: payout.id, expand: ['data.source'], ...more }),
    )
  } catch (error) {
    if (error instanceof DriverFailure) return null
    throw error
  }
  return (
    transactions
      // The list contains the pay-out itself. A pay-out that came back is listed in a later one.
      .filter(({ type }) => type !== 'payout')
      .map((line) => ({
        id: line.id,
        kind: kinds[line.reporting_category] ?? 'other',
        amount: BigInt(line.amount),
        fee: BigInt(line.fee),
        movement: movementOf(line),
        ...convertedFrom(line),
      }))
  )
}

export async function payoutsSince(stripe: Stripe, since: Date): Promise<GatewayPayout[]> {
  const created = { gte: Math.floor(since.getTime() / 1000) }
  const payouts = await allOf((more) => stripe.payouts.list({ created, ...more }))
  const read: GatewayPayout[] = []
  for (const payout of payouts) {
    const currency = currencyOf(payout.currency)
    if (currency === undefined) continue
    read.push({
      id: payout.id,
      currency,
      amount: BigInt(payout.amount),
      status: statuses[payout.status] ?? 'on_its_way',
      arrivesAt: momentOf(payout.arrival_date),
      lines: await linesOf(stripe, payout),
    })
  }
  return read
}
