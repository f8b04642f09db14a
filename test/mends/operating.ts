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
  // One for each sentence.
  ...[
    {
      file: 'server/variables.ts',
      mended: "URL.canParse(text) && new URL(text).hash === ''",
      without: 'true',
    },
    {
      file: 'server/variables.ts',
      mended: String.raw`!URL.canParse(text) || /^\/*$/.test(new URL(text).pathname)`,
      without: 'true',
    },
    {
      file: 'server/variables.ts',
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
]
