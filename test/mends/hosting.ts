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
]
