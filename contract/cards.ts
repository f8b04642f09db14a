/** Linked cards (contract.md section 3). The word stripe in the paths is only a name. */
import * as z from 'zod/mini'
import { endpoint, idParam, pageQuery } from './endpoint.ts'
import { topUpAmount } from './payments.ts'

export const cardSetup = endpoint({
  method: 'GET',
  path: '/api/v1/auth/card',
  access: 'customer',
  member: 'money:write',
  summary: "A SetupIntent's client secret, with which the browser links a card",
  result: z.object({ client_secret: z.string() }),
})

const methodId = z.string().check(z.minLength(1), z.maxLength(255))

export const Card = z.object({
  id: z.string(),
  card: z.object({ brand: z.string(), last4: z.string(), exp_month: z.int(), exp_year: z.int() }),
  default: z.boolean(),
})
export type Card = z.output<typeof Card>

export const listMethods = endpoint({
  method: 'GET',
  path: '/api/payments/stripe/methods',
  access: 'customer',
  member: 'money:read',
  seen: true,
  summary: 'The linked cards, the default first',
  query: z.object({ ...pageQuery }),
  result: z.array(Card),
  paged: true,
})

export const attachMethod = endpoint({
  method: 'PUT',
  path: '/api/payments/stripe/attach',
  access: 'customer',
  member: 'money:write',
  summary: 'Link a card and make it the default; one that is linked already becomes the default',
  body: z.strictObject({ methodId }),
  result: z.null(),
})

export const detachMethod = endpoint({
  method: 'DELETE',
  path: '/api/payments/stripe/methods/:id',
  access: 'customer',
  member: 'money:write',
  summary: 'Unlink a card',
  params: idParam,
  result: z.null(),
})

export const cardCheckout = endpoint({
  method: 'POST',
  path: '/api/payments/stripe/checkout',
  access: 'customer',
  member: 'money:write',
  summary: 'Begin a top-up by card',
  body: z.strictObject({ amount: topUpAmount }),
  result: z.object({ transId: z.string() }),
})

export const confirmCard = endpoint({
  method: 'POST',
  path: '/api/payments/stripe/:transId/confirm',
  access: 'customer',
  member: 'money:write',
  summary:
    'Make the PaymentIntent of a top-up with a linked card; the browser confirms it with the ' +
    'client secret',
  params: z.object({ transId: z.string().check(z.maxLength(100)) }),
  body: z.strictObject({ method_id: methodId }),
  result: z.object({ client_secret: z.string() }),
})
