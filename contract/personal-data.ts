/** What the portal stores of a customer, given out as one file. */
import * as z from 'zod/mini'
import { endpoint } from './endpoint.ts'

/** Files of one customer within a day. */
export const mostExportsADay = 10

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
