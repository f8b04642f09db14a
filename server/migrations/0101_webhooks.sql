-- Outgoing webhooks of customers (decision 103).
create table webhook_endpoint (
  id uuid primary key,
  customer_id uuid not null references customer (id) on delete cascade,
  url text not null,
  events text[] not null,
  -- Sealed. The earlier one signs as well until `earlier_until`.
  secret bytea not null,
  earlier_secret bytea,
  earlier_until timestamptz,
  created_at timestamptz not null,
  failing_since timestamptz,
  disabled_at timestamptz,
  disabled_reason text check (disabled_reason in ('owner', 'failing', 'gone', 'safety')),
  -- One process calls an address at a time, one delivery after the other. By the wall clock.
  claimed_until timestamptz,
  check ((disabled_at is null) = (disabled_reason is null))
);
create index webhook_endpoint_of on webhook_endpoint (customer_id);

create table webhook_delivery (
  id uuid primary key,
  seq bigint generated always as identity unique,
  endpoint_id uuid not null references webhook_endpoint (id) on delete cascade,
  event text not null,
  payload jsonb not null,
  state text not null check (state in ('waiting', 'delivered', 'failed')),
  -- Since it was last put in line; the delays grow with them.
  tries int not null default 0,
  next_at timestamptz,
  -- The last twenty calls: at, status, error, ms.
  attempts jsonb not null default '[]',
  answer text,
  created_at timestamptz not null,
  check ((state = 'waiting') = (next_at is not null))
);
create index webhook_delivery_of on webhook_delivery (endpoint_id, seq desc);
create index webhook_delivery_due on webhook_delivery (endpoint_id, next_at)
  where state = 'waiting';
create index webhook_delivery_created on webhook_delivery (created_at);
