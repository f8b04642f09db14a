/** Mends of tokens for programs, and of outgoing webhooks. */
import type { Mend } from './mend.ts'

const finding = 'Automation needed the password'
const tokens = 'server/tokens/tokens.test.ts'
const rights = 'server/tokens/rights.test.ts'
const ofOperator = {
  finding: 'The provider’s own programs',
  guard: 'server/webhooks/operators.test.ts',
}
const receiver = 'server/webhooks/receiver.test.ts'

export const programs: readonly Mend[] = [
  {
    finding,
    guard: rights,
    title: 'every call with every scope',
    edits: [
      {
        file: 'contract/token-scopes.ts',
        mended: "  if (!includes(rights.scopes, scope)) return 'scope'\n",
        without: '',
      },
    ],
  },
  {
    finding,
    guard: rights,
    title: 'opens every call of its own server and domain, and of no other',
    edits: [
      {
        file: 'contract/token-scopes.ts',
        mended: 'limit.includes(id)',
        without: 'limit.length > 0',
      },
    ],
  },
  {
    finding,
    guard: rights,
    title: 'is shown its own servers and domains in lists',
    edits: [
      {
        file: 'server/wordpress/routes.ts',
        mended: 'const only = caller?.limits?.servers ?? null',
        without: 'const only = caller ? null : []',
      },
    ],
  },
  {
    finding,
    guard: tokens,
    title: 'when the owner says that a sign-in was not theirs',
    edits: [
      {
        file: 'server/auth/sign-in-letter.ts',
        mended: '      await needs.endPrograms(tx, customerId)\n',
        without: '',
      },
    ],
  },
  {
    finding,
    guard: receiver,
    title: 'that is no public one is not connected to',
    edits: [
      {
        file: 'server/platform/judged-address.ts',
        mended: 'found.every((one) => mayConnect(one, port))',
        without: 'found.length > 0',
      },
    ],
  },
  {
    finding,
    guard: receiver,
    title: 'whose name changes its mind after it was judged',
    edits: [
      {
        file: 'server/webhooks/receiver.ts',
        mended: 'ask(url, judged.address, headers, body, limit)',
        without:
          'ask(url, ((await dns.addresses(url.hostname)) ?? [])[0] ?? "", headers, body, limit)',
      },
    ],
  },
  {
    finding,
    guard: 'server/webhooks/failures.test.ts',
    title: 'by its silence delays nobody else',
    edits: [
      {
        file: 'server/webhooks/send.ts',
        mended: '        if (status === null) await putOff(tx, endpoint, since)\n',
        without: '',
      },
    ],
  },
  {
    // The relay would not see the operator's event until the next one of a customer.
    ...ofOperator,
    title: 'where everything ended between the commit and the call',
    edits: [
      {
        file: 'server/realtime/relay.ts',
        mended: '        or exists (select from operator_event) as waits',
        without: '        as waits',
      },
    ],
  },
  {
    ...ofOperator,
    title: 'who registers, tops up and orders is told once each',
    edits: [
      {
        file: 'server/webhooks/store.ts',
        mended: ".where('customer_id', owner === null ? 'is' : '=', owner)",
        without: ".where('id', 'is not', null)",
      },
    ],
  },
  {
    ...ofOperator,
    title: 'by its silence is left alone for half a minute',
    edits: [
      {
        file: 'server/webhooks/send.ts',
        mended: 'until !== null && until > now',
        without: 'until === undefined',
      },
      {
        file: 'server/webhooks/send.ts',
        mended:
          '(e.put_off_until is null or e.put_off_until <= ${now} or d.next_at > e.put_off_at)',
        without: 'true',
      },
    ],
  },
  {
    ...ofOperator,
    title: 'what was told of a customer goes with the account',
    edits: [
      {
        file: 'server/webhooks/forget.ts',
        mended: "select('delivery_id').where('customer_id', '=', customerId)",
        without: "select('delivery_id').where('customer_id', 'is', null)",
      },
    ],
  },
  {
    ...ofOperator,
    guard: 'server/payments/disputes.test.ts',
    title: 'is shown with due date, fee and what was taken',
    edits: [
      {
        file: 'server/payments/disputes.ts',
        mended: 'if (row.isNew || isFirstDecided)',
        without: 'if (row.isNew || row.closed_at !== null)',
      },
    ],
  },
]
