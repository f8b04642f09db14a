-- Letters that may be sent again, and webhooks of gateways that may be handled again (decision
-- 114).

-- A letter that is sent again is a row of its own, which names the first one. `failure`: what the
-- newest try failed with.
alter table message add column resent_of uuid;
alter table message add column failure text;
-- The text of a letter for some days after it was sent or given up, sealed as before; never that of
-- a one-time code.
create table message_kept (
  message_id uuid primary key references message (id) on delete cascade,
  sealed_text bytea not null,
  kept_until timestamptz not null
);
create index message_kept_until on message_kept (kept_until);

-- What a verified webhook says, as its driver read it; null for a forged one, for one that concerns
-- no payment, and for those of earlier releases.
alter table payment_notice add column event jsonb;
alter table payment_notice add column replayed_at timestamptz;
alter table payment_notice add column replay_outcome text;

-- Coupons lower the first period of an order (decision 116).
create table coupon (
  id uuid primary key,
  number bigint generated always as identity,
  -- Capital letters and digits, as customers type it.
  code text not null unique,
  -- Null: `amount` is taken off; otherwise so much of the price, and at most `amount`.
  percent int check (percent between 1 and 99),
  -- Minor units.
  amount bigint not null check (amount > 0),
  currency text not null,
  uses int not null default 0 check (uses >= 0),
  max_uses int not null check (max_uses > 0),
  per_customer int not null check (per_customer > 0),
  -- Ids of the catalogue; null: every one.
  plans int[],
  starts_at timestamptz not null,
  expires_at timestamptz,
  stopped_at timestamptz,
  created_at timestamptz not null,
  check (uses <= max_uses)
);
create index coupon_number on coupon (number);

-- One for each order that it lowers; it goes where the order comes to nothing.
create table coupon_use (
  invoice_id uuid primary key references invoice (id),
  coupon_id uuid not null references coupon (id),
  customer_id uuid not null references customer (id),
  -- What it took off, minor units.
  amount bigint not null check (amount > 0),
  currency text not null,
  at timestamptz not null
);
create index coupon_use_of on coupon_use (coupon_id, customer_id);
create index coupon_use_of_customer on coupon_use (customer_id);
