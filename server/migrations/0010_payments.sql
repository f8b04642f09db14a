-- Calls that reach a third party are no single transaction: what they began is remembered under one id, so that a repeated call goes on
-- with it instead of beginning again.
create table idempotency_action (
  scope text not null,
  key text not null,
  fingerprint bytea not null,
  action_id uuid not null,
  created_at timestamptz not null,
  primary key (scope, key)
);
create index idempotency_action_created on idempotency_action (created_at);

-- The name a payment has at its gateway: our code, or what the gateway takes instead of it.
alter table payment add column reference text;
update payment set reference = code;
alter table payment alter column reference set not null;
alter table payment add constraint payment_reference_of_driver unique (driver, reference);
-- Minor units that were credited for it: other than `amount` where the customer types the amount (bank transfers).
alter table payment add column received bigint not null default 0;
update payment set received = amount where status = 'succeeded';

-- Money that goes back to where it came from. It leaves the wallet before the gateway is asked.
create table payment_refund (
  id uuid primary key,
  payment_id uuid not null references payment (id),
  amount bigint not null check (amount > 0),
  reason text not null,
  -- requested: the gateway is being asked; unclear: it may have happened, somebody must look; done; refused: back in the wallet.
  status text not null check (status in ('requested', 'unclear', 'done', 'refused')),
  provider_refund_id text,
  detail text,
  created_at timestamptz not null,
  settled_at timestamptz
);
create index payment_refund_of on payment_refund (payment_id);

-- What a gateway moved back by itself: a refund made at the gateway, a chargeback, a chargeback that was won.
create table payment_reversal (
  id bigint generated always as identity primary key,
  payment_id uuid not null references payment (id),
  -- The gateway's id of the movement, and what it did.
  movement text not null,
  kind text not null check (kind in ('refunded', 'reversed', 'restored')),
  amount bigint not null check (amount > 0),
  created_at timestamptz not null,
  unique (payment_id, movement, kind)
);

-- The card provider's customer of ours.
create table card_customer (
  customer_id uuid not null references customer (id),
  driver text not null,
  reference text not null,
  created_at timestamptz not null,
  primary key (customer_id, driver)
);
