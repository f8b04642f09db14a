/** Requests about personal data, each with the day by which it is answered (decision 125). */
import * as z from 'zod/mini'
import { endpoint } from './endpoint.ts'

export const requestKinds = ['access', 'correction', 'objection', 'erasure'] as const
export type RequestKind = (typeof requestKinds)[number]
/** `ended`: the account was closed before the request was answered. */
export const requestStates = ['open', 'done', 'refused', 'ended'] as const

/** Most open requests of one customer. */
export const mostOpenRequests = 5

export const requestKind = z.enum(requestKinds)
export const requestText = z.string().check(z.trim(), z.minLength(5), z.maxLength(2000))

const time = z.string()
export const DataRequest = z.object({
  id: z.string(),
  kind: requestKind,
  text: z.string(),
  receivedAt: time,
  dueAt: time,
  state: z.enum(requestStates),
  decidedAt: z.nullable(time),
  /** What was done, or why the request was refused. */
  answer: z.nullable(z.string()),
})
export type DataRequest = z.output<typeof DataRequest>

export const listDataRequests = endpoint({
  method: 'GET',
  path: '/api/v1/account/data-requests',
  access: 'customer',
  seen: true,
  summary: 'What the customer asked about their data, the newest first, and by when it is answered',
  result: z.array(DataRequest),
})
export const makeDataRequest = endpoint({
  method: 'POST',
  path: '/api/v1/account/data-requests',
  access: 'customer',
  summary:
    'Ask for what is stored, for a correction or erasure, or object to a use. A letter says by ' +
    'when it is answered',
  body: z.strictObject({ kind: requestKind, text: requestText }),
  result: DataRequest,
  status: 201,
})
