-- A customer's wish that a linked card tops the wallet up by itself (decision 136). Amounts are
-- minor units of the wallet's currency.
create table auto_top_up (
  customer_id uuid primary key references customer (id) on delete cascade,
  currency text not null,
  -- A balance lower than this is topped up.
  below bigint not null check (below >= 0),
  amount bigint not null check (amount > 0),
  -- At most so much in a calendar month of the customer's region.
  month_limit bigint not null check (month_limit >= amount),
  driver text not null,
  -- The provider's id of the card, and what its owner knows it by.
  card_id text not null,
  card_brand text not null,
  card_last4 text not null,
  -- When the customer agreed that the card is charged without being asked each time.
  consented_at timestamptz not null,
  -- Declines in a row, and when the card may be tried again after one.
  declines int not null default 0,
  next_try_at timestamptz,
  -- The month (2026-11) of which the customer was told that its limit is reached.
  limit_told text,
  -- Switched off by the portal, and why; null while it is on.
  off_at timestamptz,
  off_reason text,
  constraint auto_top_up_off check ((off_at is null) = (off_reason is null))
);

-- Each payment that was begun for it.
create table auto_top_up_charge (
  payment_id uuid primary key references payment (id),
  customer_id uuid not null references customer (id),
  amount bigint not null check (amount > 0),
  card_id text not null,
  -- The calendar month that it counts in: 2026-11.
  month text not null,
  -- not_charged: the gateway knows of no such payment.
  state text not null
    check (state in ('under_way', 'succeeded', 'declined', 'needs_owner', 'not_charged')),
  began_at timestamptz not null,
  -- Until then whoever began it, or took it up, is at it.
  lease_until timestamptz not null,
  decided_at timestamptz,
  -- The gateway's own words.
  detail text
);
-- One at a time; what is unknown is under way.
create unique index auto_top_up_charge_under_way on auto_top_up_charge (customer_id)
  where state = 'under_way';
create index auto_top_up_charge_of on auto_top_up_charge (customer_id, began_at);
