-- Keys by which a fresh machine asks, once, how it is to be set up as a node (decision 121).
create table node_join (
  node_id text primary key references node on delete cascade,
  -- The key, readable with the portal's secret only.
  sealed bytea not null,
  expires_at timestamptz not null,
  used_at timestamptz
);
