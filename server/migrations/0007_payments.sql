create table payment (
  id uuid primary key,
  -- Our reference at the gateway; unguessable, it is also what the customer quotes.
  code text not null unique,
  customer_id uuid not null references customer (id),
  driver text not null,
  channel text not null,
  amount bigint not null check (amount > 0),
  currency text not null,
  status text not null check (status in ('pending', 'succeeded', 'failed', 'expired')),
  ip text not null,
  language text not null,
  provider_ref text,
  provider_transaction_id text,
  detail text,
  created_at timestamptz not null,
  expires_at timestamptz not null,
  settled_at timestamptz,
  -- How often the gateway was asked while it stayed pending.
  asked int not null default 0
);
create index payment_of_customer on payment (customer_id, created_at desc);

-- Every word of a gateway, stored before anything is done with it.
create table payment_notice (
  id bigint generated always as identity primary key,
  driver text not null,
  -- Null when the word could not be verified.
  event_id text,
  raw jsonb not null,
  outcome text,
  payment_id uuid references payment (id),
  received_at timestamptz not null
);
create index payment_notice_event on payment_notice (driver, event_id);

-- Money that came and matches no payment of ours as it stands; it waits in the gateway's suspense account.
create table payment_suspense (
  id bigint generated always as identity primary key,
  driver text not null,
  provider_transaction_id text not null,
  code text,
  amount bigint not null,
  currency text not null,
  reason text not null,
  created_at timestamptz not null,
  resolved_at timestamptz,
  unique (driver, provider_transaction_id)
);
