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
  // The answer contained all records of an import.
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
    finding: 'W1',
    title: 'a plan with two processors computes',
    edits: [
      {
        file: 'server/wordpress/drivers/machine/boot-order.ts',
        mended: 'cpu: Math.min(spec.cpu, cores),',
        without: 'cpu: 1,',
      },
    ],
  },
  {
    finding: 'W1',
    guard: 'server/wordpress/offer.test.ts',
    edits: [
      {
        file: 'server/wordpress/drivers/machine/runtime.ts',
        mended: 'minRamMb, maxRamMb, maxCpu, database',
        without: 'minRamMb, maxRamMb: null, maxCpu: null, database',
      },
    ],
  },
  {
    finding: 'W2',
    title: 'an endless loop is stopped',
    edits: [
      {
        file: 'runtimes/wordpress-wasm/src/php-process.js',
        mended: "this.kill('a page took longer than it may')",
        without: '',
      },
      {
        file: 'runtimes/wordpress-wasm/src/php-process.js',
        mended: "this.#finish({ how: 'timeout' })",
        without: '',
      },
    ],
  },
  {
    finding: 'W2',
    title: 'a page that waits keeps no other',
    edits: [
      {
        file: 'runtimes/wordpress-wasm/src/php-pool.js',
        mended: 'if (this.#line.length > 0 && this.#mayGrow()) this.#bootLater()',
        without: '',
      },
    ],
  },
  {
    finding: 'W4',
    title: 'many large bodies at once end nothing',
    edits: [
      {
        file: 'runtimes/wordpress-wasm/src/body-spool.js',
        mended: 'if (this.#used + bytes > this.#budget)',
        without: 'if (false)',
      },
    ],
  },
  {
    finding: 'W4',
    title: 'one network has so many pages in hand',
    edits: [
      {
        file: 'runtimes/wordpress-wasm/src/client-limits.js',
        mended: "if (client.line.length >= inLine) return 'refused'",
        without: '',
      },
    ],
  },
  // PHP's output would be collected in memory.
  {
    finding: 'W4',
    title: 'a large answer takes no memory',
    edits: [
      {
        file: 'runtimes/wordpress-wasm/src/php-answer.js',
        mended: 'if (response.destroyed || response.write(piece)) return undefined',
        without: 'if (response.destroyed || response.write(piece) || true) return undefined',
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
        file: 'server/wordpress/drivers/machine/slots.ts',
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
  {
    finding: 'W10',
    guard: 'server/wordpress/updates.test.ts',
    title: 'a bad release is put back',
    edits: [
      {
        file: 'server/wordpress/site-update.ts',
        mended: 'if (differences.length === 0) {',
        without: 'if (differences) {',
      },
    ],
  },
  {
    finding: 'W10',
    guard: 'server/wordpress/updates.test.ts',
    title: 'what was written during an update that is undone',
    edits: [
      {
        file: 'runtimes/wordpress-wasm/src/write-hold.js',
        mended: 'if (!this.active) return Promise.resolve(true)',
        without: 'return Promise.resolve(true)',
      },
    ],
  },
  {
    finding: 'W10',
    guard: 'server/wordpress/update-waves.test.ts',
    title: 'stops by itself at a bad release',
    edits: [
      {
        file: 'server/wordpress/update-waves.ts',
        mended: "if (counts.bad * 100 > stopPercent * counts.total) return 'stop'",
        without: '',
      },
    ],
  },
  {
    finding: 'W10',
    guard: 'server/wordpress/update-waves.test.ts',
    title: 'a security release comes by itself',
    edits: [
      {
        file: 'server/wordpress/update-policy.ts',
        mended: "return policy === 'security' && security",
        without: 'return false',
      },
    ],
  },
  // With one container, a site that calls itself waited for itself.
  {
    finding: 'W12',
    edits: [
      {
        file: 'runtimes/wordpress-wasm/src/php-answer.js',
        mended: 'if (reads && pool.callsItself && !pool.hasSpare && isOwnMachine(client))',
        without: 'if (false)',
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
  {
    finding: 'W7',
    guard: 'server/wordpress/mail/real.test.ts',
    edits: [
      {
        file: 'runtimes/wordpress-wasm/src/php.js',
        mended: 'proc_open,popen,mail\n',
        without: 'proc_open,popen\n',
      },
    ],
  },
  {
    finding: 'W7',
    title: 'never names another customer’s domain',
    edits: [
      {
        file: 'server/wordpress/mail/sender.ts',
        mended: 'from !== null && mayBeFrom(names, from.address)',
        without: 'from !== null',
      },
    ],
  },
  // A letter that was stored, but not confirmed to its node, would be stored again.
  {
    finding: 'W7',
    title: 'that is taken and not yet confirmed',
    edits: [
      {
        file: 'server/wordpress/mail/collect.ts',
        mended: ".onConflict((conflict) => conflict.columns(['site_id', 'key']).doNothing())",
        without: '',
      },
    ],
  },
  {
    finding: 'W7',
    title: 'over the hour’s limit letters wait',
    edits: [
      {
        file: 'server/wordpress/mail/send.ts',
        mended: 'limit ${Math.min(left, claimedAtOnce)}',
        without: 'limit ${claimedAtOnce}',
      },
    ],
  },
  // The certificate order that an interrupted run left open would be placed again.
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
  // An authority would be asked for a certificate of a name that leads elsewhere.
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
  // The portal would take the edge for the visitor.
  {
    finding: 'W8',
    guard: 'server/certificates/portal-host.test.ts',
    title: 'a visitor cannot name another address',
    edits: [
      {
        file: 'server/app/http.ts',
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
  // A page that broke off would look complete by HTTP/2.
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
  // A page whose data was read before a write would be kept after it.
  {
    finding: 'W6',
    guard: 'server/edge/cache/page-cache.test.ts',
    title: 'a page that was being made during a write is shown',
    edits: [
      {
        file: 'server/edge/cache/fill.ts',
        mended: '!isNever && store.isFresh(making, entry.tags)',
        without: '!isNever',
      },
    ],
  },
  {
    finding: 'W6',
    guard: 'server/edge/cache/rules.test.ts',
    title: 'is answered by the site, and sees nothing that is kept',
    edits: [
      {
        file: 'server/edge/cache/rules.ts',
        mended: "return name !== '' && !harmlessCookie.test(name)",
        without: "return name.startsWith('wordpress_logged_in')",
      },
    ],
  },
  {
    finding: 'W6',
    guard: 'server/edge/cache/rules.test.ts',
    title: 'is answered by the site, and sees nothing that is kept',
    edits: [
      {
        file: 'server/edge/cache/rules.ts',
        mended: 'if (neverSent.some((name) => headers[name] !== undefined)) return null',
        without: '',
      },
    ],
  },
  {
    finding: 'W6',
    guard: 'server/edge/cache/rules.test.ts',
    title: 'is not kept',
    edits: [
      {
        file: 'server/edge/cache/rules.ts',
        mended:
          "if (wordsOf(headerOf(raw, 'vary')).some((word) => !harmlessVary.has(word))) return 0",
        without: '',
      },
    ],
  },
  {
    finding: 'W6',
    guard: 'server/edge/cache/rules.test.ts',
    title: 'is not kept',
    edits: [
      {
        file: 'server/edge/cache/fill.ts',
        mended: 'const isKept = isTold && !namesVisitor',
        without: 'const isKept = isTold',
      },
    ],
  },
  {
    finding: 'W6',
    guard: 'server/edge/cache/rules.test.ts',
    title: 'what is not part of the key never reaches the site',
    edits: [
      {
        file: 'server/edge/cache/index.ts',
        mended: 'headers: headersFor(lookup, page, old),',
        without: 'headers: null,',
      },
    ],
  },
  {
    finding: 'W6',
    guard: 'server/edge/cache/rules.test.ts',
    title: 'host, scheme, path, query and kind of device',
    edits: [
      {
        file: 'server/edge/cache/index.ts',
        mended: '`${lookup.host}\\n${lookup.path}`',
        without: '`${lookup.path}`',
      },
    ],
  },
  {
    finding: 'W6',
    guard: 'server/wordpress/drivers/embedded/page-cache.test.ts',
    title: 'a front page is kept, and gone when the answer to a write is there',
    edits: [
      {
        file: 'server/wordpress/drivers/machine/container.ts',
        mended: 'else onWrite(tagsOf(message))',
        without: '',
      },
    ],
  },
  // The edge and a container with the previous spec would redirect visitors to each other.
  {
    finding: 'W6',
    guard: 'server/wordpress/primary.test.ts',
    title: 'while its containers are replaced',
    edits: [
      {
        file: 'server/wordpress/drivers/machine/slots.ts',
        mended: '[...spec.hosts, new URL(spec.url).hostname]',
        without: 'spec.hosts',
      },
    ],
  },
]
