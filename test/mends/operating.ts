import type { Mend } from './mend.ts'

export const operating: readonly Mend[] = [
  {
    finding: '1.1',
    edits: [
      {
        file: 'server/main.ts',
        mended: 'Object.assign(process.env, withEnvFile(given))',
        without: '',
      },
    ],
  },
  {
    finding: '1.1',
    edits: [{ file: 'server/env-file.ts', mended: '  ...readEnvFile(env),\n', without: '' }],
  },
  // One mend for each sentence.
  ...[
    {
      file: 'server/variables/rules.ts',
      mended: "new URL(connectionString).hash === ''",
      without: 'true',
    },
    {
      file: 'server/variables/portal.ts',
      mended: String.raw`!URL.canParse(text) || /^\/*$/.test(new URL(text).pathname)`,
      without: 'true',
    },
    {
      file: 'server/variables/messages.ts',
      mended: String.raw`/^(?:[^<>@]*<)?[^\s<>@]+@[^\s<>@]+>?$/.test(text)`,
      without: 'true',
    },
    {
      file: 'server/config.ts',
      mended: "if (url?.startsWith('http:') && !isLoopback(new URL(url).hostname))",
      without: 'if (false)',
    },
    {
      file: 'server/config.ts',
      mended: 'if (config.PORTAL_URL !== undefined && config.SITES_DOMAIN !== undefined) {',
      without: 'if (false) {',
    },
    { file: 'server/config.ts', mended: 'if (isTest)', without: 'if (false)' },
    { file: 'server/misspelt.ts', mended: 'const mostEdits = 2', without: 'const mostEdits = 0' },
  ].map((edit) => ({ finding: '1.2', edits: [edit] })),
  // Mends in a single file each, with the title of the guard.
  ...[
    {
      title: 'an older release starts on a newer schema',
      mended: 'if (release.number >= plan.oldestRelease) return',
      without: 'if (plan.unknown.length === 0) return',
    },
    {
      title: 'an older release refuses a schema',
      mended: 'if (release.number >= plan.oldestRelease) return',
      without: 'return',
    },
    {
      title: 'release 1 starts on a database',
      mended: 'if (name > lastOfRelease1 && oldestRelease === 1) return',
      without: '',
    },
    {
      title: 'release 1 starts on a database',
      mended: 'if (name > lastOfRelease1 && oldestRelease === 1) return',
      without: 'if (name > lastOfRelease1) return',
    },
    {
      title: 'what is missing in the middle',
      mended: '({ name }) => !applied.has(name)',
      without: '({ name }) => [...applied].every((one) => one < name)',
    },
    {
      title: 'two processes migrate at once',
      mended: 'if (rows[0]?.taken) break',
      without: 'break',
    },
    {
      title: 'release 1 and this one',
      mended: 'await sql`select pg_advisory_xact_lock(${lockKeys.migrateByKysely})`.execute(tx)',
      without: '',
    },
    {
      title: 'a process that is killed on the way',
      mended: 'await session.transaction().execute(',
      without: 'await ((work: (tx: Kysely<DB>) => Promise<boolean>) => work(session))(',
    },
    {
      title: 'an index that was interrupted',
      mended: 'if (rows.length > 0) await sql`drop index',
      without: 'if (false) await sql`drop index',
    },
    {
      title: 'others that wait to migrate',
      mended: 'select pg_try_advisory_lock(${lockKeys.migrate}) as taken`',
      without: 'select true as taken from pg_advisory_lock(${lockKeys.migrate})`',
    },
    {
      title: 'who reads a table',
      mended: 'await sql.raw(`set local lock_timeout = ${lockTimeoutMs}`).execute(tx)',
      without: '',
    },
    {
      title: 'who reads a table',
      mended: "['55P03', '40P01']",
      without: "['40P01']",
    },
  ].map(({ title, mended, without }) => ({
    finding: '2.2',
    guard: 'server/platform/migrations.test.ts',
    title,
    edits: [{ file: 'server/platform/migrations.ts', mended, without }],
  })),
  {
    finding: '2.2',
    guard: 'test/first-start.test.ts',
    edits: [
      {
        file: 'server/platform/migrations.ts',
        mended: 'throw new ConfigFault([',
        without: 'throw new AggregateError([',
      },
    ],
  },
  {
    finding: '2.2',
    guard: 'server/commands/migrate.test.ts',
    edits: [
      {
        file: 'server/commands/migrate.ts',
        mended: 'if (given.values.plan === true) {',
        without: 'if (false) {',
      },
    ],
  },
  {
    finding: '2.2',
    guard: 'scripts/migrations.test.ts',
    title: 'an older release cannot bear',
    edits: [
      {
        file: 'scripts/migrations.ts',
        mended: "breaks.push('drops a column')",
        without: '{}',
      },
    ],
  },
  {
    finding: '2.2',
    guard: 'scripts/migrations.test.ts',
    title: 'makes writers wait',
    edits: [
      {
        file: 'scripts/migrations.ts',
        mended: "blocks.push('makes an index without `concurrently`')",
        without: '{}',
      },
    ],
  },
  {
    finding: '2.3',
    edits: [
      {
        file: 'server/platform/secrets.ts',
        mended:
          'if (previous === undefined || row.fingerprint !== fingerprintOf(previous))\n    throw',
        without:
          'if (previous === undefined || row.fingerprint !== fingerprintOf(previous))\n' +
          '    return createSecrets(given)\n  if (false)\n    throw',
      },
    ],
  },
  {
    finding: '2.5',
    guard: 'server/wallet/check.test.ts',
    edits: [
      {
        file: 'server/wallet/check.ts',
        mended: 'const namedOfAccount = 100',
        without: 'const namedOfAccount = Infinity',
      },
      {
        file: 'server/wallet/check.ts',
        mended: 'return [...findings, ...(await walkChains(db))]',
        without: 'findings.push(...(await walkChains(db)))\n  return findings',
      },
    ],
  },
  {
    finding: '2.5',
    guard: 'server/commands/commands.test.ts',
    edits: [
      {
        file: 'server/command.ts',
        mended: "createOutput(args.includes('--json'))",
        without: 'createOutput(false)',
      },
    ],
  },
  {
    finding: '7',
    guard: 'test/restart.test.ts',
    edits: [
      {
        file: 'server/platform/postgres/supervisor.ts',
        mended: 'starting = startAgain()',
        without: '',
      },
    ],
  },
  {
    finding: '7',
    guard: 'server/wordpress/reconcile.test.ts',
    edits: [
      {
        file: 'server/wordpress/health.ts',
        mended: 'return status < 500 ? undefined : `the front page answers ${status}`',
        without: 'return undefined',
      },
    ],
  },
  {
    finding: '7',
    guard: 'server/platform/disk-space.test.ts',
    edits: [
      {
        file: 'server/platform/disk-space.ts',
        mended: "if (free < Math.min(size / 50, 2 * gigabyte)) return 'too little'",
        without: 'return undefined',
      },
    ],
  },
  {
    finding: '7',
    guard: 'server/commands/commands.test.ts',
    edits: [
      {
        file: 'server/commands/jobs.ts',
        mended: 'await givenUpJobs(db, { queue, limit: shownAtOnce })',
        without: '[]',
      },
    ],
  },
  {
    finding: '2.4',
    guard: 'test/failover.test.ts',
    title: 'the former primary comes back as it was',
    edits: [
      {
        file: 'server/platform/database-client.ts',
        mended: 'asked.value < this.#newest',
        without: 'asked.value < 0',
      },
    ],
  },
  {
    finding: '2.4',
    guard: 'test/database-away.test.ts',
    title: 'a connection that hears nothing is given up',
    edits: [
      {
        file: 'server/platform/database-client.ts',
        mended: 'if (!isOfNoUse(error)) return',
        without: 'return',
      },
    ],
  },
  {
    finding: '2.4',
    guard: 'server/platform/notices.test.ts',
    title: 'a job begins soon',
    edits: [
      {
        file: 'server/platform/job-wake-up.ts',
        mended: 'nextMs = Math.min(nextMs, ms <= 0 ? lookWhileDueMs : ms)',
        without: 'void ms',
      },
    ],
  },
]
