-- Domains that customers manage here. Names are A-labels, lower case, without a dot at the end.

-- Each account's own two name servers: the pair at the parent zone is the proof of who may manage the domain.
create table dns_account_pair (
  customer_id uuid primary key references customer (id),
  pair text[] not null check (cardinality(pair) = 2)
);

-- A deleted domain stays as a row: its name remembers who had it and which pairs were used.
create table dns_zone (
  id uuid primary key,
  seq bigint generated always as identity unique,
  customer_id uuid not null references customer (id),
  name text not null,
  -- As typed, which may be Unicode.
  shown_name text not null,
  name_servers text[] not null check (cardinality(name_servers) = 2),
  -- The SOA's; grows with every change.
  serial bigint not null,
  created_at timestamptz not null,
  deleted_at timestamptz,
  -- Null while it waits for the parent zone.
  active_at timestamptz,
  first_active_at timestamptz,
  -- Since when an active one is delegated elsewhere.
  moved_at timestamptz,
  found text[] not null default '{}',
  checked_at timestamptz,
  next_check_at timestamptz,
  -- Checks in a row that did not hold.
  misses int not null default 0,
  -- The parent names name servers of ours that are not this account's: somebody else relies on them.
  foreign_delegation boolean not null default false,
  -- The database's own clock: what the sweep for missed changes looks at.
  touched_at timestamptz not null default now(),
  check (active_at is null or deleted_at is null)
);
create unique index dns_zone_active on dns_zone (name) where active_at is not null;
create unique index dns_zone_of_customer on dns_zone (customer_id, name) where deleted_at is null;
create index dns_zone_list on dns_zone (customer_id, seq desc) where deleted_at is null;
create index dns_zone_name on dns_zone (name, seq);
create index dns_zone_below on dns_zone (reverse(name) text_pattern_ops) where deleted_at is null;
create index dns_zone_due on dns_zone (next_check_at) where deleted_at is null;
create index dns_zone_touched on dns_zone (touched_at);

-- The names above a name, without the last label.
create function dns_above(name text) returns text[] language sql immutable strict parallel safe as $$
  select coalesce(array_agg(array_to_string(labels[n:], '.')), '{}')
  from (select string_to_array(name, '.') as labels) as split, generate_series(2, cardinality(labels) - 1) as n
$$;

-- Which claims are answered by the name servers. An active domain always. One that waits is answered too (registries ask before they delegate), but it
-- never stands in for one that is active, hides no part of another account's, nor takes queries for a name that another account had, claimed before, or still delegates to us.
create view dns_served as
select z.id, z.seq, z.name, z.name_servers, z.serial, z.touched_at
from dns_zone z
where z.deleted_at is null
  and (
    z.active_at is not null
    or (
      not z.foreign_delegation
      and not exists (
        select from dns_zone o
        where o.name = z.name and o.id <> z.id
          and (
            (o.deleted_at is null and (o.active_at is not null or (o.seq < z.seq and not o.foreign_delegation)))
            or (o.first_active_at is not null and o.customer_id <> z.customer_id)
          )
      )
      and not exists (
        select from dns_zone o
        where o.name = any (dns_above(z.name)) and o.deleted_at is null and (o.active_at is not null or o.customer_id <> z.customer_id)
      )
    )
  );

-- One value a row. Rows of one name and type have the same ttl and proxied.
create table dns_record (
  id uuid primary key,
  seq bigint generated always as identity,
  zone_id uuid not null references dns_zone (id),
  -- `@`, or relative to the domain.
  name text not null,
  type text not null check (type in ('A', 'AAAA', 'CNAME', 'TXT', 'MX', 'NS')),
  content text not null,
  ttl_seconds int not null check (ttl_seconds between 30 and 86400),
  proxied boolean not null,
  priority int check (priority between 0 and 65535),
  version int not null,
  check ((type = 'MX') = (priority is not null))
);
create index dns_record_list on dns_record (zone_id, seq desc);
create unique index dns_record_value on dns_record (zone_id, name, type, md5(content), coalesce(priority, -1));
-- Who points at a name: a CNAME is refused where mail or name servers point, and the other way round.
create index dns_record_target on dns_record (zone_id, md5(content)) where type in ('MX', 'NS');
create unique index dns_record_lone_cname on dns_record (zone_id, name) where type = 'CNAME';

-- Every change: who, when, before and after. It is also what a name server that lags behind catches up from.
create table dns_change (
  id bigint generated always as identity primary key,
  zone_id uuid not null references dns_zone (id),
  -- The zone's serial after it.
  serial bigint not null,
  customer_id uuid not null references customer (id),
  at timestamptz not null,
  action text not null,
  before jsonb not null,
  after jsonb not null,
  undone_at timestamptz,
  unique (zone_id, serial)
);
create index dns_change_list on dns_change (zone_id, id desc);
