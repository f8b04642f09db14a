/** Mends of views, in which the staff sees the portal as a customer does and changes nothing. */
import type { Mend } from './mend.ts'

const finding = 'Support saw other pages than the customer'
const guard = 'server/operator/views.test.ts'

export const views: readonly Mend[] = [
  {
    finding,
    guard,
    title: 'every call of the contract',
    edits: [
      {
        file: 'server/platform/http-views.ts',
        mended: 'if (endpoint.seen !== true) {',
        without: "if (endpoint.method !== 'GET' && endpoint.seen !== true) {",
      },
    ],
  },
  {
    finding,
    guard,
    title: 'only in the session that asked',
    edits: [
      {
        file: 'server/auth/views.ts',
        mended:
          "    .where('staff_session_id', '=', by.sessionId)\n    .where('expires_at', '>', now)\n",
        without: "    .where('expires_at', '>', now)\n",
      },
    ],
  },
  {
    finding,
    guard,
    title: 'when the member leaves it, signs out, is disabled',
    edits: [
      {
        file: 'server/operator/views.ts',
        mended: "staff !== undefined && mayDo(staff.role, operatorActs['customer.see'].may)",
        without: 'staff !== undefined || mayDo !== undefined',
      },
    ],
  },
  {
    finding,
    guard,
    title: 'when the customer ends it, ends all, or is blocked',
    edits: [
      {
        file: 'server/auth/session.ts',
        mended: "await endViews(tx, clock, { column: 'customer_id', is: [customerId], only })",
        without: '0',
      },
    ],
  },
]
