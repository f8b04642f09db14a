import type { Mend } from './mend.ts'

const poolGuard = {
  file: 'server/platform/db.ts',
  mended: '  refuseSecondConnections(pool)\n',
  without: '',
}

export const server: readonly Mend[] = [
  { finding: 'B1', edits: [poolGuard] },
  {
    finding: 'B2',
    edits: [
      {
        file: 'server/auth/password.ts',
        mended: 'createGate({ atOnce: 2, waiting: 48 })',
        without: 'createGate({ atOnce: Infinity, waiting: Infinity })',
      },
    ],
  },
  {
    // The password would be checked inside the transaction, and the pool guard removed.
    finding: 'B2',
    edits: [
      poolGuard,
      {
        file: 'server/auth/routes.ts',
        mended: `    ({ body, from }) => signIn.prove(body.email, body.password, from),
    async ({ tx, body: { remember }, from, keepBrowser, held, device, prepared }) => {
`,
        without: `    async ({ tx, body, from, keepBrowser, held, device }) => {
      const { remember } = body
      const prepared = await signIn.prove(body.email, body.password, from)
`,
      },
    ],
  },
  {
    finding: 'B3',
    edits: [
      {
        file: 'server/wordpress/change.ts',
        mended: 'const node = await nodeStateOf(tx, site)\n',
        without: `const runtime = (deps as unknown as { driver: { room(): Promise<number> } })
    .driver
  const room = await runtime.room()
  const node = { ...(await nodeStateOf(tx, site)), room }
`,
      },
    ],
  },
  {
    finding: 'B4',
    edits: [
      {
        file: 'server/dns/zones.ts',
        mended: 'import { lockClaims, nameOfZone, type ZoneRow }',
        without: 'import { lockZone, type ZoneRow }',
      },
      {
        file: 'server/dns/zones.ts',
        mended: `  const name = await nameOfZone(tx, of.customerId, of.zoneId)
  // Another account may delete its claim of the same name at this moment.
  const zone = (await lockClaims(tx, name)).find(({ id }) => id === of.zoneId)
  if (!zone) throw new Refusal('not_found')
`,
        without: '  const zone = await lockZone(tx, of.customerId, of.zoneId)\n',
      },
    ],
  },
  {
    finding: 'B5',
    edits: [
      {
        file: 'server/wordpress/backups.ts',
        mended: '      await lockSite(tx, siteId)\n      const old',
        without: '      const old',
      },
    ],
  },
  {
    finding: 'B6',
    edits: [
      {
        file: 'server/wordpress/resume.ts',
        mended: 'of await withoutJob(tx, held)',
        without: 'of []',
      },
    ],
  },
  {
    finding: 'B6',
    guard: 'server/platform/jobs.test.ts',
    edits: [
      {
        file: 'server/platform/jobs.ts',
        mended: 'const unlimitedRetries = 1_000_000_000',
        without: 'const unlimitedRetries = 1_000',
      },
      {
        file: 'server/platform/jobs.ts',
        mended: 'unlimited ? keptForeverSeconds : keptSeconds',
        without: 'keptSeconds',
      },
    ],
  },
  {
    finding: 'B7',
    edits: [
      {
        file: 'server/wordpress/domain-recheck.ts',
        mended: '    retries: 0,\n    limitSeconds,\n',
        without: '',
      },
      {
        file: 'server/wordpress/domain-recheck.ts',
        mended: '          if (signal.aborted || performance.now() > until) return\n',
        without: '',
      },
    ],
  },
  {
    finding: 'B8',
    edits: [
      {
        file: 'server/platform/jobs.ts',
        mended: "job.cron === undefined ? 'standard' : 'short'",
        without: "'standard'",
      },
    ],
  },
  {
    // Former names would be read before the other server's row is locked.
    finding: 'B9',
    edits: [
      {
        file: 'server/migrations/0042_one_table_of_host_names.sql',
        mended: '  name text primary key,',
        without: '  name text not null,',
      },
      {
        file: 'server/migrations/0042_one_table_of_host_names.sql',
        mended: 'create index host_of_site on',
        without: `create unique index host_pkey on host (name) where kind = 'own';
create index host_of_site on`,
      },
      {
        file: 'server/wordpress/change.ts',
        mended: "    // Another site's name",
        without: `    const former = await tx
      .selectFrom('host')
      .select('site_id')
      .where('name', '=', name)
      .where('kind', '=', 'former')
      .executeTakeFirst()
    if (former && former.site_id !== site.id) refuse('name', 'server_name_taken', language)
    // Another site's name`,
      },
    ],
  },
  {
    finding: 'B10',
    edits: [
      {
        file: 'server/payments/inquiry.ts',
        mended: '`ask-gateway-${driver}`',
        without: "'ask-gateway-any'",
      },
      {
        file: 'server/payments/inquiry.ts',
        mended: 'for (const driver of drivers.keys())',
        without: "for (const driver of ['any'])",
      },
    ],
  },
  {
    finding: 'B11',
    edits: [
      {
        file: 'server/billing/forecast.ts',
        mended: 'const rounds = guaranteedRounds(balance, monthly, renewing)',
        without: 'const rounds = 0',
      },
      {
        file: 'server/billing/forecast.ts',
        mended: 'pushDown(heap, 0)',
        without: 'heap.sort(byTime)',
      },
    ],
  },
  {
    finding: 'B13',
    edits: [
      {
        file: 'contract/rate-limits.ts',
        mended: "'login-address': aQuarterHour(100)",
        without: "'login-address': aQuarterHour(10)",
      },
    ],
  },
  {
    finding: 'B14',
    edits: [
      {
        file: 'server/wordpress/drivers/machine/disk-figures.ts',
        mended: 'this.live(),',
        without: 'folder.used(),',
      },
    ],
  },
  {
    // An attempt without effect would clear the doubt about another one, whose answer was lost.
    finding: 'B15',
    guard: 'server/payments/refunds.test.ts',
    edits: [
      {
        file: 'server/payments/refunds.ts',
        mended: 'refund.doubted_at === null && attempts === refund.attempts + 1',
        without: 'refund.doubted_at === null',
      },
      {
        file: 'server/payments/refunds.ts',
        mended: "          .where('attempts', '=', attempts)\n",
        without: '',
      },
      {
        file: 'server/payments/refund-close.ts',
        mended: 'sole !== undefined && refund.attempts !== sole',
        without: 'false',
      },
    ],
  },
  {
    finding: 'B15',
    guard: 'server/upkeep.test.ts',
    edits: [
      {
        file: 'server/upkeep.ts',
        mended: '      causes.push(error)\n',
        without: '      throw error\n',
      },
    ],
  },
  {
    finding: 'B15',
    guard: 'server/realtime/delivery.test.ts',
    edits: [
      {
        file: 'server/realtime/listener.ts',
        mended: '      if (!stopped) again = setTimeout(deliverInOrder, deliverAgainMs).unref()\n',
        without: '',
      },
    ],
  },
]
