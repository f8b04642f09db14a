import type { Mend } from './mend.ts'

export const hosting: readonly Mend[] = [
  {
    finding: 'D2',
    edits: [
      {
        file: 'contract/dns-changes.ts',
        mended: 'const zoneFileChars = 1_048_576',
        without: 'const zoneFileChars = 200_000',
      },
    ],
  },
  // The answer that held all records of an import.
  {
    finding: 'D2',
    edits: [
      {
        file: 'server/dns/changes.ts',
        mended: 'const firstStates = `$[0 to ${shownStates - 1}]`',
        without: "const firstStates = '$[*]'",
      },
      {
        file: 'server/dns/changes.ts',
        mended: 'kept(row.before).slice(0, shownStates)',
        without: 'kept(row.before)',
      },
      {
        file: 'server/dns/changes.ts',
        mended: 'kept(row.after).slice(0, shownStates)',
        without: 'kept(row.after)',
      },
    ],
  },
  {
    finding: 'D3',
    edits: [
      { file: 'contract/dns-records.ts', mended: ` && content.trim() !== '""'`, without: '' },
    ],
  },
  {
    finding: 'D7',
    edits: [
      {
        file: 'server/dns/routes.ts',
        mended: 'warningsOf(beside, name)(written.record)',
        without: '[]',
      },
    ],
  },
  {
    finding: 'D9',
    edits: [
      {
        file: 'server/dns/drivers/embedded/wire.ts',
        mended: ' || !hasWholeOptions(bytes, end + 10, next)',
        without: '',
      },
    ],
  },
  {
    finding: 'W3',
    edits: [
      {
        file: 'runtimes/wordpress-wasm/src/database-functions.js',
        mended: "'like'         => 'like',",
        without: '',
      },
    ],
  },
  {
    finding: 'W9',
    edits: [
      {
        file: 'server/wordpress/drivers/embedded/slots.ts',
        mended: 'const urgent = this.addresses().length === 0 && this.#slots[0] === slot',
        without: 'const urgent = false',
      },
    ],
  },
  {
    finding: 'W12',
    edits: [
      {
        file: 'runtimes/wordpress-wasm/src/network-guard.js',
        mended:
          '(Number(port) === ownPort && ownAddresses.has(address)) || (internet && ' +
          '!isDenied(address))',
        without:
          '!isDenied(address) && (internet || (Number(port) === ownPort && ' +
          'ownAddresses.has(address)))',
      },
    ],
  },
  // With one container it waited for itself.
  {
    finding: 'W12',
    edits: [
      {
        file: 'runtimes/wordpress-wasm/src/http.js',
        mended: 'if (reads && callsItself() && isOwnMachine(clientOf(request))) {',
        without: 'if (false) {',
      },
    ],
  },
  {
    finding: 'W13',
    guard: 'server/wordpress/disk-warnings.test.ts',
    edits: [
      {
        file: 'server/wordpress/disk-warnings.ts',
        mended: 'if (level > before) await warn(tx, site, disk, percent)',
        without: '',
      },
    ],
  },
  {
    finding: 'W13',
    guard: 'server/wordpress/drivers/embedded/as-elsewhere.test.ts',
    edits: [
      {
        file: 'runtimes/wordpress-wasm/src/disk-budget.js',
        mended: 'if (kind === null) return stats',
        without: 'return stats',
      },
    ],
  },
  {
    finding: 'W14',
    edits: [
      {
        file: 'server/wordpress/backups.ts',
        mended: 'if (deps.keptDaysAfterDeletion === 0) return await removeAll(siteId)',
        without: 'return await removeAll(siteId)',
      },
    ],
  },
  {
    finding: 'W15',
    edits: [
      "'get_lock'     => 'get_lock',",
      "'release_lock' => 'release_lock',",
      "'is_free_lock' => 'is_free_lock',",
    ].map((mended) => ({
      file: 'runtimes/wordpress-wasm/src/database-functions.js',
      mended,
      without: '',
    })),
  },
  // An order that a run left is asked for anew.
  {
    finding: 'W8',
    guard: 'server/certificates/certificates.test.ts',
    title: 'is gone on with: the authority issues once',
    edits: [
      {
        file: 'server/certificates/order.ts',
        mended: "if (value.status !== 'invalid')",
        without: 'if (value.status === undefined)',
      },
    ],
  },
  // An authority is asked about a name that leads elsewhere.
  {
    finding: 'W8',
    guard: 'server/certificates/certificates.test.ts',
    title: 'is not asked for while it leads elsewhere',
    edits: [
      {
        file: 'server/certificates/renew.ts',
        mended: "if (standing.is === 'elsewhere') {",
        without: 'if (row.id < 0n) {',
      },
      {
        file: 'server/certificates/renew.ts',
        mended: "const found = standing.found.slice(0, 5).join(', ')",
        without: "const found = ''",
      },
    ],
  },
  {
    finding: 'W8',
    guard: 'server/certificates/renewal.test.ts',
    title: 'that its authority revokes is replaced within a day',
    edits: [
      {
        file: 'server/certificates/renew.ts',
        mended: 'const window = await deps.ordering.renewalWindow(row).catch(() => undefined)',
        without: 'const window = await Promise.reject<never>(row).catch(() => undefined)',
      },
    ],
  },
  // The portal takes the edge for the visitor.
  {
    finding: 'W8',
    guard: 'server/certificates/portal-host.test.ts',
    title: 'a visitor cannot name another address',
    edits: [
      {
        file: 'server/app.ts',
        mended: 'isOwnEdge(config.HOST)',
        without: 'false',
      },
    ],
  },
  {
    finding: 'W8',
    guard: 'server/edge/https.test.ts',
    title: 'an authority is answered before the site is',
    edits: [
      {
        file: 'server/edge/https.ts',
        mended: 'if (isChallenge(target.path) || !certificates.covers(name)) return undefined',
        without: 'if (!certificates.covers(name)) return undefined',
      },
    ],
  },
  // A short page by HTTP/2 looks whole.
  {
    finding: 'W8',
    guard: 'server/edge/https.test.ts',
    title: 'a visitor who leaves ends the site’s work, a broken answer is seen',
    edits: [
      {
        file: 'server/edge/http2.ts',
        mended: 'response.stream.close(http2.constants.NGHTTP2_INTERNAL_ERROR)',
        without: 'response.stream.close(http2.constants.NGHTTP2_NO_ERROR)',
      },
    ],
  },
]
