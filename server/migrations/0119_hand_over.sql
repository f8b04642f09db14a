-- A server or domain that is offered to another customer (decision 108).
create table hand_over (
  id uuid primary key,
  from_id uuid not null references customer (id) on delete cascade,
  -- Who accepted.
  to_id uuid references customer (id),
  email text not null,
  kind text not null check (kind in ('server', 'domain')),
  subject_id uuid not null,
  -- As it was called when it was offered.
  name text not null,
  token_hash bytea not null unique,
  created_at timestamptz not null,
  expires_at timestamptz not null,
  accepted_at timestamptz
);
-- Offered to one at a time.
create unique index hand_over_open on hand_over (subject_id) where accepted_at is null;
create index hand_over_from on hand_over (from_id, created_at desc);
create index hand_over_to on hand_over (to_id);
create index hand_over_expires on hand_over (expires_at);
