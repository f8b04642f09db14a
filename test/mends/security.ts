import type { Mend } from './mend.ts'

const machine = 'server/wordpress/drivers/machine'

export const security: readonly Mend[] = [
  {
    finding: 'C1',
    edits: [
      // PHP's devices would lead to the standard output …
      {
        file: 'runtimes/wordpress-wasm/src/php.js',
        mended: 'print: onText,\n',
        without: '\n',
      },
      // … where any line, at any time, would be taken as a message of the container.
      {
        file: `${machine}/container.ts`,
        mended: 'readLines(this.#control, longestMessage, onMessage, () => this.kill())',
        without: `readLines(this.#control, longestMessage, onMessage, () => this.kill())
      readLines(child.stdout!, longestMessage, hear)`,
      },
      {
        file: `${machine}/container.ts`,
        mended: 'if (port === undefined || this.#listened) {',
        without: 'if (port === undefined) {',
      },
      {
        file: `${machine}/container.ts`,
        mended:
          'return Number.isInteger(port) && (port as number) >= lowestPort && ' +
          `(port as number) <= highestPort
    ? (port as number)
    : undefined`,
        without: 'return port as number',
      },
      // The port that a container reports would reach the visitor's request unchecked.
      {
        file: 'server/edge/upstreams.ts',
        mended: 'isIP(host) !== 0 && Number.isInteger(port) && port >= 1 && port <= 65_535',
        without: 'true',
      },
      {
        file: 'server/edge/ask.ts',
        mended: `const origin = new URL('http://upstream.invalid')
  origin.hostname = isIP(host) === 6 ? \`[\${host}]\` : host
  origin.port = String(port)
  return origin`,
        without: 'return new URL(`http://${isIP(host) === 6 ? `[${host}]` : host}:${port}`)',
      },
    ],
  },
  {
    finding: 'H1',
    edits: [
      ['server/wordpress/routes.ts', 'tx'],
      ['server/wordpress/backup-routes.ts', 'from'],
    ].map(([file = '', connection]) => ({
      file,
      mended: `await ownSite(${connection}, customerId, id)`,
      without: 'await ownSite(db, customerId, id)',
    })),
  },
  {
    finding: 'H1',
    title: 'a flood of one session is refused itself',
    edits: [
      {
        file: 'server/platform/http-caller.ts',
        mended: 'await identify(credential, request.ip)',
        without: 'await identifySession(credential)',
      },
    ],
  },
  {
    finding: 'H2',
    edits: [
      {
        file: `${machine}/files.ts`,
        mended: "await run('rm', ['-rf', '--', dir])",
        without: 'await fs.rm(dir, { recursive: true, force: true })',
      },
    ],
  },
  {
    finding: 'H3',
    edits: [
      {
        file: 'server/wordpress/ownership.ts',
        mended: '!isShared(address) && !of.shared.has(address)',
        without: '!isShared(address)',
      },
    ],
  },
  {
    finding: 'H4',
    edits: [
      {
        file: 'server/dns/names.ts',
        mended:
          '!ofOthers.has(key(pair)) && !pair.every((host) => of.atParent?.includes(host) === true)',
        without: 'true',
      },
    ],
  },
  {
    finding: 'H5',
    edits: [
      {
        file: 'server/auth/sign-in.ts',
        mended: 'customer && (await knownOrigin(db, clock, customer.id, from))',
        without: 'undefined',
      },
    ],
  },
  {
    finding: 'H6',
    edits: [
      {
        file: `${machine}/confinement.ts`,
        mended:
          `'--permission',
      ...reach.reads.map((dir) => \`--allow-fs-read=\${dir}\`),
` +
          '      ...reach.writes.flatMap((dir) => [`--allow-fs-read=${dir}`, ' +
          '`--allow-fs-write=${dir}`]),',
        without: '',
      },
      {
        file: `${machine}/confinement.ts`,
        mended: `...(needs.addons ? ['--allow-addons', '--disable-warning=PERM0001'] : []),`,
        without: '',
      },
      {
        file: `${machine}/confinement.ts`,
        mended: `...(setpriv ? [] : ['--allow-worker', '--disable-warning=PERM0006']),`,
        without: '',
      },
      { file: `${machine}/confinement.ts`, mended: 'return setpriv\n', without: 'return false\n' },
    ],
  },
  {
    finding: 'M1',
    edits: [
      {
        file: 'server/installation.ts',
        mended: 'if (!production) return\n',
        without: 'return\n',
      },
    ],
  },
  {
    finding: 'M2',
    edits: [
      {
        file: `${machine}/snapshot.ts`,
        mended: "type in ('table', 'shadow')",
        without: "type in ('table', 'shadow', 'virtual')",
      },
      { file: `${machine}/snapshot.ts`, mended: "${columns.join(', ')}", without: '*' },
    ],
  },
  {
    finding: 'M3',
    edits: [
      {
        file: 'contract/rate-limits.ts',
        mended: 'order: anHour(20)',
        without: 'order: anHour(1_000_000)',
      },
    ],
  },
  {
    finding: 'M4',
    edits: [
      { file: 'server/auth/addresses.ts', mended: ".where('active', '=', true)", without: '' },
    ],
  },
  {
    finding: 'M5',
    edits: [
      {
        file: 'server/platform/http-caller.ts',
        mended:
          "if (caller.locked && endpoint.whileLocked !== true) throw new Refusal('session_locked')",
        without: '',
      },
    ],
  },
  {
    finding: 'Sessions by cookie',
    title: 'a write needs the CSRF token',
    edits: [
      {
        file: 'server/platform/http-caller.ts',
        mended: '!tellsCsrfToken(request, credential.cookie)',
        without: 'false',
      },
    ],
  },
  {
    finding: 'Sessions by cookie',
    title: 'neighbours under the same domain',
    edits: [
      {
        file: 'server/platform/http-caller.ts',
        mended: 'refuseNeighbour(request.headers)',
        without: '',
      },
    ],
  },
  {
    finding: 'M6',
    edits: [
      {
        file: 'server/auth/password-rules.ts',
        mended: "readFileSync(new URL('common-passwords.txt', import.meta.url), 'utf8')",
        without: "''",
      },
      { file: 'server/auth/password-rules.ts', mended: ' || common.has(bare)', without: '' },
      {
        file: 'server/auth/password-rules.ts',
        mended: 'if (own.includes(stem(password))) refuse(ownName[language])',
        without: '',
      },
    ],
  },
  {
    finding: 'Second factor',
    title: 'once it is confirmed the password is not enough',
    edits: [
      {
        file: 'server/auth/sign-in.ts',
        mended: '(await hasFactor(tx, proven.id)) &&',
        without: 'false &&',
      },
    ],
  },
  {
    finding: 'Second factor',
    title: 'a step before and after is let through',
    edits: [{ file: 'server/auth/totp.ts', mended: 'step > lastStep && ', without: '' }],
  },
  {
    finding: 'Second factor',
    title: 'changes of the account, backups, deletions',
    edits: [
      {
        file: 'server/platform/http-caller.ts',
        mended: 'endpoint.asksAgain === true && !(await isProven(caller))',
        without: 'false',
      },
    ],
  },
  {
    finding: 'Second factor',
    title: 'a copy whose counter is behind',
    edits: [
      {
        file: 'server/auth/passkeys.ts',
        mended: 'counter: Number(row.counter),',
        without: 'counter: 0,',
      },
    ],
  },
  {
    finding: 'Second factor',
    title: 'tells of one from where the account is not known',
    edits: [
      {
        file: 'server/auth/sign-in-letter.ts',
        mended: 'await endSessions(tx, needs, { customerId })',
        without: '',
      },
    ],
  },
  {
    finding: 'M7',
    edits: [{ file: 'server/config.ts', mended: '!isLoopback(config.HOST)', without: 'false' }],
  },
  {
    finding: 'M8',
    edits: [
      {
        file: 'server/dns/addresses.ts',
        mended:
          'of.withSandbox && roots.length > 0 && roots.every(({ address }) => isLoopback(address))',
        without: 'roots.length > 0',
      },
    ],
  },
  {
    finding: 'L1',
    edits: [{ file: 'contract/text.ts', mended: '!unfit.test(text)', without: 'true' }],
  },
  {
    finding: 'L2',
    edits: [
      {
        file: 'server/platform/http-server.ts',
        mended: "request.url.startsWith('/api/') && !reply.hasHeader('cache-control')",
        without: 'false',
      },
    ],
  },
  {
    finding: 'L3',
    edits: [
      {
        file: 'server/platform/http-input.ts',
        mended: 'const maxFieldsShown = 50',
        without: 'const maxFieldsShown = Infinity',
      },
    ],
  },
  {
    finding: 'L4',
    edits: [
      {
        file: 'server/wordpress/names.ts',
        mended: "name.split('-').some((word) => misleading.has(word)) ||",
        without: '',
      },
    ],
  },
  {
    finding: 'L5',
    edits: [
      {
        file: 'server/edge/shared-domain.ts',
        mended: 'if (shared === null) return [...raw]',
        without: 'return [...raw]',
      },
    ],
  },
  {
    finding: 'L6',
    edits: [
      {
        file: 'server/health.ts',
        mended: "['x-forwarded-for', 'x-forwarded-host', 'x-real-ip', 'forwarded', 'via']",
        without: "['x-forwarded-for']",
      },
      { file: 'server/health.ts', mended: '!parts.behindProxy &&', without: '' },
      {
        file: 'server/health.ts',
        mended: 'entitled(request) ? notReady : withoutReasons(notReady)',
        without: 'notReady',
      },
    ],
  },
  {
    finding: 'L7',
    edits: [{ file: 'server/main.ts', mended: 'process.umask(0o027)', without: '' }],
  },
  {
    finding: 'L8',
    edits: [
      {
        file: 'server/auth/sign-in.ts',
        mended: `log.info(
          {
            event: 'sign_in_failed',
            account: hashed(email),
            known: !!customer,
            network: from.network,
          },
          'a sign-in failed',
        )`,
        without: '',
      },
      {
        file: 'server/platform/http-caller.ts',
        mended: 'noteCaller(request, caller.customerId)',
        without: '',
      },
    ],
  },
  {
    finding: 'L9',
    edits: [
      {
        file: 'runtimes/wordpress-wasm/src/php.js',
        mended: "thisProgram: 'php',",
        without: '',
      },
    ],
  },
  {
    finding: 'L10',
    edits: [
      { file: 'server/auth/guards.ts', mended: 'await ofNetwork.check(network)', without: '' },
      { file: 'server/auth/guards.ts', mended: 'await ofNetwork.take(network)', without: '' },
    ],
  },
  {
    finding: 'L11',
    edits: [
      {
        file: 'server/platform/idempotency.ts',
        mended:
          'if (isAnonymous) await keepNewest(tx, sql`scope = ${call.scope}`, keptOfNetwork)\n',
        without: 'if (isAnonymous) return\n',
      },
    ],
  },
  {
    // The address is stored with the event, and not added when it is relayed.
    finding: 'L12',
    edits: [
      {
        file: 'server/realtime/outbox.ts',
        mended: 'createEventOutbox(clock: Clock, wake: () => void)',
        without:
          'createEventOutbox(clock: Clock, wake: () => void, complete = (all: object) => all)',
      },
      {
        file: 'server/realtime/outbox.ts',
        mended: 'JSON.stringify(payload)',
        without: 'JSON.stringify(complete(payload))',
      },
      {
        file: 'server/realtime/index.ts',
        mended: '() => relay.wake())',
        without: '() => relay.wake(), deps.complete)',
      },
    ],
  },
]
