import type { Mend } from './mend.ts'

export const scale: readonly Mend[] = [
  {
    finding: 'S1',
    title: 'who cannot be looked at delays no other',
    edits: [
      {
        file: 'server/billing/runway.ts',
        mended: "log.error({ err: error, customers: customers.length }, 'runways failed')",
        without: 'throw error',
      },
    ],
  },
  {
    finding: 'S2',
    title: 'one whose start takes long',
    edits: [
      {
        file: 'server/wordpress/reconcile.ts',
        mended: 'const repairedTogether = 4',
        without: 'const repairedTogether = 1',
      },
    ],
  },
  {
    finding: 'S3',
    edits: [{ file: 'server/dns/verify.ts', mended: ' for update skip locked))`', without: '))`' }],
  },
  {
    finding: 'S4',
    title: 'two workers look at every name once',
    edits: [
      {
        file: 'server/wordpress/domain-recheck.ts',
        mended: ' for update skip locked))',
        without: '))',
      },
    ],
  },
  {
    finding: 'S5',
    title: 'a change that was under way',
    edits: [
      {
        file: 'server/wordpress/directory.ts',
        mended: 'and not pg_visible_in_snapshot(xid, ${since}::text::pg_snapshot)',
        without: 'and xid >= pg_snapshot_xmax(${since}::text::pg_snapshot)',
      },
    ],
  },
  {
    finding: 'S6',
    title: 'the next night begins with those',
    edits: [
      {
        file: 'server/wordpress/nightly-backups.ts',
        mended: ".orderBy('nightly_backup_at')",
        without: ".orderBy('id')",
      },
    ],
  },
  {
    finding: 'S7',
    guard: 'server/wallet/postings.test.ts',
    edits: [
      {
        file: 'server/wallet/postings.ts',
        mended: ' and e.version > a.before and e.version <= a.last',
        without: '',
      },
    ],
  },
  {
    finding: 'S8',
    title: 'every front page that is due is asked for once',
    edits: [
      {
        file: 'server/platform/claims.ts',
        mended: 'else if (!(await claimMore())) return',
        without: 'else if (claiming === undefined || !(await claimMore())) return',
      },
    ],
  },
  {
    finding: 'S8',
    title: 'every disk that is due is looked at once',
    edits: [
      {
        file: 'server/wordpress/disk-warnings.ts',
        mended: 'order by disk_watched_at nulls first limit ${takenAtOnce} for update skip locked',
        without: 'order by disk_watched_at nulls first limit ${takenAtOnce}',
      },
    ],
  },
]
