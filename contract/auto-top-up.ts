/** Automatic top-up: a linked card is charged without its owner being asked (decision 136). */
import * as z from 'zod/mini'
import { endpoint } from './endpoint.ts'
import { currency, minor } from './money.ts'
import { declineReasons, topUpAmount } from './payments.ts'

/** Automatic top-up covers renewals that fall due within this many days. */
export const daysAhead = 3
/** This many declines in a row switch automatic top-up off. */
export const declinesAllowed = 3

/** The largest monthly limit and the largest `below` that are accepted, minor units. */
const mostOfMonth = 1_000_000_000_000
const monthLow = {
  en: 'The limit of a month must be at least the amount of one top-up.',
  vi: 'Hạn mức mỗi tháng phải ít nhất bằng số tiền một lần nạp.',
}
const consentMissing = {
  en: 'Agree that the card is charged without asking you each time.',
  vi: 'Hãy đồng ý cho phép tự động trừ tiền từ thẻ.',
}

/** The rule that the owner asks for; amounts are minor units of the wallet's currency. */
export const AutoTopUpWish = z
  .strictObject({
    /** A balance below this is topped up. With 0, top-ups only cover renewals. */
    below: z.int().check(z.gte(0), z.lte(mostOfMonth)),
    amount: topUpAmount,
    monthLimit: topUpAmount.check(z.lte(mostOfMonth)),
    cardId: z.string().check(z.minLength(1), z.maxLength(255)),
    /** True: the owner agrees that the card is charged without being asked each time. */
    consent: z.boolean().check(z.refine((given) => given, { params: consentMissing })),
  })
  .check(
    z.refine(({ amount, monthLimit }) => monthLimit >= amount, {
      path: ['monthLimit'],
      params: monthLow,
    }),
  )

/** Why the portal switched automatic top-up off. */
export const offReasons = ['declined', 'card_gone', 'disputed', 'region'] as const
export type OffReason = (typeof offReasons)[number]

export const AutoTopUp = z.object({
  currency,
  /** Smallest and largest amount of one payment. */
  min: minor,
  max: minor,
  /** Null: never switched on, or switched off by its owner. */
  rule: z.nullable(
    z.object({
      below: minor,
      amount: minor,
      monthLimit: minor,
      card: z.object({ id: z.string(), brand: z.string(), last4: z.string() }),
      consentedAt: z.string(),
      /** After a decline: when the card is tried again. */
      nextTryAt: z.nullable(z.string()),
      /** Null while automatic top-up is on. */
      off: z.nullable(z.object({ at: z.string(), reason: z.enum(offReasons) })),
    }),
  ),
  /** Charged or under way in this calendar month of the account's region. */
  spent: minor,
  /** The last automatic payment. */
  last: z.nullable(
    z.object({
      transactionCode: z.string(),
      amount: minor,
      state: z.enum(['under_way', 'succeeded', 'declined', 'needs_owner', 'not_charged']),
      at: z.string(),
      /** For a declined payment: the bank's reason; null where the bank gives none. */
      reason: z.nullable(z.enum(declineReasons)),
    }),
  ),
})
export type AutoTopUp = z.output<typeof AutoTopUp>

const path = '/api/payments/auto-top-up'

export const getAutoTopUp = endpoint({
  method: 'GET',
  path,
  access: 'customer',
  member: 'money:read',
  seen: true,
  summary: 'How automatic top-up is set, and how its last payment went',
  result: AutoTopUp,
})

export const setAutoTopUp = endpoint({
  method: 'PUT',
  path,
  access: 'customer',
  member: 'money:write',
  summary:
    'Have a linked card charged whenever the balance falls below an amount, or does not cover a ' +
    `renewal of the next ${daysAhead} days`,
  body: AutoTopUpWish,
  result: AutoTopUp,
})

export const stopAutoTopUp = endpoint({
  method: 'DELETE',
  path,
  access: 'customer',
  member: 'money:write',
  summary: 'Switch automatic top-up off',
  result: z.null(),
})
