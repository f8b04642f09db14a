import type { Mend } from './mend.ts'

export const screens: readonly Mend[] = [
  {
    finding: '2, 3',
    guard: 'server/wordpress/domain-proof.test.ts',
    edits: [
      {
        file: 'server/wordpress/ownership.ts',
        mended: 'const isApex = parse(of.name, { allowPrivateDomains: true }).domain === of.name',
        without: 'const isApex = false',
      },
    ],
  },
  {
    finding: '4',
    edits: [
      {
        file: 'server/dns/zone-text.ts',
        mended: "(of.mode === 'sets' && named.has(setOf(record)))",
        without: 'named.has(setOf(record))',
      },
    ],
  },
  {
    finding: '5',
    edits: [{ file: 'server/dns/point.ts', mended: 'of.preview || ', without: '' }],
  },
  {
    finding: '6',
    edits: [
      {
        file: 'web/dns/RecordPage.tsx',
        mended: 'const offers = domain.capabilities.proxied',
        without: 'const offers = true',
      },
    ],
  },
  {
    finding: '8',
    edits: [
      {
        file: 'web/choose-language.ts',
        mended:
          'if (session.signedIn() && !session.locked()) keep(language, queryClient)\n  else chosen',
        without: 'chosen',
      },
    ],
  },
  {
    finding: '10',
    edits: [
      {
        file: 'server/payments/drivers/vnpay/codes.ts',
        mended: String.raw`reasons[/^(\d\d)\//.exec(detail)?.[1] ?? '']`,
        without: 'undefined',
      },
    ],
  },
  {
    finding: '11',
    edits: [
      {
        file: 'web/wordpress/ReviewDialog.tsx',
        mended:
          'short > 0 ? t.review.confirmShort(money(short, user.currency)) ' +
          ': t.review.confirm(price)',
        without: 't.review.confirm(price)',
      },
    ],
  },
  {
    finding: '12',
    edits: [
      {
        file: 'web/session.ts',
        mended: "if (!wished) sessionStorage.setItem(keys.ended, user?.email ?? '')",
        without: '',
      },
    ],
  },
  {
    finding: '13',
    edits: [
      {
        file: 'web/pages/load-screen.ts',
        mended: 'if (await isReachable()) return await startOver()',
        without: 'return await startOver()',
      },
    ],
  },
  {
    finding: '14',
    edits: [
      {
        file: 'contract/phone.ts',
        mended: "(own && local(own, digits)) ?? local('VN', digits)",
        without: "local('VN', digits)",
      },
    ],
  },
]
