/** The desk's side of requests about personal data: the list, and the acts. */
import * as z from 'zod/mini'
import { DataRequest, requestKind, requestText } from './data-requests.ts'
import { endpoint } from './endpoint.ts'
import { unneeded } from './operator-act.ts'
import { oneLine } from './text.ts'

/** The `decidedBy` of a request that ended when its account was closed. */
export const byClosing = 'account closed'

const DeskRequest = z.extend(DataRequest, {
  customer: z.nullable(z.object({ id: z.string(), name: z.string(), email: z.string() })),
  /** Who asked, if no customer did, or how the request came. */
  askedBy: z.nullable(z.string()),
  /** The member who entered it; null: the customer did, on the account page. */
  enteredBy: z.nullable(z.string()),
  /** A member, or `account closed`. */
  decidedBy: z.nullable(z.string()),
  overdue: z.boolean(),
})
export type DeskRequest = z.output<typeof DeskRequest>

export const dataRequests = endpoint({
  method: 'GET',
  path: '/api/operator/data-requests',
  access: 'staff',
  may: 'look',
  summary:
    'Requests about personal data: open ones, due soonest first, or those that were decided, the ' +
    'newest first. At most a hundred',
  query: z.object({ show: z.enum(['open', 'decided']) }),
  result: z.array(DeskRequest),
})

const request = { request: z.string().check(z.maxLength(100)) }
const told = z.string().check(z.trim(), z.minLength(5), z.maxLength(2000))

export const privacyActs = {
  'privacy.receive': unneeded(
    'privacy.receive',
    'customers',
    'Enter a request about personal data that came by letter, ticket or phone: its clock begins',
    {
      /** A customer's e-mail address, or any other sender. */
      from: oneLine(3, 254),
      kind: requestKind,
      text: requestText,
      /** The day in Vietnam; today if absent. */
      receivedOn: z.optional(z.iso.date()),
    },
  ),
  'privacy.done': unneeded(
    'privacy.done',
    'customers',
    'Say that a request about personal data was met, and tell the customer by letter',
    { ...request, told },
  ),
  'privacy.refuse': unneeded(
    'privacy.refuse',
    'customers',
    'Refuse a request about personal data, and tell the customer by letter why',
    { ...request, told },
  ),
}
