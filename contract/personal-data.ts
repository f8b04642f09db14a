/** A customer's stored data, exported as one file. */
import * as z from 'zod/mini'
import { endpoint } from './endpoint.ts'

export const exportPersonalData = endpoint({
  method: 'GET',
  path: '/api/v1/account/data',
  access: 'customer',
  asksAgain: true,
  summary:
    'All that is stored of the customer, as one JSON file: account, sign-ins, money, servers, ' +
    'domains, letters; never secrets. A letter tells of it',
  result: z.string(),
  bare: true,
  files: ['application/json'],
})

/** What prevents the closing of an account. */
export const obstacles = [
  'servers',
  'domains',
  'invoices',
  'payments',
  'debts',
  'handedOver',
  'balance',
] as const
export type Obstacle = (typeof obstacles)[number]

export const getClosing = endpoint({
  method: 'GET',
  path: '/api/v1/account/closing',
  access: 'customer',
  seen: true,
  summary: 'What has to be ended, paid or taken out before the account can be closed',
  result: z.object({ obstacles: z.array(z.enum(obstacles)) }),
})
export const closeAccount = endpoint({
  method: 'POST',
  path: '/api/v1/account/close',
  access: 'customer',
  asksAgain: true,
  summary:
    'Close the account for good: personal data is erased at once, invoices and postings stay as ' +
    'the law asks. 409 while something stands in the way',
  body: z.strictObject({ password: z.string().check(z.minLength(1), z.maxLength(128)) }),
  result: z.null(),
})
