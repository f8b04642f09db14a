-- What is installed by itself of plugins and themes (contract/wordpress-updates.ts).
alter table site add column update_policy text not null default 'security';
alter table site add constraint site_update_policy_check
  check (update_policy in ('security', 'all', 'none')) not valid;
-- Made before an update; kept apart from those that are made by hand.
alter table site_backup add column for_update boolean not null default false;

-- What each site has installed, as it was found last.
create table site_software (
  site_id uuid primary key references site (id) on delete cascade,
  -- InstalledSoftware (server/wordpress/driver.ts).
  found jsonb,
  -- Null: it was looked for in vain so far.
  looked_at timestamptz,
  tried_at timestamptz not null,
  -- The night in which it is updated by itself.
  automatic_at timestamptz
);
create index site_software_tried on site_software (tried_at);
create index site_software_automatic on site_software (automatic_at);

-- What the directory offers, and what was fetched of it.
create table software_release (
  kind text not null check (kind in ('core', 'plugin', 'theme')),
  slug text not null,
  version text not null,
  -- A plugin's main file; otherwise empty.
  main text not null,
  name text not null,
  is_security boolean not null,
  -- Where the zip lies.
  package text not null,
  requires_php text,
  requires_wordpress text,
  -- When the directory last offered it.
  seen_at timestamptz not null,
  -- Of the zip that was fetched first: every later one must be the same.
  sha256 text,
  primary key (kind, slug, version)
);
create index software_release_seen on software_release (kind, slug, seen_at desc);

create table update_wave (
  id bigint generated always as identity primary key,
  state text not null default 'planned'
    check (state in ('planned', 'running', 'paused', 'stopped', 'done', 'cancelled')),
  -- How many sites each stage has; 0: all that are left.
  stages int[] not null,
  -- The stage under way, from 0.
  stage int not null default 0,
  -- More than so many per cent of a stage rolled back or failed: the wave stops.
  stop_percent int not null,
  -- What is installed: security releases, or all.
  scope text not null check (scope in ('security', 'all')),
  created_at timestamptz not null,
  ended_at timestamptz
);

create table site_update (
  id uuid primary key,
  seq bigint generated always as identity unique,
  site_id uuid not null references site (id),
  cause text not null check (cause in ('owner', 'automatic', 'wave')),
  wave_id bigint references update_wave (id),
  -- The stage of its wave.
  stage int,
  -- planned: it waits for its wave. The other states: contract/wordpress-updates.ts.
  state text not null check (state in ('planned', 'waiting', 'saving', 'updating', 'checking',
    'rolling_back', 'done', 'rolled_back', 'failed', 'skipped')),
  -- [{kind, slug, main, name, from, to, security}]
  packages jsonb not null,
  backup_id uuid,
  restore_id uuid,
  -- The pages as they were before (PageShape), and whether signing in to wp-admin worked.
  before jsonb,
  admin_worked boolean,
  -- PageDifference: what a visitor would have noticed.
  differences jsonb not null default '[]',
  reason text,
  -- Failures that are counted, of this state.
  attempts int not null default 0,
  created_at timestamptz not null,
  begun_at timestamptz,
  ended_at timestamptz
);
create unique index site_update_under_way on site_update (site_id)
  where state in ('waiting', 'saving', 'updating', 'checking', 'rolling_back');
create index site_update_of_site on site_update (site_id, seq desc);
create index site_update_of_wave on site_update (wave_id, stage) where wave_id is not null;
create index site_update_of_backup on site_update (backup_id) where backup_id is not null;
create index site_update_of_restore on site_update (restore_id) where restore_id is not null;
