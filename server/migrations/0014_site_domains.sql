-- Customers' own names for their sites. A row that was let go of stays: for a month another account must prove the name by TXT.
create table site_domain (
  id bigint generated always as identity primary key,
  site_id uuid not null references site (id),
  customer_id uuid not null references customer (id),
  -- A-labels, lower case, no dot at the end.
  name text not null,
  verified boolean not null,
  -- What held last: cname, address, txt.
  proof text not null,
  created_at timestamptz not null,
  checked_at timestamptz not null,
  released_at timestamptz
);
create unique index site_domain_held on site_domain (name) where released_at is null;
create index site_domain_of_site on site_domain (site_id) where released_at is null;
create index site_domain_by_name on site_domain (name, released_at);
