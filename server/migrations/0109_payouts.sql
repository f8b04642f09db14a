-- What gateways paid out to the bank, and what their reports say of it (decision 110).
create table gateway_payout (
  id uuid primary key,
  number bigint generated always as identity,
  driver text not null,
  -- The gateway's id, or what its file is called by the operator.
  reference text not null,
  currency text not null,
  -- What reaches the bank, and what the gateway kept of it.
  amount bigint not null,
  fees bigint not null default 0,
  -- What the lines of the report sum to, fees taken off; other than `amount`: the report is not
  -- whole. Null until it is posted.
  line_sum bigint,
  status text not null check (status in ('on_its_way', 'paid', 'failed')),
  arrives_at timestamptz not null,
  -- The file that it came from; null: it was read by a call.
  file_name text,
  file_hash bytea unique,
  seen_at timestamptz not null,
  posted_at timestamptz,
  -- When a pay-out that the bank sent back was taken back in the ledger.
  undone_at timestamptz,
  -- When somebody closed what does not agree, by which act of the trail.
  closed_at timestamptz,
  unique (driver, reference)
);
create index gateway_payout_number on gateway_payout (number);
create index gateway_payout_differs on gateway_payout (number)
  where line_sum <> amount and closed_at is null;

create table gateway_payout_line (
  id bigint generated always as identity primary key,
  payout_id uuid not null references gateway_payout (id),
  driver text not null,
  -- The gateway's id of the line: it is paid out once.
  reference text not null,
  kind text not null
    check (kind in ('payment', 'refund', 'dispute', 'dispute_won', 'fee', 'other')),
  amount bigint not null,
  fee bigint not null,
  movement text,
  -- The transaction code of the payment that it is about, where there is one.
  code text,
  -- What does not agree: nothing is known of it here, or it was posted with another amount.
  fault text check (fault in ('unknown', 'amount')),
  expected bigint,
  closed_at timestamptz,
  unique (driver, reference)
);
create index gateway_payout_line_of on gateway_payout_line (payout_id, id);
create index gateway_payout_line_differs on gateway_payout_line (id)
  where fault is not null and closed_at is null;
