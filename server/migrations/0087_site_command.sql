-- What owners typed on their servers' consoles, without passwords and without what it gave; kept
-- for ninety days. One at a time a server; one that has no end after some minutes was cut off.
create table site_command (
  -- The action id of the call: a call that comes again runs nothing.
  id uuid primary key,
  site_id uuid not null,
  customer_id uuid not null,
  -- The network address of whoever gave it.
  address text not null,
  command text not null,
  began_at timestamptz not null,
  ended_at timestamptz,
  outcome text check (outcome in ('done', 'failed', 'slow', 'broken', 'lost'))
);
create unique index site_command_running on site_command (site_id) where ended_at is null;
create index site_command_age on site_command (site_id, began_at desc);
