/** Mends of tokens for programs, and of outgoing webhooks. */
import type { Mend } from './mend.ts'

const finding = 'Automation needed the password'
const tokens = 'server/tokens/tokens.test.ts'
const receiver = 'server/webhooks/receiver.test.ts'

export const programs: readonly Mend[] = [
  {
    finding,
    guard: tokens,
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
    guard: tokens,
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
    guard: tokens,
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
    guard: 'server/webhooks/webhooks.test.ts',
    title: 'by its silence delays nobody else',
    edits: [
      {
        file: 'server/webhooks/send.ts',
        mended: '        if (status === null) await putOff(tx, endpoint, since)\n',
        without: '',
      },
    ],
  },
]
