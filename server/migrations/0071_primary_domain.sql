-- The one name of a server that visitors of all others are sent to; null: each name answers by
-- itself. It counts while the server holds the name, it is proven, and it leads here.
alter table site add column primary_host text;

create trigger site_primary_changed after update of primary_host on site
  for each row when (old.primary_host is distinct from new.primary_host)
  execute function note_site();
create trigger site_of_domain_changed after update of pointed, verified, released_at on site_domain
  for each row when (old.pointed is distinct from new.pointed
    or old.verified is distinct from new.verified
    or old.released_at is distinct from new.released_at)
  execute function note_site_of_host();

-- Addresses that a site's database stores, written as its primary one, in steps.
create table site_rewrite (
  id bigint generated always as identity primary key,
  site_id uuid not null,
  from_hosts text[] not null,
  -- Without a trailing slash.
  to_url text not null,
  state text not null default 'running' check (state in ('running', 'done', 'failed')),
  -- Where the next step begins, as the driver told it.
  after jsonb,
  -- Values changed so far, by table.
  tables jsonb not null default '{}',
  problem text,
  created_at timestamptz not null,
  ended_at timestamptz
);
create unique index site_rewrite_running on site_rewrite (site_id) where state = 'running';
create index site_rewrite_of_site on site_rewrite (site_id, id desc);
