-- A site that a customer moves in from another host: uploaded, made into a copy beside the server's
-- content, compared with the original, and switched to.
create table site_import (
  id uuid primary key,
  seq bigint generated always as identity,
  site_id uuid not null,
  customer_id uuid not null,
  state text not null check (state in
    ('uploading', 'building', 'ready', 'switching', 'done', 'undone', 'failed', 'discarded')),
  -- Names and lengths as the browser told them: [{name, bytes}].
  files jsonb not null,
  total_bytes bigint not null,
  -- Where the original answers, without a trailing slash; null: what it says of itself.
  origin text,
  phase text,
  share real not null default 0,
  -- What the driver found in the packages and says of the copy, validated whenever it is read.
  found jsonb,
  copied jsonb,
  -- Page by page: the original and the copy.
  pages jsonb,
  problem jsonb,
  -- Of what was there before the switch.
  backup_id uuid references site_backup (id) on delete set null,
  attempts integer not null default 0,
  created_at timestamptz not null,
  expires_at timestamptz not null,
  switched_at timestamptz,
  -- When nothing of the upload and of the copy was left any more.
  cleaned_at timestamptz
);
-- One at a time a server.
create unique index site_import_open on site_import (site_id)
  where state in ('uploading', 'building', 'ready', 'switching');
create index site_import_of_site on site_import (site_id, seq desc);
create index site_import_of_customer on site_import (customer_id)
  where state in ('uploading', 'building', 'ready', 'switching');
create index site_import_unclean on site_import (expires_at) where cleaned_at is null;

-- Pieces of the uploaded files, each kept under a name of its own.
create table site_import_piece (
  import_id uuid not null references site_import (id) on delete cascade,
  file integer not null,
  at bigint not null,
  bytes integer not null,
  name text not null,
  primary key (import_id, file, at)
);
