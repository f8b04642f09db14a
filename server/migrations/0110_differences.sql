-- What gateways, payments and ledger did not agree on when they were last compared (decision 110).
create table payment_difference (
  id bigint generated always as identity primary key,
  driver text not null,
  kind text not null,
  -- The transaction code, or the gateway's own number.
  about text not null,
  -- Minor units, with us and at the gateway (or in the ledger).
  here bigint,
  there bigint,
  currency text not null,
  -- When the payment was begun, or the money moved.
  at timestamptz not null,
  found_at timestamptz not null,
  seen_at timestamptz not null,
  -- When it was found to agree, or somebody closed it as explained.
  agreed_at timestamptz,
  closed_at timestamptz,
  unique (driver, kind, about)
);
create index payment_difference_open on payment_difference (at)
  where agreed_at is null and closed_at is null;

-- When each gateway was last compared.
create table payment_comparison (
  driver text primary key,
  at timestamptz not null,
  -- Whether the gateway answered all that it was asked.
  reached boolean not null,
  payments int not null,
  postings int not null,
  queried int not null
);

-- Somebody has looked at it and explained it.
alter table payment_reversal_unmatched add column closed_at timestamptz;

-- The money in suspense that the bank's own feed reported of it.
alter table gateway_payout add column matched_suspense bigint;
