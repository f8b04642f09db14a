-- Tokens for programs (decision 102).
create table program_token (
  id uuid primary key,
  customer_id uuid not null references customer (id) on delete cascade,
  name text not null,
  -- The part by which it is looked up; it opens nothing.
  public_id text not null unique,
  token_hash bytea not null,
  scopes text[] not null check (cardinality(scopes) > 0),
  -- Null: all of the customer's.
  servers uuid[],
  domains uuid[],
  -- CIDR; empty: from anywhere.
  networks text[] not null default '{}',
  created_at timestamptz not null,
  expires_at timestamptz not null,
  last_used_at timestamptz,
  last_used_from text,
  -- Its owner was told that it soon expires.
  ending_told_at timestamptz
);
create index program_token_of on program_token (customer_id, created_at desc);
create index program_token_expires on program_token (expires_at);
