-- What the staff publish of the catalogue, now or from a later moment on (decision 126).
create table catalog_publication (
  id uuid primary key,
  -- The version that was looked at when it was made.
  base int not null,
  -- The version whose plans, disks and data centres are brought back; null: they were edited.
  restores int,
  -- Plans, disks and data centres, as contract/operator-catalog.ts has them.
  selling jsonb not null,
  counts_at timestamptz not null,
  actor text not null,
  approved_by text,
  -- Null: a command of the shell. Who is written to when it cannot count.
  staff_id uuid,
  reason text,
  made_at timestamptz not null,
  -- waiting, counted, withdrawn, or failed: somebody else changed what is sold before it counted.
  state text not null check (state in ('waiting', 'counted', 'withdrawn', 'failed')),
  decided_at timestamptz,
  -- The version that it became.
  version int
);
-- One at a time: of two that wait, the second would take back what the first changes.
create unique index catalog_publication_waiting on catalog_publication ((true))
  where state = 'waiting';
create index catalog_publication_made on catalog_publication (made_at desc);

-- Who brought a version: a file at a start, "catalog use", or the staff.
alter table catalog_version add column source text not null default 'file';
alter table catalog_version add column publication_id uuid;

-- What each installation's file was at its last start, and whether it counts.
create table catalog_file (
  origin text primary key,
  sha256 bytea not null,
  -- in_use, former (the newest version is of somebody else), or would_take_back: it has other
  -- prices than the staff published.
  state text not null,
  at timestamptz not null
);
