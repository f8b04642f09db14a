-- Archives lie in DATA_DIR/backups/<site>/<id>.tar.gz.
create table site_backup (
  id uuid primary key,
  seq bigint generated always as identity unique,
  site_id uuid not null references site (id),
  kind text not null check (kind in ('manual', 'nightly')),
  -- removed: to be forgotten as soon as its archive is gone.
  state text not null check (state in ('making', 'proven', 'failed', 'removed')),
  attempts int not null default 0,
  reason text,
  archive_bytes bigint,
  -- CopyFigures (server/wordpress/driver.ts), as counted at the site; the proof found the same.
  figures jsonb,
  created_at timestamptz not null,
  proven_at timestamptz,
  check (state <> 'proven' or (archive_bytes is not null and figures is not null and proven_at is not null))
);
create index site_backup_of_site on site_backup (site_id, seq desc);
create unique index site_backup_making on site_backup (site_id) where state = 'making';

create table site_restore (
  id uuid primary key,
  site_id uuid not null references site (id),
  backup_id uuid not null references site_backup (id) on delete cascade,
  state text not null check (state in ('restoring', 'restored', 'failed')),
  attempts int not null default 0,
  reason text,
  asked_at timestamptz not null,
  ended_at timestamptz
);
create index site_restore_of_backup on site_restore (backup_id, asked_at desc);
create unique index site_restore_under_way on site_restore (site_id) where state = 'restoring';

-- What the runtime holds of sites that the database does not know: reported, and removed after a grace.
create table site_orphan (
  id text primary key,
  seen_at timestamptz not null
);
