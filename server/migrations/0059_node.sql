-- Machines that run customers' sites, and which of them runs which. A portal on one machine has one
-- row, its own. A site without a node is run by the first one, `main`: that of a portal which knew
-- only one.
create table node (
  id text primary key check (id ~ '^[a-z0-9][a-z0-9-]{0,39}$'),
  -- Where its line answers, host:port; null: only processes of its own machine reach it.
  address text,
  -- Where edges of other nodes reach its own edge, ip:port.
  sites_address text,
  -- Data centres of the catalogue; null: every one.
  regions int[],
  -- A draining node gets no new sites.
  state text not null default 'active' check (state in ('active', 'draining')),
  -- What it said of itself when it was last asked, by the database's clock.
  last_seen timestamptz,
  room int not null default 0 check (room >= 0),
  max_containers int not null default 0,
  min_ram_mb int not null default 0,
  -- Of one container; null: no bound of its own.
  max_ram_mb int,
  max_cpu int,
  created_at timestamptz not null default now()
);

alter table site add column node_id text;
alter table site add constraint site_node foreign key (node_id) references node not valid;
alter table site_orphan add column node_id text;
-- A place that was taken on a node for a server, in the transaction that paid for it, until it runs
-- there and the node has counted it (`released_at`, by the database's clock). No key to `site`: a
-- payment locks no row of a server (decision 18).
create table site_placement (
  site_id uuid primary key,
  node_id text not null references node,
  at timestamptz not null,
  released_at timestamptz
);

-- Which sites' host names or states changed, and in which transaction: an edge is told only these.
-- A transaction id, and not a number from a sequence, for a snapshot can say whether it was over
-- when the edge's table was read last. Rows are forgotten after a day. (Releases before this one
-- read host_change, which says only that something changed.)
create table site_change (
  xid xid8 not null default pg_current_xact_id(),
  site_id uuid not null,
  at timestamptz not null default now(),
  primary key (xid, site_id)
);
create index site_change_at on site_change (at);

create function note_site_of_host() returns trigger language plpgsql as $$
begin
  if tg_op <> 'INSERT' then
    insert into site_change (site_id) values (old.site_id) on conflict do nothing;
  end if;
  if tg_op <> 'DELETE' then
    insert into site_change (site_id) values (new.site_id) on conflict do nothing;
  end if;
  return null;
end $$;
create trigger site_of_host_changed after insert or update or delete on host
  for each row execute function note_site_of_host();

create function note_site() returns trigger language plpgsql as $$
begin
  insert into site_change (site_id) values (new.id) on conflict do nothing;
  return null;
end $$;
create trigger site_changed after update of status, deleted_at, node_id on site
  for each row execute function note_site();

-- The edges of other nodes find its sites elsewhere from now on.
create function note_sites_of_node() returns trigger language plpgsql as $$
begin
  insert into site_change (site_id)
    select id from site where coalesce(node_id, 'main') = new.id and deleted_at is null
    on conflict do nothing;
  return null;
end $$;
create trigger sites_of_node_moved after update of sites_address on node
  for each row when (old.sites_address is distinct from new.sites_address)
  execute function note_sites_of_node();
